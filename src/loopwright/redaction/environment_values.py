"""The caller's own secrets: which variables look secret, and the encodings in which a value may be printed.

Does not find deliberate re-encoding (encryption, compression, reversal). The docs say so.
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
