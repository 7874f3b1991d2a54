"""The caller's own secrets: which variables and values look secret, and the encodings in which a value may be printed.

A key is recognized by its shape if its variable's name gives no hint. Does not find deliberate re-encoding (encryption,
compression, reversal). The docs say so. Never reads the disk.
"""

from __future__ import annotations

import base64
import json
import re
import urllib.parse
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress

from loopwright.redaction.plausible import is_pgp_fingerprint
from loopwright.redaction.secret_names import looks_secret

ENVIRONMENT_RULE = "environment-value"
_SHORTEST = 8
_SHORTEST_LINE = 16
# A longer value is searched for in parts, because a part must fit into the window of text that is searched at once.
_LONGEST_PART = 4 << 10
_PASSWORD_NAME = re.compile(r"(?i)pass|pwd|_pw$|^pw$")
_NUMBER = re.compile(r"[0-9.,_-]{1,15}")
_ANY_PATH_START = re.compile(r"(?:~|\.{1,2})?/")
# `C:\keys` and `file:///keys`.
_DRIVE = re.compile(r"^(?:file://)?(?:/?[A-Za-z]:)?[\\/]")
# `certs/server.key`: base64 has no dot.
_FILE_IN_FOLDERS = re.compile(r"[\w.-]+(?:/[\w.-]+)*/[\w-]+\.[a-z0-9]{2,5}")
# Without a login and without a query.
_ADDRESS = re.compile(r"https?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?:/[A-Za-z0-9._~-]*)*")
_URL_LOGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^:@/\s]*:([^/\s]{8,})@")
_EDGES = re.compile(r"""^[\s"']*(?:(?:bearer|basic|token)\s+)?["']?|[\s"']+$""", re.IGNORECASE)


def secret_values(environment: Mapping[str, str], declared: Collection[str] = ()) -> dict[str, str]:
    """The variables that look secret or are declared secret, and whose values are long enough to be recognized."""
    return {
        name: value
        for name, value in environment.items()
        if len(value) >= _SHORTEST and (name in declared or (looks_secret(name) and not _is_public(name, value)))
    }


def _is_public(name: str, value: str) -> bool:
    """Whether a value is a number, a file's path, an address or a fingerprint. A password may be any of these."""
    if _PASSWORD_NAME.search(name):
        return False
    is_address = "hook" not in name.lower() and _ADDRESS.fullmatch(value) is not None
    return (
        _NUMBER.fullmatch(value) is not None
        or _is_path_of_words(value)
        or is_pgp_fingerprint(name, value)
        or (is_address and not any(map(_is_dense, value.split("/"))))
    )


def _is_path_of_words(value: str) -> bool:
    """Whether a value is an absolute or relative path without a random part: a key may begin with a slash, too."""
    value = _DRIVE.sub("/", value).replace("\\", "/")
    if _FILE_IN_FOLDERS.fullmatch(value):
        return not any(map(_is_dense, value.split("/")))
    parts = value.lstrip("~.").strip("/").split("/")
    is_path = _ANY_PATH_START.match(value) is not None and len(parts) > 1
    return is_path and not any(map(_is_dense, parts)) and _looks_like_a_path(value)


def printed_forms(value: str) -> set[bytes]:
    """The byte strings that reveal a value: printed as it is or in a common encoding."""
    forms: set[bytes] = set()
    values = (value, *_inner_values(value))
    for part in {form for whole in values for line in _lines(whole) for form in _trimmed(line)}:
        raw = part.encode("utf-8", "surrogateescape")
        forms |= {raw, raw.hex().encode(), raw.hex().upper().encode()}
        forms |= set(_base64_forms(raw))
        forms |= _url_forms(raw)
        forms |= _escaped_forms(part)
    return {form for form in forms if len(form) >= _SHORTEST}


def _inner_values(value: str) -> Iterable[str]:
    """The secrets inside a value: the password of a URL, and what a JSON document calls secret."""
    if (login := _URL_LOGIN.match(value)) is not None:
        yield urllib.parse.unquote(login[1])
    if value.lstrip().startswith("{"):
        with suppress(ValueError, RecursionError):
            yield from _secrets_of(json.loads(value))


def _secrets_of(document: object, name: str = "") -> Iterable[str]:
    if isinstance(document, dict):
        for key, value in document.items():
            yield from _secrets_of(value, key)
    elif isinstance(document, list):
        for value in document:
            yield from _secrets_of(value, name)
    elif isinstance(document, str) and len(document) >= _SHORTEST and looks_secret(name):
        yield document


def _lines(value: str) -> Iterable[str]:
    """The parts to search for. A value with several lines is recognized by each of its longer lines."""
    lines = [line.rstrip("\r") for line in value.strip("\r\n").split("\n")]
    shortest = 0 if len(lines) == 1 else _SHORTEST_LINE
    for line in [line for line in lines if len(line) >= shortest] or lines:
        yield from _parts(line)


