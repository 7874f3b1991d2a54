"""Pieces of pattern which several rules share: a UUID, a named value, a password within a URL."""

from __future__ import annotations

import re

UUID = r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"
UUID_EXAMPLE = "<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>"

_CREDENTIAL_WORD = r"[a-z0-9_. -]{0,30}(?:key|token|secret|passw|auth|credential)"
# The backslashes are for text that is itself quoted within JSON.
ASSIGNMENT = r"""[\\"'\])]{0,4}[ \t]{0,3}(?:=>|:=|[:=,>|])[ \t]{0,3}[\\"'\[(]{0,4}"""
# `--api-key VALUE` and `ENV API_KEY VALUE`: nothing but a space, so no other word may stand between.
_SPACE = r"""[ \t]{1,3}[\\"']{0,4}"""
_VALUE_END = r"(?:[^A-Za-z0-9_+/=-]|$)"

_CHARACTER_OF_ONE = r"""[^ \t\r\n@/"'`<>${}*\\,;()|]"""
# Without one of these, a short password in a URL is nearly always an example ("user:password@host").
_UNLIKE_A_WORD = r"[0-9!#^&+=~]"

# Between two words of a name, not within a character class.
_BETWEEN_WORDS = re.compile(r"\[[^\]]*\]|(?<=[a-z0-9])(?:[_-]|\\\.)(?=[a-z])")


def spellings(*names: str) -> tuple[str, ...]:
    """The keywords for names of several words: `api_key`, `api-key`, `api.key` and, for `apiKey`, `apikey`."""
    return tuple(name.replace("_", between) for name in names for between in ("_", "-", ".", ""))


def given(names: str) -> str:
    """A pattern for all that stands before a value: a name which begins with one of `names`, however it is spelled."""
    names = _BETWEEN_WORDS.sub(lambda found: found[0] if found[0][0] == "[" else "[_. -]?", names)
    between = rf"(?:(?i:[a-z0-9_. -]{{0,20}}){ASSIGNMENT}|(?i:[a-z0-9_-]{{0,20}}){_SPACE})"
    return rf"(?i:(?:\b|_)(?:{names})){between}"


def named(names: str, value: str) -> str:
    """A pattern for a value (group 1) given to a name which begins with one of `names`."""
    return rf"{given(names)}({value}){_VALUE_END}"


def assigned(providers: str, value: str) -> str:
    """A pattern for a value (group 1) given to a name which holds a provider and, after it, "key" or the like."""
    return named(rf"(?:{providers}){_CREDENTIAL_WORD}", value)


def password_in_url(schemes: str) -> str:
    """A pattern for the password (group 1) of a URL with one of these schemes."""
    character = _CHARACTER_OF_ONE
    password = (
        rf"{character}{{4,80}}{_UNLIKE_A_WORD}{character}{{0,80}}"
        rf"|{character}{{0,80}}{_UNLIKE_A_WORD}{character}{{4,80}}"
        rf"|{character}{{16,160}}"
    )
    return rf"""\b(?:{schemes})://[^ \t\r\n:@/"'`<>]{{0,80}}:({password})@[A-Za-z0-9\[]"""
