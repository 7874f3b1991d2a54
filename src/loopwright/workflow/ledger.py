"""`delegation-ledger.json`: work that an agent gave to others. What is open and blocks keeps the hand-off shut."""

from __future__ import annotations

import json
from typing import Literal

import msgspec

Status = Literal["active", "done", "failed", "cancelled"]


class Delegation(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of work in other hands."""

    id: str
    role: str = ""
    status: Status = "active"
    blocking: bool = True
    scope: str = ""
    evidence: list[str] = []


class Ledger(msgspec.Struct, frozen=True):
    """What is under way, and what is over."""

    active: tuple[Delegation, ...] = ()
    history: tuple[Delegation, ...] = ()

    @property
    def status(self) -> Literal["active", "drained"]:
        """Whether anything is still open."""
        return "active" if self.active else "drained"

    @property
    def blocking(self) -> tuple[Delegation, ...]:
        """What keeps the hand-off shut."""
        return tuple(one for one in self.active if one.blocking)

    def taking(self, entries: tuple[Delegation, ...]) -> Ledger:
        """With these entries: an id that is known changes, one that is over goes to the history."""
        known = {one.id: one for one in self.active} | {one.id: one for one in entries}
        over = tuple(one for one in known.values() if one.status != "active")
        gone = {one.id for one in over}
        history = tuple(one for one in self.history if one.id not in gone) + over
        return Ledger(tuple(one for one in known.values() if one.status == "active"), history)


class _File(msgspec.Struct, frozen=True):
    delegations: list[Delegation] = []
    history: list[Delegation] = []


def read_ledger(data: bytes) -> Ledger | None:
    """The ledger in these bytes; None when they hold none."""
    try:
        found = msgspec.json.decode(data, type=_File)
    except (msgspec.DecodeError, RecursionError):
        return None
    return Ledger((), tuple(found.history)).taking(tuple(found.delegations))


def render(ledger: Ledger) -> bytes:
    """The file's bytes."""
    document = {
        "schema_version": 1,
        "status": ledger.status,
        "delegations": [msgspec.to_builtins(one) for one in ledger.active],
        "history": [msgspec.to_builtins(one) for one in ledger.history],
    }
    return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode()