def _trimmed(part: str) -> Iterable[str]:
    """The part as it is, and without what is often added at its edges: spaces, quotation marks, a scheme."""
    yield part
    inner = _EDGES.sub("", part)
    if inner != part and len(inner) >= _SHORTEST:
        yield inner


def _parts(line: str) -> Iterable[str]:
    return (line[at : at + _LONGEST_PART] for at in range(0, len(line), _LONGEST_PART))


def _base64_forms(raw: bytes) -> Iterable[bytes]:
    """The part of the encoding that does not depend on the text before and after the value."""
    for lead in range(3):
        encoded = base64.b64encode(b"\0" * lead + raw)
        first = 0 if lead == 0 else 4
        # The last group depends on the text after the value, so it is left out.
        stable = encoded[first : (len(raw) + lead) // 3 * 4]
        for form in (stable, stable.replace(b"+", b"-").replace(b"/", b"_")):
            yield form
            for width in (64, 76):
                if lead == 0 and len(form) > width:
                    rows = (form[at : at + width] for at in range(0, len(form), width))
                    yield from (row for row in rows if len(row) >= _SHORTEST)


def _url_forms(raw: bytes) -> set[bytes]:
    upper = {urllib.parse.quote(raw, safe=safe).encode() for safe in ("", "/", "~-_./:")}
    upper.add(urllib.parse.quote_plus(raw).encode())
    lower = {re.sub(rb"%[0-9A-F]{2}", lambda match: match[0].lower(), form) for form in upper}
    return upper | lower


def _escaped_forms(text: str) -> set[bytes]:
    once = json.dumps(text)[1:-1]
    forms = {
        once,
        json.dumps(text, ensure_ascii=False)[1:-1],
        once.replace("/", "\\/"),
        json.dumps(once)[1:-1],
        re.sub(r"([^A-Za-z0-9_@%+=:,./-])", r"\\\1", text),
        text.replace("'", "'\\''"),
        text.replace("'", "''"),
        re.sub(r'([\\"$`])', r"\\\1", text),
        re.sub(r"([\\'])", r"\\\1", text),
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;"),
    }
    return {form.encode("utf-8", "surrogateescape") for form in forms}


_SHORTEST_KEY = 20
_KEY = re.compile(r"[A-Za-z0-9_.+/=~-]*[A-Za-z][A-Za-z0-9_.+/=~-]*")
# A base64 key may contain "/", and may even begin with it. It never begins with one of these.
_PATH_START = re.compile(r"(?:~|\.{1,2})/")
# The top folder of an absolute path, for example tmp, __w, Users, MyData or SCRATCH.
_TOP_FOLDER = re.compile(r"[A-Za-z0-9._@-][a-z0-9._@-]*|(?:[A-Z][a-z]+)+|[A-Z0-9_]+")
# A folder or file named with words, for example site-packages, python3.11 or MyProject.
_WORD = r"(?:[A-Z]?[a-z]{3,}|[A-Z][a-z]{2,}|(?:[A-Z][a-z]+){2,})"
_WORDS = re.compile(rf"[._@-]*{_WORD}(?:[._@-]*(?:{_WORD}|[a-z]?[0-9]+))*")


def looks_like_a_key(value: str) -> bool:
    """Whether a value is long and mixes letters and digits, and is not a path, an address or a name.

    Model names have separators and only small letters. Keys have both cases, or no separator.
    """
    return _is_dense(value) and not _looks_like_a_path(value)


def _looks_like_a_path(value: str) -> bool:
    """Whether the value is a path, even if some of its folders have random names.

    About 2 of 1,000 random base64 keys of 40 characters pass for a path.
    """
    if _PATH_START.match(value):
        return True
    top, *rest = value.removeprefix("/").split("/")
    if not rest:
        return False
    if value.startswith("/"):
        return _TOP_FOLDER.fullmatch(top) is not None
    # One word at the start can be chance, unless a second word follows or nothing else looks like a key.
    has_second_word = any(map(_WORDS.fullmatch, rest))
    return _WORDS.fullmatch(top) is not None and (has_second_word or not any(map(_is_mixed_and_dense, rest)))


def _is_dense(text: str) -> bool:
    if len(text) < _SHORTEST_KEY or not _KEY.fullmatch(text):
        return False
    return any(map(str.isdigit, text)) and (_has_both_cases(text) or text.isalnum())


def _is_mixed_and_dense(text: str) -> bool:
    return _is_dense(text) and _has_both_cases(text)


def _has_both_cases(text: str) -> bool:
    return any(map(str.islower, text)) and any(map(str.isupper, text))
