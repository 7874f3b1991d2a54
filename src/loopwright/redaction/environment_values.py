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

ENVIRONMENT_RULE = "environment-value"
_SHORTEST = 8
_SHORTEST_LINE = 16
# A longer value is searched for in parts, because a part must fit into the window of text that is searched at once.
_LONGEST_PART = 4 << 10

_SECRET_NAME = re.compile(
    r"(?i)passw(?:or)?d|passphrase|sshpass|(?:^|_)pass(?:_|$)|(?:^|_)(?:pwd|pw)$"
    r"|tokens?(?:_|$)|secrets?(?:_|$)|credentials?(?:_|$)|api_?keys?(?:_|$)|_keys?$|(?:^|_)pat$|(?:^|_)auth$"
    r"|(?:^|_)dsn$|connection_?string|mcp_?url|(?:database|redis|mongo\w*|amqp|postgres\w*|mysql)_?ur[il]|webhook|cookie"
)
_PLACE_NAME = re.compile(
    r"(?i)_(?:file|path|dir|sock|socket|name|id|type|expires?|ttl|length|count)$|public_?keys?$|^tokenizers_"
)
_NOT_SECRET = frozenset({"PWD", "OLDPWD"})


def looks_secret(name: str) -> bool:
    """Whether a variable's name looks like the name of a secret."""
    if name in _NOT_SECRET:
        return False
    return _SECRET_NAME.search(name) is not None and _PLACE_NAME.search(name) is None


def secret_values(environment: Mapping[str, str], declared: Collection[str] = ()) -> dict[str, str]:
    """The variables that look secret or are declared secret, and whose values are long enough to be recognized."""
    return {
        name: value
        for name, value in environment.items()
        if (name in declared or looks_secret(name)) and len(value) >= _SHORTEST
    }


def printed_forms(value: str) -> set[bytes]:
    """The byte strings that reveal a value: printed as it is or in a common encoding."""
    forms: set[bytes] = set()
    for part in _lines(value):
        raw = part.encode("utf-8", "surrogateescape")
        forms |= {raw, raw.hex().encode(), raw.hex().upper().encode()}
        forms |= set(_base64_forms(raw))
        forms |= _url_forms(raw)
        forms |= _escaped_forms(part)
    return {form for form in forms if len(form) >= _SHORTEST}


def _lines(value: str) -> Iterable[str]:
    """The parts to search for. A value with several lines is recognized by each of its longer lines."""
    if "\n" not in value.strip("\n"):
        yield from _parts(value.strip("\n"))
        return
    for line in value.split("\n"):
        if len(line) >= _SHORTEST_LINE:
            yield from _parts(line)


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
