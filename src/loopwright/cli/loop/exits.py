"""The exit code for how a loop stands when a command leaves it."""

from __future__ import annotations

from loopwright.loop.completion import is_unproven
from loopwright.loop.model import Failed, Held, Holder, Loop

HELD, FAILED, UNPROVEN = 11, 12, 14


def exit_code(loop: Loop, stopped_by: str | None) -> int:
    """The contract's code; a person's pause is no failure."""
    match loop.phase:
        case Failed():
            return FAILED
        case _ if signal_code(stopped_by):
            return signal_code(stopped_by)
        case Held() if is_unproven(loop):
            return UNPROVEN
        case Held(holds=holds) if any(hold.holder is not Holder.OPERATOR for hold in holds):
            return HELD
        case _:
            return 0


def signal_code(stopped_by: str | None) -> int:
    """0 where no signal ended us."""
    return {"SIGINT": 130, "SIGTERM": 143}.get(stopped_by or "", 0)
