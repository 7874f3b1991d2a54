"""A workflow's calls of agents while they are under way, and what those used whose process died."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loopwright.kernel.locks import try_lock
from loopwright.runner.meter import LAST_LOOK, counted, used_at_last
from loopwright.stages.context import Context
from loopwright.stages.dead_turn import end_what_runs, reporter_of
from loopwright.stages.stores import workflows_of
from loopwright.workflow import commands as c
from loopwright.workflow.model import Cost, OpenTurn


@contextmanager
def on_record(context: Context, slug: str, turn: OpenTurn) -> Iterator[None]:
    """For the time of a call: whoever finds it there, and nobody at it, knows that its process died."""
    path = _lock_of(context, turn)
    lock = try_lock(path)
    if lock is None:  # another process asks under the same name, and nobody could tell the two apart
        yield
        return
    try:
        # What an earlier call of that name was last seen to use is none of this one's.
        (context.layout.turn(turn.name) / LAST_LOOK).unlink(missing_ok=True)
        with workflows_of(context).changing(slug) as opened:
            opened.apply(c.BeginTurn(turn=turn), "tool")
        yield
    finally:
        path.unlink(missing_ok=True)
        lock.release()


def count_the_dead(context: Context, slug: str) -> None:
    """Pay, once, for every call whose process died at it."""
    store = workflows_of(context)
    with store.changing(slug) as opened:
        turns = opened.workflow.open_turns
    for turn in turns:
        path = _lock_of(context, turn)
        if (lock := try_lock(path)) is None:
            continue  # somebody is at it
        try:
            cost = _cost_of(context, turn)
            with store.changing(slug) as opened:
                if turn in opened.workflow.open_turns:
                    opened.apply(c.CountCost(cost=cost, turn=turn.name), "tool")
        finally:
            path.unlink(missing_ok=True)
            lock.release()


def _cost_of(context: Context, turn: OpenTurn) -> Cost:
    mailbox = Path(turn.mailbox)
    end_what_runs(context, mailbox)
    used = used_at_last(reporter_of(context, turn.agent), mailbox, context.layout.turn(turn.name))
    total = counted(used, None)
    return Cost(
        role=turn.role, agent=turn.agent, stage=turn.stage, wall_s=0.0,
        usd=total.usd, tokens=total.tokens, is_cut_off=True,
    )  # fmt: skip


def _lock_of(context: Context, turn: OpenTurn) -> Path:
    return context.layout.lock(f"turn-{turn.name}")
