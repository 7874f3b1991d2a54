"""The findings in a workspace of another tool. Frozen; paths are relative to the folder that was read, with slashes."""

from __future__ import annotations

from typing import Literal

import msgspec

Tool = Literal["loopx", "ccw", "openspec"]
Kind = Literal["spec", "snapshot", "plan", "change", "note", "journal", "decision"]


class TakeoverProblem(msgspec.Struct, frozen=True):
    """A file that can't be imported, and why; line 0 means no line."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}" if self.line else self.message


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """Work that becomes a workflow. `change` is set if its change stays in place."""

    name: str
    path: str
    idea: str
    documents: dict[str, bytes]
    digest: str
    claims: dict[str, str] = {}
    finished: bool = False
    change: str = ""


class Loose(msgspec.Struct, frozen=True):
    """A file that belongs to no workflow; `name` is its name among files of its kind."""

    kind: Kind
    path: str
    name: str
    data: bytes


class Left(msgspec.Struct, frozen=True):
    """A file that is not imported, and why."""

    path: str
    why: str


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """All findings."""

    candidates: tuple[Candidate, ...] = ()
    loose: tuple[Loose, ...] = ()
    troubles: tuple[TakeoverProblem, ...] = ()
    left: tuple[Left, ...] = ()


Outcome = Literal["taken", "already", "conflict", "unreadable", "left", "note"]


class TakeoverRow(msgspec.Struct, frozen=True):
    """The result for one finding. `target` is the name of a workflow, or a path in the project."""

    what: str
    source: str
    target: str
    outcome: Outcome
    why: str = ""
    next: str = ""
