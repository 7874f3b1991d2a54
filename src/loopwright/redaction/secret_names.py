"""Which names look like the name of a secret, by their words: variables, fields, flags and options. Pure."""

from __future__ import annotations

import re
from itertools import pairwise


def _set_of(text: str) -> frozenset[str]:
    return frozenset(text.split("|"))


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SECRET = _set_of(
    "password|passwd|passwords|passphrase|passcode|sshpass|pass|pwd|pw|pat|secret|secrets|token|"
    "tokens|credential|credentials|creds|jwt|bearer|authorization|auth|apikey|apikeys|dsn|webhook|"
    "cookie|cookies"
)
# One word without a border, as in `githubtoken` or `mypassword`.
_SECRET_END = re.compile(r"(?:passw(?:or)?d|passphrase|token|secret|apikey|credentials?|authorization)s?$")
# These count in any place, as in `GITHUB_TOKEN_PROD` or `PASSWORD_OLD`.
_SECRET_ANYWHERE = _set_of("password|passwd|passphrase|secret|secrets|token|credential|credentials|apikey")
# Keys that are no secrets: caches, tables and maps have keys, too.
_NO_SECRET_KEY = _set_of(
    "cache|primary|foreign|sort|partition|hash|group|index|idempotency|object|map|dict|row|column|"
    "routing|registry|host|known|composite|unique|natural|lookup|shortcut|hot|sequence|bucket|schema|"
    "dedup|commit|sha|checksum|digest|etag|feature|flag|env|environment|event|locale|translation|message|recv"
)
# Tokens that give no access: they continue a list, or say which version a change is for.
_NO_SECRET_TOKEN = _set_of(
    "next|page|paging|pagination|continuation|cursor|starting|resume|resumption|change|lock|idempotency|lifecycle"
)
_PUBLIC = _set_of("public|pub")
# A name that ends like this tells about a secret, and is none.
_ABOUT = _set_of(
    "file|files|path|paths|dir|directory|folder|sock|socket|name|names|type|types|expires|expire|"
    "expiry|ttl|length|len|count|size|limit|limits|budget|usage|alias|arn|version|algorithm|alg|"
    "format|prefix|suffix|field|header|policy|enabled|required|max|min|mode|provider|class|index|"
    "issuer|scope|scopes|endpoint"
)
_AMOUNTS = _set_of("max|min|num|total|count|n|limit|prompt|completion|input|output|used|cached")
# The header of a WebSocket is a number used once, for one connection.
_NOT_SECRET = frozenset({"PWD", "OLDPWD", "Sec-WebSocket-Key", "sec-websocket-key"})
_CONNECTION = re.compile(
    r"connectionstring|authconfig$|mcpur[il]|(?:database|redis|mongo[a-z]*|amqp|postgres[a-z]*|mysql)ur[il]$|webhookur[il]$"
)


def looks_secret(name: str) -> bool:
    """Whether a variable's name looks like the name of a secret."""
    words = [word.lower() for word in _WORD.findall(name)]
    while words and words[-1].isdigit():
        words.pop()
    # A diff has "-" before a name.
    if name.lstrip("-") in _NOT_SECRET or not words:
        return False
    return _CONNECTION.search("".join(words)) is not None or _ends_secret(words[:-1], words[-1])


def _ends_secret(before: list[str], last: str) -> bool:
    if last == "id":
        # The id of a key is public. A `secret_id` is the secret half of a pair.
        return before[-1:] == ["secret"]
    if last in _ABOUT or before[:1] == ["tokenizers"] or _PUBLIC.intersection(before):
        return False
    if last in {"key", "keys"}:
        return bool(before) and not _NO_SECRET_KEY.intersection(before)
    if last in {"token", "tokens"} and (_AMOUNTS | _NO_SECRET_TOKEN).intersection(before):
        return False
    is_anywhere = bool(_SECRET_ANYWHERE.intersection(before)) or ("api", "key") in pairwise(before)
    return last in _SECRET or _SECRET_END.search(last) is not None or is_anywhere
