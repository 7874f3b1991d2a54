"""The types of spec deltas and living specs. Frozen.

A requirement keeps its source: `text` and `scenarios` are what the reader saw in it, never a second truth. Whoever
wants a new one asks `write.requirement`.
"""

from __future__ import annotations

import unicodedata
from enum import StrEnum
from typing import Literal

import msgspec

from loopwright.kernel.files import shown

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


LONGEST = 120
_LONGEST_PART_BYTES = 200
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
# A folder called spec.md hides a spec; `specs` and `changes` are where OpenSpec looks for the name of a spec in a path.
_RESERVED = {"spec.md", "specs", "changes", "archive"}


def domain_problem(name: str) -> str | None:
    """Why this can't be a domain's name, in a sentence; None when it can."""
    if not name:
        return "a domain has a name"
    if len(name) > LONGEST:
        return f"the domain '{_safe(name[:40])}…' has {len(name)} characters; at most {LONGEST} are allowed"
    if name.startswith(("/", "\\")) or name[1:3] in (":/", ":\\"):
        return f"the domain '{_safe(name)}' is an absolute path; it is one below the folder of specs"
    if unicodedata.normalize("NFC", name) != name:
        return f"the domain '{_safe(name)}' is spelled with loose accents; spell it in NFC"
    for part in name.split("/"):
        problem = _part_problem(part)
        if problem is not None:
            return f"the domain '{_safe(name)}' {problem}"
    return None


def _safe(name: str) -> str:
    """A name as text that a terminal can hold, half a character with it."""
    return shown(name.encode("utf-8", "backslashreplace"))


def _part_problem(part: str) -> str | None:
    if not part:
        return "has an empty part between its slashes"
    if part in (".", ".."):
        return f"has the part '{part}', which leaves its folder"
    if not all(one.isalnum() or one in "-_." or unicodedata.category(one).startswith("M") for one in part):
        return f"has a character in '{_safe(part)}' that is no letter, digit, '-', '_' or '.'"
    if not part[0].isalnum() or part.endswith("."):
        return f"has the part '{_safe(part)}', which begins with no letter or digit, or ends with a dot"
    if part.lower() in _RESERVED or part.lower().split(".")[0] in _DEVICES:
        return f"has the part '{part}', a reserved name"
    if len(part.encode()) > _LONGEST_PART_BYTES:
        return f"has a part of more than {_LONGEST_PART_BYTES} bytes"
    return None
