"""The types of spec deltas and living specs, and the names of domains. Frozen.

A requirement keeps its source; `text` and `scenarios` are derived from it. To make a new requirement, call
`write.requirement`.
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
    """A problem of a file. `error`: OpenSpec refuses the file too; `warning`: only its `--strict` does."""

    line: int
    code: str
    message: str
    level: Literal["error", "warning"] = "error"


class UnreadableDelta(msgspec.Struct, frozen=True):
    """Not a valid delta or living spec: all problems, by line."""

    problems: tuple[DeltaProblem, ...]


class ScenarioStep(msgspec.Struct, frozen=True):
    """One bullet of a scenario."""

    keyword: Keyword
    text: str


class Scenario(msgspec.Struct, frozen=True):
    """An example of a requirement: its body, and the steps in the body."""

    name: str
    text: str
    steps: tuple[ScenarioStep, ...] = ()


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
    """Why a delta can't be merged: `code` is `spec_conflict_<domain>`, `message` gives the cause."""

    domain: str
    requirement: str
    message: str

    @property
    def code(self) -> str:
        """The code of the blocker."""
        return f"spec_conflict_{self.domain}"


class Conflicts(msgspec.Struct, frozen=True):
    """Nothing is merged."""

    conflicts: tuple[Conflict, ...]


class Merged(msgspec.Struct, frozen=True):
    """The spec with the change merged in, and its bytes."""

    spec: LivingSpec
    data: bytes


LONGEST = 120
_LONGEST_PART_BYTES = 200
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
# A folder named spec.md hides a spec; OpenSpec looks for `specs` and `changes` in paths.
_RESERVED = {"spec.md", "specs", "changes", "archive"}


def domain_problem(name: str) -> str | None:
    """Why this is not a valid name of a domain, in a sentence; None if it is valid."""
    if not name:
        return "a domain needs a name"
    if len(name) > LONGEST:
        return f"the domain '{_safe(name[:40])}…' has {len(name)} characters; the limit is {LONGEST}"
    if name.startswith(("/", "\\")) or name[1:3] in (":/", ":\\"):
        return f"the domain '{_safe(name)}' is an absolute path; use a path relative to the folder of specs"
    if unicodedata.normalize("NFC", name) != name:
        return f"the domain '{_safe(name)}' uses decomposed accents; write it in NFC"
    for part in name.split("/"):
        problem = _part_problem(part)
        if problem is not None:
            return f"the domain '{_safe(name)}' {problem}"
    return None


def _safe(name: str) -> str:
    """A name that is safe for a terminal, including half a character."""
    return shown(name.encode("utf-8", "backslashreplace"))


def _part_problem(part: str) -> str | None:
    if not part:
        return "has an empty part between its slashes"
    if part in (".", ".."):
        return f"has the part '{part}', which leaves its folder"
    if not all(one.isalnum() or one in "-_." or unicodedata.category(one).startswith("M") for one in part):
        return f"has a character in '{_safe(part)}' that is not a letter, digit, '-', '_' or '.'"
    if not part[0].isalnum() or part.endswith("."):
        return f"has the part '{_safe(part)}', which must start with a letter or digit and must not end with a dot"
    if part.lower() in _RESERVED or part.lower().split(".")[0] in _DEVICES:
        return f"has the part '{part}', a reserved name"
    if len(part.encode()) > _LONGEST_PART_BYTES:
        return f"has a part of more than {_LONGEST_PART_BYTES} bytes"
    return None
