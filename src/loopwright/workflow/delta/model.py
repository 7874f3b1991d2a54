"""The types of spec deltas and living specs. Frozen.

A requirement keeps its source: `text` and `scenarios` are what the reader saw in it, never a second truth. Whoever
wants a new one asks `write.requirement`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

import msgspec

Keyword = Literal["GIVEN", "WHEN", "THEN", "AND", "BUT"]
Newline = Literal["\n", "\r\n"]


class DeltaProblem(msgspec.Struct, frozen=True, order=True):
    """What is wrong with a file. `error`: OpenSpec refuses it too; `warning`: only its `--strict` does."""

    line: int
    code: str
    message: str
    level: Literal["error", "warning"] = "error"


class UnreadableDelta(msgspec.Struct, frozen=True):
    """Not a delta, or not a living spec: every problem at once, in the order of their lines."""

    problems: tuple[DeltaProblem, ...]


class ScenarioStep(msgspec.Struct, frozen=True):
    """One bullet of a scenario."""

    keyword: Keyword
    text: str


class Scenario(msgspec.Struct, frozen=True):
    """An example of a requirement: its body as it stands, and the steps that the body spells out."""

    name: str
    text: str
    steps: tuple[ScenarioStep, ...] = ()


class Requirement(msgspec.Struct, frozen=True):
    """One `### Requirement:` with all that stands below it, from the first of `lines` to the last."""

    name: str
    text: str
    scenarios: tuple[Scenario, ...]
    source: str
    lines: tuple[int, int] = (0, 0)


class Removed(msgspec.Struct, frozen=True):
    """A requirement that goes, and what its users do instead."""

    name: str
    reason: str = ""
    migration: str = ""
    line: int = 0


class Renamed(msgspec.Struct, frozen=True):
    """A requirement that gets another name."""

    old: str
    new: str
    line: int = 0


class Delta(msgspec.Struct, frozen=True):
    """What one change does to the spec of one domain. `purpose` is for a spec that does not exist yet."""

    domain: str
    added: tuple[Requirement, ...] = ()
    modified: tuple[Requirement, ...] = ()
    removed: tuple[Removed, ...] = ()
    renamed: tuple[Renamed, ...] = ()
    purpose: str = ""
    remarks: tuple[DeltaProblem, ...] = ()


class Operation(StrEnum):
    """What a change did to a requirement."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    REMOVED = "REMOVED"
    RENAMED_FROM = "RENAMED FROM"
    RENAMED_TO = "RENAMED TO"


class Deed(msgspec.Struct, frozen=True):
    """One line of a living spec's history: which change did what to which requirement."""

    change_id: str
    operation: Operation
    requirement: str


class LivingSpec(msgspec.Struct, frozen=True):
    """A domain's spec. `head`, the requirements' sources and `tail` are the whole file, byte for byte.

    `remarks` is what `openspec validate --strict` would say about it.
    """

    title: str
    purpose: str
    head: str
    requirements: tuple[Requirement, ...]
    tail: str
    newline: Newline = "\n"
    history: tuple[Deed, ...] = ()
    remarks: tuple[DeltaProblem, ...] = ()


class Conflict(msgspec.Struct, frozen=True, order=True):
    """Why a delta can't be merged: `code` is `spec_conflict_<domain>`, `message` names what happened."""

    domain: str
    requirement: str
    message: str

    @property
    def code(self) -> str:
        """The contract's blocker."""
        return f"spec_conflict_{self.domain}"


class Conflicts(msgspec.Struct, frozen=True):
    """Nothing is merged."""

    conflicts: tuple[Conflict, ...]


class Merged(msgspec.Struct, frozen=True):
    """The spec as it is with the change in it, and its bytes."""

    spec: LivingSpec
    data: bytes
