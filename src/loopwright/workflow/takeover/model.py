"""What was found in another tool's workspace. Frozen; paths are below the folder that was read, with slashes."""

from __future__ import annotations

from typing import Literal

import msgspec

Tool = Literal["loopx", "ccw", "openspec"]
Kind = Literal["spec", "snapshot", "plan", "change", "note", "journal", "decision"]


class TakeoverProblem(msgspec.Struct, frozen=True):
    """A file that can't be taken as what it should be, and why; line 0 is no line."""

    path: str
    line: int
    message: str


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """Work that becomes a workflow. `change` is set where its change stays in the place that it has."""

    name: str
    path: str
    idea: str
    documents: dict[str, bytes]
    digest: str
    said: dict[str, str] = {}
    finished: bool = False
    change: str = ""


class Loose(msgspec.Struct, frozen=True):
    """A file that belongs to no workflow; `name` is what it is called among its kind."""

    kind: Kind
    path: str
    name: str
    data: bytes


class Left(msgspec.Struct, frozen=True):
    """What stays where it is, and why."""

    path: str
    why: str


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """All of it."""

    candidates: tuple[Candidate, ...] = ()
    loose: tuple[Loose, ...] = ()
    troubles: tuple[TakeoverProblem, ...] = ()
    left: tuple[Left, ...] = ()


Outcome = Literal["taken", "already", "conflict", "unreadable", "left", "note"]


class TakeoverRow(msgspec.Struct, frozen=True):
    """`target` is what it is here: a workflow's name, or a path below the project."""

    what: str
    source: str
    target: str
    outcome: Outcome
    why: str = ""
    next: str = ""
