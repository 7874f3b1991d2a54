"""What a loop's worker that died left behind: processes, a turn that nobody paid for, a sandbox."""

from __future__ import annotations

from pathlib import Path

from loopwright.loop.paying import count_open_turn
from loopwright.loop.store import LoopStore
from loopwright.verbs.context import Context
from loopwright.verbs.dead_turn import end_what_runs, reporter_of
from loopwright.verbs.recover import recover


def settle_after_a_dead_worker(context: Context, loop_id: str, actor: str) -> None:
    """End what it left running, count what that used, clear its sandbox; the caller holds the worker's lock."""
    _end_its_turn(context, loop_id, actor)
    recover(context)


def _end_its_turn(context: Context, loop_id: str, actor: str) -> None:
    """Before its sandbox is cleared: an agent that outlived its worker is ended, and what it used is counted."""
    store = LoopStore(context.layout, context.clock)
    turn = store.load(loop_id).open_turn
    if turn is None:
        return
    end_what_runs(context, Path(turn.mailbox))
    count_open_turn(store, loop_id, reporter_of(context, turn.agent), actor, context.tools().redactor)
