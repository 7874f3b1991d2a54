"""What the transformations return."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

import msgspec

# The id of a file that checks at its top level, not in a test.
SCRIPT = "<script>"
NO_ASSERTION = "it has no assertion that could be changed"
UNREADABLE = "its file can't be parsed"
UNSAFE = "its expectation can't be changed safely"


class ControlOutcome(StrEnum):
    """What a command did when something that it depends on was altered."""

    FAILED = "failed"
    # It can't fail: it proves nothing.
    PASSED = "passed"
    # It passes only with comments that the work added.
    SILENCED = "silenced"
    # Nothing could be altered: only the base shows that the command can fail.
    UNALTERED = "unaltered"


def worst(outcomes: Collection[ControlOutcome]) -> ControlOutcome:
    """The outcome that counts: one that proves nothing, else one that altered something."""
    order = (ControlOutcome.PASSED, ControlOutcome.SILENCED, ControlOutcome.FAILED, ControlOutcome.UNALTERED)
    return next((outcome for outcome in order if outcome in outcomes), ControlOutcome.UNALTERED)


class Inverted(msgspec.Struct, frozen=True):
    """A test file with changed expectations. Ids of tests are names in the file, such as `TestClass.test_name`."""

    source: bytes
    altered: frozenset[str] = frozenset()
    unaltered: dict[str, str] = {}
    """Tests without a changed expectation, each with the reason."""


class Raising(msgspec.Struct, frozen=True):
    """A product file in which every changed function raises in place of returning."""

    source: bytes
    # The same functions raise before they do anything.
    at_entry: bytes
    functions: tuple[str, ...]
    # The name of each function with the first and the last line of its body, where that has lines of its own.
    lines: tuple[tuple[str, int, int], ...] = ()
