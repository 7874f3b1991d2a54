"""The types of redaction: a rule, its action, a finding, and text that is known to be clean.

Does no matching and no input or output.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Final

import msgspec


class RuleAction(StrEnum):
    """What happens when a rule matches."""

    STOP = "stop"
    MASK = "mask"
    OFF = "off"


def always(_before: bytes, _value: bytes, _after: bytes) -> bool:
    """Accept every match."""
    return True


class SecretRule(msgspec.Struct, frozen=True):
    """One secret format.

    `pattern` uses the syntax that RE2 and Python's `re` share, and takes linear time in both.
    The secret is the pattern's first group, or the whole match if the pattern has no group.
    `keywords` are lower-case literals; every match contains at least one. They make the first search fast.
    `accepts` gets the text before the secret, the secret and the text after it, and decides what a pattern cannot:
    whether a value looks random, or a host exists.
    A hit of a `generic` rule counts only where no other rule has one, so that a value keeps the name of its own rule.
    `hits` and `misses` are example templates, so that no text in this repository looks like a secret:
    `<alnum:20>` means 20 made-up characters of that alphabet (see `examples`). `shape` is the key in the same form,
    with ranges of lengths (`<alnum:48,56>`), `<uuid>` and alternatives (`sk_(live|test)_<hex:40>`), and `names` are
    the names before it; the pattern is made from both, and so are more examples.
    """

    id: str
    provider: str
    keywords: tuple[str, ...]
    pattern: str
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()
    shape: str = ""
    names: tuple[str, ...] = ()
    accepts: Callable[[bytes, bytes, bytes], bool] = always
    generic: bool = False


class SecretFinding(msgspec.Struct, frozen=True):
    """Where a secret was found, without its value."""

    rule: str
    source: str
    line: int
    fingerprint: str
    action: RuleAction

    def sentence(self) -> str:
        """The finding as one line of text."""
        return f"{self.source}:{self.line}: {self.rule} (fingerprint {self.fingerprint})"


_SEAL: Final = object()


class Redacted:
    """Bytes that went through a redactor. Evidence, logs and terminals accept nothing else."""

    __slots__ = ("data",)

    def __init__(self, data: bytes, seal: object) -> None:
        if seal is not _SEAL:
            raise TypeError("only the redaction package makes Redacted values")
        self.data = data

    @property
    def text(self) -> str:
        """The bytes as text; invalid UTF-8 is shown as escapes."""
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
    """Mark bytes as clean. Called by this package after scanning, and by evidence for bytes that were stored clean."""
    return Redacted(data, _SEAL)
