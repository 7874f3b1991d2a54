"""Makes fresh secrets of a rule's own form, and finds which part of its example must accompany the value.

This file contains no secret: the rules' templates are expanded at run time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from loopwright.redaction.detector import compile_pattern
from loopwright.redaction.examples import expand, hits_of
from loopwright.redaction.model import SecretRule

NEUTRAL_NAME = "app_setting"
# The unit tests use small seeds, so these start higher.
_FIRST_SEED = 1_000_000

_NAME = r"[A-Za-z][A-Za-z0-9_.-]*"
_BEFORE_NAMED = re.compile(
    rf"""(?:export |[?&{{"'\\]|--?)*(?P<name>{_NAME})[\\"'\])]{{0,4}}\s*(?:=>|:=|[:=])\s*[\\"']{{0,4}}"""
    r"(?P<lead>[A-Za-z][A-Za-z-]* +)?"
)
_AFTER_NAMED = re.compile(r"""[\\"'}\)]{0,4};?""")
_OWN_NAME = re.compile(r"(?:export )?(?P<name>[A-Z][A-Z0-9_]*)=")
# Only in a file of its own format (a variable `AUTH` with base64 may contain anything), or in its quotation marks.
_ONLY_WITHIN = frozenset({"docker-config-auth", "quoted-secret-assignment"})
_SECRET_LINE = re.compile(r"[A-Za-z0-9+/]{20,}")


class Kind(StrEnum):
    """What must accompany a value so that it is recognized."""

    BARE = "nothing"
    NAMED = "a name"
    WITHIN = "the text around it"
    BLOCK = "its first line"


@dataclass(frozen=True, slots=True)
class Planted:
    """One made-up secret: `carrier` is the printed value, `secrets` are its parts that must be hidden."""

    rule: str
    kind: Kind
    name: str
    carrier: str
    secrets: tuple[str, ...]


def plant(rule: SecretRule, number: int, seed: int) -> Planted:
    """The `number`th secret of a rule; its templates are used in turn."""
    # A template without a placeholder is a header or a word without a secret.
    templates = [hit for hit in hits_of(rule) if "<" in hit]
    text = expand(templates[number % len(templates)], _FIRST_SEED * (seed + 1) + number)
    if "\n" in text:
        return Planted(rule.id, Kind.BLOCK, NEUTRAL_NAME, text, tuple(_SECRET_LINE.findall(text)))
    start, end = _value_span(rule, text)
    value = text[start:end]
    if _found_alone(rule, value):
        return Planted(rule.id, Kind.BARE, NEUTRAL_NAME, value, (value,))
    before = _BEFORE_NAMED.fullmatch(text[:start])
    if before and rule.id not in _ONLY_WITHIN and _AFTER_NAMED.fullmatch(text[end:]):
        return Planted(rule.id, Kind.NAMED, before["name"], (before["lead"] or "") + value, (value,))
    own = _OWN_NAME.match(text)
    if own and own.end() <= start and _found_alone(rule, text[own.end() :], value):
        return Planted(rule.id, Kind.WITHIN, own["name"], text[own.end() :], (value,))
    return Planted(rule.id, Kind.WITHIN, NEUTRAL_NAME, text, (value,))


def _value_span(rule: SecretRule, text: str) -> tuple[int, int]:
    """The position of the value: the group of the rule's pattern, else the whole match."""
    for match in compile_pattern(rule.pattern).finditer(text.encode()):
        start, end = match.span(1 if match.re.groups and match.group(1) is not None else 0)
        return start, end
    raise SystemExit(f"{rule.id} does not find its own example")


def _found_alone(rule: SecretRule, text: str, value: str | None = None) -> bool:
    """Whether the rule finds the value in this text alone."""
    matches = compile_pattern(rule.pattern).finditer(text.encode())
    spans = [match.span(1 if match.re.groups and match.group(1) is not None else 0) for match in matches]
    return any(text[start:end] == (text if value is None else value) for start, end in spans)
