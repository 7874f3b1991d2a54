"""Whether a value looks like a secret: random, and neither an example nor a name made of words.

Used by rules whose pattern is generic, and for the caller's own variables. Pure.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

# Words of examples. A random value contains one of them by chance in about 1 of 100,000 cases.
_EXAMPLE = re.compile(
    rb"(?i)example|sample|placeholder|change.?me|replace|insert|dummy|redacted|secret.?here|foo.?bar"
    rb"|your|passw|<|\$\{|\{\{|xxxx|\*\*\*|\.\.\.|123456|abcdef|a1b2c3|c3b2a1|deadbeef|qwerty|lorem"
)
# Whole values that stand for a password in examples and local setups.
_COMMON = frozenset(
    b"postgres|mysql|mariadb|mongodb|mongo|redis|rabbitmq|guest|admin|administrator|root|username|user|pass|test|testing"
    b"|tester|default|development|hunter2|clickhouse|snowflake".split(b"|")
)
# The fingerprint of a PGP key is public: images of Python set `GPG_KEY` to one.
_PGP_NAME = re.compile(r"(?i)gpg|pgp")
_PGP_FINGERPRINT = re.compile(r"(?:0x)?(?:[0-9A-Fa-f]{16}|[0-9A-Fa-f]{40}|[0-9A-Fa-f]{64})")
_WORD = re.compile(rb"[A-Za-z_.-]{1,15}")
_URL_LOGIN = re.compile(rb"://([^:@/]*):$")
_PORT_AND_QUERY = re.compile(rb"[^?#]*\?[\w.-]+=")
# Networks that exist only in documentation (RFC 5737, RFC 3849).
_DOCUMENTATION_HOST = re.compile(rb"@(?:192\.0\.2|198\.51\.100|203\.0\.113)\.\d{1,3}\b|@\[2001:0?[dD][bB]8:")
# As in source code: `win32api.RegEnumKey`.
_DOTTED_NAME = re.compile(rb"[A-Za-z_]\w{0,14}(?:\.[A-Za-z_]\w{0,14})+")
_RUN = re.compile(rb"[A-Za-z0-9]+")
_LOWER, _UPPER, _DIGIT = range(3)
_LEAST_CHANGES = 0.22
_LEAST_OF_ENTROPY = 0.72
# 64 bits are a hash or an id. A key has 128 bits or more, some older ones 96.
_SHORTEST_HEX = 24
_HEX = re.compile(rb"[0-9a-fA-F-]+")
_HEX_DIGITS = re.compile(rb"[0-9a-fA-F]+")
# HashiCorp Vault issues 24 characters, or a signed text of 90 and more.
_VAULT_TOKEN = re.compile(rb"(hv)?[sbr]\.([A-Za-z0-9_-]+)")
_VAULT_LENGTH, _SIGNED_VAULT_LENGTH = 24, 90
# A stream key of Twitch is `live_`, the number of the account, and 30 characters.
_TWITCH_KEY = re.compile(rb"(?:live_)?[0-9]{5,12}_([A-Za-z0-9]+)")
_TWITCH_LENGTH = 30


def is_no_example(value: bytes) -> bool:
    """Whether a value has no sign of an example."""
    return _EXAMPLE.search(value) is None and value.lower() not in _COMMON


def is_pgp_fingerprint(name: str, value: str) -> bool:
    """Whether a value is the public fingerprint of a PGP key."""
    return _PGP_NAME.search(name) is not None and _PGP_FINGERPRINT.fullmatch(value) is not None


def is_no_query(_before: bytes, password: bytes, _after: bytes) -> bool:
    """Whether the text between ":" and "@" in a URL is no port with a query: `http://host:80?mail=me@host.example`."""
    return _PORT_AND_QUERY.match(password) is None


def is_no_example_in_url(before: bytes, password: bytes, after: bytes) -> bool:
    """Whether the password of a URL is more than a word, or a word that is neither usual in examples nor the login."""
    if _DOCUMENTATION_HOST.match(after):
        return False
    if not _WORD.fullmatch(password):
        return True
    login = _URL_LOGIN.search(before)
    return is_no_example(password) and (login is None or login[1] != password)


def looks_random(value: bytes) -> bool:
    """Whether letters, digits and cases change as often as in random text, and few characters repeat.

    In a name made of words, the kind of character changes seldom. Values with only one kind are never random here.
    """
    if _HEX.fullmatch(value) and (len(value) < _SHORTEST_HEX or _is_odd_number_of_bytes(value)):
        return False
    # Without a digit it is nearly always a name in source code: `xmlSecKeysMngrGetKey`.
    if not any(map(_is_digit, value)) or _DOTTED_NAME.fullmatch(value):
        return False
    changes, pairs = 0, 0
    for run in _RUN.findall(value):
        kinds = [_kind(character) for character in run]
        pairs += len(kinds) - 1
        # A capital followed by a small letter begins a word, so it is no change.
        changes += sum(a != b and (a, b) != (_UPPER, _LOWER) for a, b in pairwise(kinds))
    return pairs > 0 and changes / pairs >= _LEAST_CHANGES and _entropy(value) >= _LEAST_OF_ENTROPY * _most(value)


def _is_odd_number_of_bytes(value: bytes) -> bool:
    """Whether hexadecimal digits are 17 or 21 bytes, for example. Keys have a multiple of 2 or of 5 bytes."""
    return _HEX_DIGITS.fullmatch(value) is not None and len(value) % 4 != 0 and len(value) % 10 != 0


def is_cut_token(name: str, value: bytes) -> bool:
    """Whether a value has the layout of a service's token, and a length that the service never issues."""
    if (vault := _VAULT_TOKEN.fullmatch(value)) and (vault[1] or "vault" in name.lower()):
        return len(vault[2]) != _VAULT_LENGTH and len(vault[2]) < _SIGNED_VAULT_LENGTH
    twitch = _TWITCH_KEY.fullmatch(value) if "twitch" in name.lower() else None
    return twitch is not None and len(twitch[1]) != _TWITCH_LENGTH


