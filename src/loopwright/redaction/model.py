"""The words of redaction: a rule, what to do about a hit, a finding, and text that is known to be clean.

Owns no matching and no input or output.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec


class RuleAction(StrEnum):
    """What a hit of a rule does."""

    STOP = "stop"
    MASK = "mask"
    OFF = "off"


class SecretRule(msgspec.Struct, frozen=True):
    """One secret format.

    `pattern` is written in the subset that RE2 and Python's `re` share, and is linear in both.
    Its first group, where it has one, is the secret value; else the whole match is.
    `keywords` are lower-case literals of which at least one is in every match: the fast first sieve.
    `hits` and `misses` are example templates, so that no text of this repository looks like a secret:
    `<alnum:20>` stands for 20 made-up characters of that alphabet (see `examples.py`).
    """

    id: str
    provider: str
    keywords: tuple[str, ...]
    pattern: str
    hits: tuple[str, ...]
    misses: tuple[str, ...]


class SecretFinding(msgspec.Struct, frozen=True):
    """Where a secret was seen: everything about it but its value."""

    rule: str
    source: str
    line: int
    fingerprint: str
    action: RuleAction

    def sentence(self) -> str:
        """The finding for a person."""
        return f"{self.source}:{self.line}: {self.rule} (fingerprint {self.fingerprint})"


_SEAL: Final = object()


class Redacted:
    """Bytes that went through a redactor. Evidence, logs and screens take nothing else."""

    __slots__ = ("data",)

    def __init__(self, data: bytes, seal: object) -> None:
        if seal is not _SEAL:
            raise TypeError("only the redaction package makes Redacted values")
        self.data = data

    @property
    def text(self) -> str:
        """The same as text; bytes that are not UTF-8 are shown as escapes."""
        return self.data.decode("utf-8", "backslashreplace")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Redacted({self.data!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Redacted) and other.data == self.data

    def __hash__(self) -> int:
        return hash(self.data)


def seal(data: bytes) -> Redacted:
    """Vouch for bytes. Called by this package after scanning, and by evidence for what it stored sealed."""
    return Redacted(data, _SEAL)
