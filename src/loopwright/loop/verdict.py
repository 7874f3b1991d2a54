"""What `decide` says: what to append and to do, or why not."""

from __future__ import annotations

import msgspec

from loopwright.loop import events as e


class Blocker(msgspec.Struct, frozen=True):
    """A typed reason why not, with the way on."""

    code: str
    message: str
    hint: str


class Perform(msgspec.Struct, frozen=True):
    """The worker must do what is under way now."""

    action_id: str


class Accepted(msgspec.Struct, frozen=True):
    """What to append, and what to do."""

    events: tuple[e.Event, ...]
    effects: tuple[Perform, ...] = ()


class Refused(msgspec.Struct, frozen=True):
    """Nothing happens."""

    blockers: tuple[Blocker, ...]


Verdict = Accepted | Refused


def refused(code: str, message: str, hint: str) -> Refused:
    """Refused for one reason."""
    return Refused((Blocker(code, message, hint),))
