"""What became of each thing that was found: one row a thing."""

from __future__ import annotations

from typing import Literal

import msgspec

Outcome = Literal["taken", "already", "conflict", "unreadable", "left", "note"]


class TakeoverRow(msgspec.Struct, frozen=True):
    """`target` is what it is here: a workflow's name, or a path below the project."""

    what: str
    source: str
    target: str
    outcome: Outcome
    why: str = ""
    next: str = ""