def _is_digit(character: int) -> bool:
    return ord("0") <= character <= ord("9")


def _kind(character: int) -> int:
    if _is_digit(character):
        return _DIGIT
    return _UPPER if character <= ord("Z") else _LOWER


def _entropy(value: bytes) -> float:
    """Bits per character, by the frequencies of this value's characters."""
    total = len(value)
    return -sum(count / total * math.log2(count / total) for count in Counter(value).values())


def _most(value: bytes) -> float:
    """The entropy that a value of this length and alphabet could have."""
    alphabet = 16 if _HEX.fullmatch(value) else 64
    return math.log2(min(len(value), alphabet))


def is_strong_password(value: bytes) -> bool:
    """Whether a value is no path, and mixes three kinds of characters: small and capital letters, digits, and signs.

    Words that only a hyphen joins are text, as in a translation of "password". A password with "secret" as one of its
    words is one of a test: `very-secret-123`.
    """
    if value.count(b"/") >= _SLASHES_OF_A_PATH or _DOTTED_NAME.fullmatch(value):
        return False
    if _JOINED_WORDS.fullmatch(value) or _CALLED_SECRET.search(value):
        return False
    kinds = sum(any(test(character) for character in value) for test in _KINDS)
    return kinds >= _LEAST_KINDS and is_no_example(value)


def has_many_signs(value: bytes) -> bool:
    """Whether a value has digits, and three different signs that code seldom has next to each other."""
    if _QUERY.search(value):
        return False
    return any(map(_is_digit, value)) and len(_SIGNS.intersection(value)) >= _LEAST_KINDS


_QUERY = re.compile(rb"&\w+=")
_CALLED_SECRET = re.compile(rb"(?:^|-)secret(?:-|$)")
# With the bytes of letters such as "é".
_JOINED_WORDS = re.compile(rb"[A-Za-z\x80-\xff]+(?:[-_][A-Za-z\x80-\xff]+)*[?!.]?")
_SIGNS = frozenset(b"!@#$%^&*+=~?")
_KINDS: tuple[Callable[[int], bool], ...] = (
    lambda character: b"a"[0] <= character <= b"z"[0],
    lambda character: b"A"[0] <= character <= b"Z"[0],
    _is_digit,
    lambda character: character in b"!@#%^&*?+=~-_$",
)
_LEAST_KINDS = 3
_SLASHES_OF_A_PATH = 2
