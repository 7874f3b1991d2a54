"""Numbers as report writers spell them: `0.5`, `1,234.5`, `0,03`, `1.234,5`, `1e-05`."""

from __future__ import annotations

import math
import re

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_SPACES = re.compile(r"[\s'’_]")
_LONGEST = 40


def parse_decimal(text: str) -> float | None:
    """The number that is meant, or None when it is none, or not finite."""
    plain = _SPACES.sub("", text[: _LONGEST + 1])
    if len(plain) > _LONGEST:
        return None
    plain = _with_point(plain)
    if _NUMBER.fullmatch(plain) is None:
        return None
    number = float(plain)
    return number if math.isfinite(number) else None


def parse_count(text: str) -> int | None:
    """A whole number of things, or None."""
    number = parse_decimal(text)
    return int(number) if number is not None and number >= 0 and number == int(number) else None


def _with_point(text: str) -> str:
    """The last of two kinds of separators is the decimal one; one that comes more than once groups thousands.

    A single comma is taken as decimal: `1,078` of a localised writer is common, a test of just 1078.000 s is not.
    """
    comma, point = text.rfind(","), text.rfind(".")
    if comma < 0:
        return text.replace(".", "") if text.count(".") > 1 else text
    if point < 0:
        return text.replace(",", "" if text.count(",") > 1 else ".")
    if comma < point:
        return text.replace(",", "")
    return text.replace(".", "").replace(",", ".")
