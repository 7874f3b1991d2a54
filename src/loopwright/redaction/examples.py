"""Made-up secrets: what a rule must find, and what it must not find. Only tests and benches need them.

Examples are templates, so the repository itself contains no string that looks like a secret and could alarm a scanner.
"""

from __future__ import annotations

import random
import re
import string

from loopwright.redaction.model import SecretRule
from loopwright.redaction.providers.parts import variants

_ALPHABETS = {
    "alnum": string.ascii_letters + string.digits,
    "lower": string.ascii_lowercase,
    "upper": string.ascii_uppercase,
    "digit": string.digits,
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "anyhex": string.hexdigits,
    "lowernum": string.ascii_lowercase + string.digits,
    "uppernum": string.ascii_uppercase + string.digits,
    "base32": string.ascii_uppercase + "234567",
    "base58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "base64": string.ascii_letters + string.digits + "+/",
    "base64url": string.ascii_letters + string.digits + "-_",
}
_PLACEHOLDER = re.compile(r"<(" + "|".join(_ALPHABETS) + r"):(\d+)>")
_UUID = "<anyhex:8>-<anyhex:4>-<anyhex:4>-<anyhex:4>-<anyhex:12>"


def expand(template: str, seed: int = 0) -> str:
    """The template with each `<alphabet:length>` replaced by made-up characters, the same for the same seed."""
    source = random.Random(f"{seed}:{template}")  # noqa: S311 -- made-up examples, the same every time

    def fill(match: re.Match[str]) -> str:
        alphabet = _ALPHABETS[match[1]]
        return "".join(source.choices(alphabet, k=int(match[2])))

    return _PLACEHOLDER.sub(fill, template)


def hits_of(rule: SecretRule) -> tuple[str, ...]:
    """The templates of texts with a secret: the rule's own, and those of its shape."""
    if not rule.shape:
        return rule.hits
    keys = [*_shortest(rule), _longest(rule)]
    names = rule.names or (rule.id.replace("-", "_"),)
    return (*(f"{name.upper()}={keys[0]}" for name in names), *(f'"{names[0]}": "{key}"' for key in keys), *rule.hits)


def misses_of(rule: SecretRule) -> tuple[str, ...]:
    """The templates of texts without a secret: a key is too short, too long, or after another name."""
    if not rule.shape:
        return rule.misses
    key = _shortest(rule)[0]
    is_open = rule.shape.endswith(",>")
    invalid = [_with_last_length(key, -1), *(() if is_open else (_with_last_length(_longest(rule), 1),))]
    if not rule.names:
        return (*invalid, f"x{key}", *rule.misses)
    name, keyword = rule.names[0], rule.keywords[0]
    other_names = (f"{keyword}: {key}", f"{keyword.upper()}_ID={key}") if keyword != name else ()
    return (key, f"{name}=$KEY", *(f"{name}={text}" for text in invalid), *other_names, *rule.misses)


def _shortest(rule: SecretRule) -> list[str]:
    return [re.sub(r",\d*>", ">", variant) for variant in variants(rule.shape.replace("<uuid>", _UUID))]


def _longest(rule: SecretRule) -> str:
    return re.sub(r"\d+,(?=\d)|,(?=>)", "", variants(rule.shape.replace("<uuid>", _UUID))[0])


def _with_last_length(example: str, more: int) -> str:
    before, _, last = example.rpartition(":")
    length, _, end = last.partition(">")
    return f"{before}:{int(length) + more}>{end}"
