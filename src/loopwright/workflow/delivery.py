"""A delivery, file by file: what each was and what it becomes. Written down before the first file is touched.

Whoever finds one that is not through can finish it: a file is as it was, or as it becomes, or somebody else's by now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import msgspec


class FileMove(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file: digests before and after (empty: there is none), and whether it can be executed afterwards."""

    path: str
    before: str
    after: str
    mode: int = 0o644
    was_mode: int = 0o644


class DeliveryPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of them; `undoing` turns it around."""

    schema_version: int = 1
    patch_sha256: str
    head: str
    moves: tuple[FileMove, ...]
    undoing: bool = False
    # A folder that archiving moved goes back with the rest: from, to.
    moved: tuple[str, str] | None = None


State = Literal["as it was", "done", "changed by somebody"]


def state_of(move: FileMove, digest: str, *, undoing: bool) -> State:
    """How a file stands, by its digest now."""
    start, end = (move.after, move.before) if undoing else (move.before, move.after)
    if digest == end:
        return "done"
    return "as it was" if digest == start else "changed by somebody"


def in_the_way(plan: DeliveryPlan, digest_of: Callable[[str], str]) -> tuple[str, ...]:
    """Files that somebody else changed since."""
    states: Mapping[str, State] = {
        move.path: state_of(move, digest_of(move.path), undoing=plan.undoing) for move in plan.moves
    }
    return tuple(path for path, state in states.items() if state == "changed by somebody")
