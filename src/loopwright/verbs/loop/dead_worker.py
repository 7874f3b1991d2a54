"""What a loop's worker that died left behind: processes, a turn that nobody paid for, a sandbox."""

from __future__ import annotations

from pathlib import Path

from loopwright.agents.port import ReportsCost
from loopwright.errors import AgentFailed
from loopwright.kernel import process
from loopwright.loop.paying import count_open_turn
from loopwright.loop.store import LoopStore
from loopwright.sandbox import place
from loopwright.verbs.context import Context
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
    folder = Path(turn.mailbox).parent
    if folder in place.leftovers(context.wanted_sandbox_root().resolve()):
        process.end_family(str(folder))
    count_open_turn(store, loop_id, _reporter(context, turn.agent), actor, context.tools().redactor)


def _reporter(context: Context, name: str) -> ReportsCost | None:
    try:
        agent = context.open_agent(name)
    except AgentFailed:
        return None
    return agent if isinstance(agent, ReportsCost) else None
