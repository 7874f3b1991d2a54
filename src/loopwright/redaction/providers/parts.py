"""What several rules share: pieces of pattern, and whole rules for a key of a fixed shape.

A shape is written like an example: `gsk_<alnum:52>`, or `<alnum:48,56>` for a range of lengths, or `<uuid>`.
"""

from __future__ import annotations

import re

from loopwright.redaction.model import SecretRule

UUID = r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"
UUID_EXAMPLE = "<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>"

_CLASSES = {
    "alnum": "[A-Za-z0-9]",
    "lower": "[a-z]",
    "digit": "[0-9]",
    "hex": "[0-9a-f]",
    "HEX": "[0-9A-F]",
    "anyhex": "[0-9A-Fa-f]",
    "lowernum": "[a-z0-9]",
    "uppernum": "[A-Z0-9]",
    "base32": "[A-Z2-7]",
    "base64url": "[A-Za-z0-9_-]",
}
_UUID_SHAPE = "<anyhex:8>-<anyhex:4>-<anyhex:4>-<anyhex:4>-<anyhex:12>"
_PLACEHOLDER = re.compile(r"<(\w+):(\d+)(?:,(\d+))?>")

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


def key_rule(id: str, provider: str, shape: str, misses: tuple[str, ...] = ()) -> SecretRule:  # noqa: A002 -- its field
    """A rule for a key that begins with a literal of its own and is recognized wherever it stands."""
    shape = shape.replace("<uuid>", _UUID_SHAPE)
    # A hyphen at the end of a key is no word border.
    border = r"\b({})(?:[^A-Za-z0-9_-]|$)" if "base64url" in shape.rpartition("<")[2] else r"\b{}\b"
    shortest, longest, cut, overlong = _examples(shape)
    name = id.upper().replace("-", "_")
    return SecretRule(id, provider, (shape.partition("<")[0].lower(),), border.format(_pattern(shape)),
        hits=(f"{name}={shortest}", longest), misses=(cut, overlong, f"x{shortest}", *misses))


def assigned_rule(id: str, provider: str, names: str, shape: str, misses: tuple[str, ...] = ()) -> SecretRule:  # noqa: A002
    """A rule for a key that is recognized only after a name: see `assigned`. `names` are separated by bars."""
    shape = shape.replace("<uuid>", _UUID_SHAPE)
    first, *_ = spelled = names.split("|")
    keywords = tuple(keyword for name in spelled for keyword in (spellings(name) if "_" in name else (name,)))
    shortest, longest, cut, overlong = _examples(shape)
    return SecretRule(id, provider, keywords, assigned(names, _pattern(shape)),
        hits=(f"{first.upper()}_API_KEY={shortest}", f'"{spelled[-1]}_token": "{longest}"'),
        misses=(shortest, f"{first}: {shortest}", f"{first.upper()}_ID={shortest}", f"{first.upper()}_API_KEY=$KEY",
                f"{first}_key={cut}", f"{first}_key={overlong}", *misses))


def _pattern(shape: str) -> str:
    literals = [re.escape(literal).replace(r"\-", "-") for literal in _PLACEHOLDER.split(shape)[::4]]
    classes = [
        f"{_CLASSES[match[1]]}{{{match[2]}{',' + match[3] if match[3] else ''}}}"
        for match in _PLACEHOLDER.finditer(shape)
    ]
    return "".join(f"{literal}{char_class}" for literal, char_class in zip(literals, [*classes, ""], strict=True))


def _examples(shape: str) -> tuple[str, str, str, str]:
    """A shape's shortest and longest key, and two that are one character too short or too long."""
    shortest = _PLACEHOLDER.sub(r"<\1:\2>", shape)
    longest = _PLACEHOLDER.sub(lambda match: f"<{match[1]}:{match[3] or match[2]}>", shape)
    return shortest, longest, _with_last_length(shortest, -1), _with_last_length(longest, 1)


def _with_last_length(example: str, more: int) -> str:
    before, _, last = example.rpartition(":")
    length, _, end = last.partition(">")
    return f"{before}:{int(length) + more}>{end}"
