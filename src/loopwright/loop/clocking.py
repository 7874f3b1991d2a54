"""How long a loop was worked on, from its event log. Pure.

Work is an action under way, or a question about it, with a worker. A pause does not count, nor does waiting for a
person's choice, nor the time between the last event of a dead worker and the arrival of the next worker.
"""

from __future__ import annotations

from datetime import datetime

import msgspec
from msgspec.structs import replace

from loopwright.loop import events as e
from loopwright.loop.log import Line


class Clocked(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds of work so far: of the whole loop, and of the action under way."""

    total_s: float = 0.0
    action_s: float = 0.0
    at: str | None = None
    is_at_work: bool = False
    # The turn of a question about a finished action, if that is the only work.
    question: str | None = None
    has_worker: bool = False
    holds: frozenset[str] = frozenset()


def clocked(before: Clocked, line: Line) -> Clocked:
    """The clocks after a line of the log."""
    died = any(isinstance(event, e.WorkerArrived) for event in line.events) and before.has_worker
    after = replace(before, at=line.at) if died else _until(before, line.at)
    for event in line.events:
        after = _after(after, event)
    return after


def clocked_now(before: Clocked, now: str, *, has_worker: bool) -> Clocked:
    """The clocks at this moment; they stand still without a worker."""
    return _until(before, now) if has_worker else before


def _until(before: Clocked, moment: str) -> Clocked:
    if before.at is None or not (before.is_at_work and before.has_worker) or before.holds:
        return replace(before, at=moment)
    # A clock that was set back adds no time.
    passed = max(0.0, (datetime.fromisoformat(moment) - datetime.fromisoformat(before.at)).total_seconds())
    return replace(before, at=moment, total_s=before.total_s + passed, action_s=before.action_s + passed)


def _after(clocks: Clocked, event: e.Event) -> Clocked:
    match event:
        case e.LoopStopped() | e.LoopFailed() | e.LoopCompleted():
            return replace(clocks, is_at_work=False, holds=frozenset())
        case e.HoldPlaced(hold=hold):
            return replace(clocks, holds=clocks.holds | {hold.holder})
        case e.HoldLifted(holder=holder):
            return replace(clocks, holds=clocks.holds - {holder})
        case e.WorkerArrived():
            return replace(clocks, has_worker=True)
        case e.WorkerLeft():
            return replace(clocks, has_worker=False)
        case e.ActionStarted():
            return replace(clocks, is_at_work=True, action_s=0.0, question=None)
        case e.TurnBegun(turn=turn) if not clocks.is_at_work:
            return replace(clocks, is_at_work=True, action_s=0.0, question=turn.name)
        case e.CostCounted(turn=str(turn)) if clocks.question == turn:
            return replace(clocks, is_at_work=False, question=None)
        case e.ActionDone() | e.ActionAbandoned():
            return replace(clocks, is_at_work=False)
        case _:
            return clocks
