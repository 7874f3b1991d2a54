"""Expands the rules' example templates into made-up secrets of the right form.

So the repository itself contains no string that looks like a secret and could alarm a scanner.
"""

from __future__ import annotations

import random
import re
import string

_ALPHABETS = {
    "alnum": string.ascii_letters + string.digits,
    "lower": string.ascii_lowercase,
    "upper": string.ascii_uppercase,
    "digit": string.digits,
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "lowernum": string.ascii_lowercase + string.digits,
    "uppernum": string.ascii_uppercase + string.digits,
    "base32": string.ascii_uppercase + "234567",
    "base58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "base64": string.ascii_letters + string.digits + "+/",
    "base64url": string.ascii_letters + string.digits + "-_",
}
_PLACEHOLDER = re.compile(r"<(" + "|".join(_ALPHABETS) + r"):(\d+)>")


def expand(template: str, seed: int = 0) -> str:
    """The template with each `<alphabet:length>` replaced by made-up characters, the same for the same seed."""
    source = random.Random(f"{seed}:{template}")  # noqa: S311 -- made-up examples, the same every time

    def fill(match: re.Match[str]) -> str:
        alphabet = _ALPHABETS[match[1]]
        return "".join(source.choices(alphabet, k=int(match[2])))

    return _PLACEHOLDER.sub(fill, template)
