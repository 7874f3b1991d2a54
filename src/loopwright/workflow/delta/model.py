"""The types of spec deltas and living specs. Frozen.

A requirement keeps its source; `text` and `scenarios` are derived from it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

import msgspec

Newline = Literal["\n", "\r\n"]


class DeltaProblem(msgspec.Struct, frozen=True, order=True):
    """A problem of a file. `error`: OpenSpec refuses the file too; `warning`: only its `--strict` does."""

    line: int
    code: str
    message: str
    level: Literal["error", "warning"] = "error"


class UnreadableDelta(msgspec.Struct, frozen=True):
    """Not a valid delta or living spec: all problems, by line."""

    problems: tuple[DeltaProblem, ...]


class Scenario(msgspec.Struct, frozen=True):
    """An example of a requirement."""

    name: str
    text: str


class Requirement(msgspec.Struct, frozen=True):
    """One `### Requirement:` with its text, from the first of `lines` to the last."""

    name: str
    text: str
    scenarios: tuple[Scenario, ...]
    source: str
    lines: tuple[int, int] = (0, 0)


class Removed(msgspec.Struct, frozen=True):
    """A removed requirement, and what its users do instead."""

    name: str
    reason: str = ""
    migration: str = ""
    line: int = 0


class Renamed(msgspec.Struct, frozen=True):
    """A renamed requirement."""

    old: str
    new: str
    line: int = 0


class Delta(msgspec.Struct, frozen=True):
    """The edits of one change to the spec of one domain. `purpose` is for a new spec."""

    domain: str
    added: tuple[Requirement, ...] = ()
    modified: tuple[Requirement, ...] = ()
    removed: tuple[Removed, ...] = ()
    renamed: tuple[Renamed, ...] = ()
    purpose: str = ""
    remarks: tuple[DeltaProblem, ...] = ()

    @property
    def touched(self) -> tuple[str, ...]:
        """The names of all requirements that the change touches; of a renamed requirement the new name."""
        names = (
            *(requirement.name for requirement in (*self.added, *self.modified)),
            *(removal.name for removal in self.removed),
            *(rename.new for rename in self.renamed),
        )
        return tuple(dict.fromkeys(names))


class Operation(StrEnum):
    """An edit of a requirement."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    REMOVED = "REMOVED"
    RENAMED_FROM = "RENAMED FROM"
    RENAMED_TO = "RENAMED TO"


class Deed(msgspec.Struct, frozen=True):
    """One line in the history of a living spec: the change, its operation and the requirement."""

    change_id: str
    operation: Operation
    requirement: str


class LivingSpec(msgspec.Struct, frozen=True):
    """The spec of a domain. `head`, the sources of the requirements and `tail` are the whole file, byte for byte.

    `remarks` are the findings of `openspec validate --strict`.
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
    """Why a delta can't be merged."""

    domain: str
    requirement: str
    message: str


class Conflicts(msgspec.Struct, frozen=True):
    """Nothing is merged."""

    conflicts: tuple[Conflict, ...]


class Merged(msgspec.Struct, frozen=True):
    """The spec with the change merged in, and its bytes."""

    spec: LivingSpec
    data: bytes
