"""A second opinion: values made from the patterns of another tool, so that our own templates are not the only judge.

A value that is not hidden is a disagreement: the other tool's pattern may be wider than the real format.
"""

from __future__ import annotations

import random
import re
import string
import sys
from collections.abc import Iterator
from re import _constants as op
from re import _parser
from typing import Any

from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from detect_secrets.plugins.base import RegexBasedDetector

from contexts import Written
from loopwright.redaction.build import SHIPPED_RULES
from loopwright.redaction.detector import Detector
from loopwright.redaction.redactor import Redactor
from recall import Tally, judge

# Not secrets: an address, and the first line of a key without the key.
_LEFT_OUT = frozenset({"Public IP (ipv4)", "Private Key"})
_LETTERS = string.ascii_letters + string.digits
_CATEGORIES = {op.CATEGORY_DIGIT: string.digits, op.CATEGORY_WORD: _LETTERS + "_", op.CATEGORY_SPACE: " "}
_PRINTED = _LETTERS + "-_.~%+"
_MOST_OF_MANY = 12


def measure(examples: int, seed: int) -> dict[str, Tally]:
    """How many values of the other tool's patterns we hide in a log line, by that tool's name for the secret."""
    found: dict[str, Tally] = {}
    redactor = Redactor(Detector(SHIPPED_RULES, {}), {})
    print("second opinion: detect-secrets", file=sys.stderr)
    for name, pattern in _patterns():
        for number in range(examples):
            source = random.Random(f"{seed}:{number}:{pattern.pattern}")
            text = made_from(pattern, source)
            match = pattern.search(text)
            if match is None:  # a look-around that the generator does not support
                continue
            secret = next((group for group in match.groups() if group and len(group) >= 8), match[0])
            around = text.replace(secret, "")
            lines = [
                f"2026-03-04T05:06:07.123Z ERROR app.client: failed: option {part} (2)\n" for part in (text, around)
            ]
            written = Written(lines[0], (secret.strip(" \"'=:"),), lines[1])
            found.setdefault(name, Tally()).add(judge(redactor, written, [lines[0].encode()]))
    return found


def _patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for name, plugin in sorted(get_mapping_from_secret_type_to_class().items()):
        if issubclass(plugin, RegexBasedDetector) and name not in _LEFT_OUT:
            yield from ((name, pattern) for pattern in plugin().denylist)


def made_from(pattern: re.Pattern[str], source: random.Random) -> str:
    """A text that the pattern matches, if the pattern has only plain parts."""
    return "".join(_made(_parser.parse(pattern.pattern, pattern.flags), source))


def _made(parts: Any, source: random.Random) -> Iterator[str]:
    for kind, what in parts:
        if kind is op.LITERAL:
            yield chr(what)
        elif kind is op.ANY or kind is op.NOT_LITERAL:
            yield source.choice(_LETTERS)
        elif kind is op.IN:
            yield source.choice(sorted(_members(what)))
        elif kind in {op.MAX_REPEAT, op.MIN_REPEAT}:
            least, most, inner = what
            for _ in range(source.randint(least, min(most, least + _MOST_OF_MANY))):
                yield from _made(inner, source)
        elif kind is op.SUBPATTERN:
            yield from _made(what[-1], source)
        elif kind is op.BRANCH:
            yield from _made(source.choice(what[1]), source)


def _members(items: Any) -> set[str]:
    """The characters of a class; for a negated class, the remaining printable characters."""
    members: set[str] = set()
    for kind, what in items:
        if kind is op.LITERAL:
            members.add(chr(what))
        elif kind is op.RANGE:
            members |= {chr(code) for code in range(what[0], what[1] + 1)}
        elif kind is op.CATEGORY:
            members |= set(_CATEGORIES[what])
    return set(_PRINTED) - members if items[0][0] is op.NEGATE else members
