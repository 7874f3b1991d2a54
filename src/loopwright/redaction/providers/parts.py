"""What several rules share: pieces of pattern, and whole rules for a key of a fixed shape."""

from __future__ import annotations

import re
from itertools import product

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
    "base64": "[A-Za-z0-9+/]",
    "base64url": "[A-Za-z0-9_-]",
}
_PLACEHOLDER = re.compile(r"<(\w+):([\d,]+)>")
_WITHIN_NAME = "[a-z0-9_. -]{0,20}"
_ALTERNATIVE = re.compile(r"(?:\([^)]*\)|[^|(])+")

_FREQUENT_START = 5
_CREDENTIAL_WORD = r"[a-z0-9_. -]{0,30}(?:key|token|secret|passw|auth|credential)"
# The backslashes are for text that is itself quoted within JSON.
ASSIGNMENT = r"""[\\"'\])]{0,4}[ \t]{0,3}(?:=>|:=|[:=,>|])[ \t]{0,3}[\\"'\[(]{0,4}"""
# `--api-key VALUE` and `ENV API_KEY VALUE`: only a space separates the name from the value.
_SPACE = r"""[ \t]{1,3}[\\"']{0,4}"""
_VALUE_END = r"(?:[^A-Za-z0-9_+/=-]|$)"

# With "@": people forget to encode it, and the last one before the host ends the password.
_URL_CHARACTER = r"""[^ \t\r\n/"'`<>${}*\\,;()|]"""
# Without one of these, a short password in a URL is nearly always an example ("user:password@host").
_UNLIKE_A_WORD = r"[0-9!#^&+=~]"

# Between two words of a name, not within a character class.
_BETWEEN_WORDS = re.compile(r"\[[^\]]*\]|(?<=[a-z0-9])(?:[_-]|\\\.)(?=[a-z])")


def spellings(*names: str) -> tuple[str, ...]:
    """The keywords for names of several words: `api_key`, `api-key`, `api.key` and, for `apiKey`, `apikey`."""
    return tuple(name.replace("_", between) for name in names for between in ("_", "-", ".", ""))


# What can follow a name in an assignment. More than the word itself, because words such as "token" are frequent in prose.
_AFTER_NAME = ("=", ":", "\\", '"', "'", "]", ")", ">", "|", " =", " :", " |", "\t", "  ")


def assigned_keywords(*words: str) -> tuple[str, ...]:
    """The keywords for a rule that needs an assignment directly after one of these words."""
    return tuple(word + after for word in words for after in _AFTER_NAME)


def given(names: str) -> str:
    """A pattern for the text before a value: a name that starts with one of `names`, in any spelling."""
    names = _BETWEEN_WORDS.sub(lambda match: match[0] if match[0][0] == "[" else "[_. -]?", names)
    between = rf"(?:(?i:[a-z0-9_. -]{{0,20}}){ASSIGNMENT}|(?i:[a-z0-9_-]{{0,20}}){_SPACE})"
    return rf"(?i:(?:\b|_)(?:{names})){between}"


def named(names: str, value: str) -> str:
    """A pattern for a value (group 1) that is assigned to a name that starts with one of `names`."""
    return rf"{given(names)}({value}){_VALUE_END}"


def assigned(providers: str, value: str) -> str:
    """A pattern for a value (group 1) that is assigned to a name with a provider and then "key" or the like."""
    return named(rf"(?:{providers}){_CREDENTIAL_WORD}", value)


def password_in_url(schemes: str) -> str:
    """A pattern for the password (group 1) of a URL with one of these schemes."""
    character = _URL_CHARACTER
    password = (
        rf"{character}{{4,80}}{_UNLIKE_A_WORD}{character}{{0,80}}"
        rf"|{character}{{0,80}}{_UNLIKE_A_WORD}{character}{{4,80}}"
        rf"|{character}{{16,160}}"
    )
    return _in_url(schemes, password)


def any_password_in_url(schemes: str) -> str:
    """The same for passwords that may be words. The rule must refuse the words of examples."""
    return _in_url(schemes, rf"{_URL_CHARACTER}{{6,160}}")


def _in_url(schemes: str, password: str) -> str:
    return rf"""\b(?:{schemes})://[^ \t\r\n:@/"'`<>]{{0,80}}:({password})@[A-Za-z0-9\[%]"""


def key_rule(rule_id: str, provider: str, shape: str, misses: tuple[str, ...] = ()) -> SecretRule:
    """A rule for a key that starts with a literal of its own: no name is needed to recognize it."""
    last = shape.rpartition("<")[2]
    # An underscore before a key is part of another name: `backup_ghp_…`.
    if last.endswith(",>"):
        border = r"(?:\b|_)({})"
    else:
        # A hyphen at the end of a key is no word border.
        border = r"(?:\b|_)({})(?:[^A-Za-z0-9_-]|$)" if last.startswith("base64url") else r"(?:\b|_)({})\b"
    keywords = dict.fromkeys(keyword for variant in variants(shape) for keyword in _literal_starts(variant))
    return SecretRule(rule_id, provider, tuple(keywords), border.format(_pattern(shape)), misses=misses, shape=shape)


def _literal_starts(variant: str) -> list[str]:
    """The start of a key, with its first hexadecimal digit if the start alone is frequent in text, as `test_` is."""
    start, _, rest = variant.lower().partition("<")
    is_frequent = len(start) <= _FREQUENT_START and rest.startswith("hex:")
    return [start + digit for digit in "0123456789abcdef"] if is_frequent else [start]


def assigned_rule(
    rule_id: str, provider: str, names: str, shape: str, misses: tuple[str, ...] = ()
) -> SecretRule:
    """A rule for a key that is recognized only after a name: see `assigned`. Bars separate names."""
    spelled = names.split("|")
    return SecretRule(rule_id, provider, _keywords(spelled), assigned(names, _pattern(shape)),
        misses=misses, shape=shape, names=tuple(f"{name}_api_key" for name in spelled))


def named_rule(rule_id: str, provider: str, names: str, shape: str, misses: tuple[str, ...] = ()) -> SecretRule:
    """A rule for a key that is recognized only after one of these names. `…` is any text within a name."""
    spelled = [name for alternative in _ALTERNATIVE.findall(names) for name in variants(alternative)]
    keywords = _keywords([name.partition("…")[0].rstrip("_") if "…" in name else name for name in spelled])
    pattern = named(names.replace("…", _WITHIN_NAME).replace("(", "(?:"), _pattern(shape))
    return SecretRule(rule_id, provider, keywords, pattern,
        misses=misses, shape=shape, names=tuple(name.replace("…", "_") for name in spelled))


def variants(text: str) -> list[str]:
    """The text with each choice of its alternatives: `sk_(live|test)` is `sk_live` and `sk_test`."""
    if "(" not in text:
        return [text]
    parts = re.split(r"\(([^)]*)\)", text)
    choices = (part.split("|") if number % 2 else (part,) for number, part in enumerate(parts))
    return ["".join(chosen) for chosen in product(*choices)]


def _keywords(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for name in names for key in (spellings(name) if "_" in name else (name,))))


def _pattern(shape: str) -> str:
    literal = shape.replace(".", r"\.").replace("(", "(?:").replace("<uuid>", UUID)
    return _PLACEHOLDER.sub(lambda match: f"{_CLASSES[match[1]]}{{{match[2]}}}", literal)
