"""`loopwright loop start`: drive a loop in this process until it is over or held."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from loopwright.agents.port import ReportsCost
from loopwright.errors import AgentFailed, LoopRefused
from loopwright.kernel import process
from loopwright.kernel.locks import try_lock
from loopwright.kernel.process import Cancellation, Freezer
from loopwright.loop import commands as c
from loopwright.loop.desk import Desk, Told
from loopwright.loop.driver import drive
from loopwright.loop.model import Loop
from loopwright.loop.paying import count_open_turn
from loopwright.loop.watcher import Watcher
from loopwright.sandbox import place
from loopwright.verbs.context import Context
from loopwright.verbs.loop.control import actor, store_of
from loopwright.verbs.recover import recover
from loopwright.workspace.settings_model import AgentSettings


def start(context: Context, loop_id: str, tell: Callable[[Told], None], cancellation: Cancellation) -> Loop:
    """Start it, or go on with one whose worker is gone. One worker at a time."""
    store = store_of(context)
    with as_worker(context, loop_id):
        with store.changing(loop_id) as opened:
            # A running loop without a worker is one whose worker died: it goes on where that one was.
            if not opened.loop.is_for_a_worker:
                opened.apply(c.Start(), actor())
        freezer = Freezer()
        with Watcher(store, loop_id, cancellation, freezer, context.settings.values.loop.freeze_s):
            return drive(loop_id, desk_for(context, tell, cancellation, freezer))


@contextmanager
def as_worker(context: Context, loop_id: str) -> Iterator[None]:
    """The one who works on a loop, for the block; what a dead one left is settled first."""
    store_of(context).load(loop_id)
    lock = try_lock(context.layout.loop_worker(loop_id))
    if lock is None:
        raise LoopRefused(
            "has_worker",
            f"the loop {loop_id} is driven by another process already",
            hint=f"`loopwright loop show {loop_id}` says how it stands; `pause` and `stop` reach it",
        )
    try:
        _settle_what_a_dead_worker_left(context, loop_id)
        recover(context)
        yield
    finally:
        lock.release()


def _settle_what_a_dead_worker_left(context: Context, loop_id: str) -> None:
    """Before its sandbox is cleared: an agent that outlived its worker is ended, and what it used is counted."""
    turn = store_of(context).load(loop_id).open_turn
    if turn is None:
        return
    folder = Path(turn.mailbox).parent
    if folder in place.leftovers(context.wanted_sandbox_root().resolve()):
        process.end_family(str(folder))
    count_open_turn(store_of(context), loop_id, _reporter(context, turn.agent), actor())


def _reporter(context: Context, name: str) -> ReportsCost | None:
    try:
        agent = context.open_agent(name)
    except AgentFailed:
        return None
    return agent if isinstance(agent, ReportsCost) else None


def desk_for(context: Context, tell: Callable[[Told], None], cancellation: Cancellation, freezer: Freezer) -> Desk:
    """What a worker of this workspace works with."""
    values = context.settings.values
    return Desk(
        store=store_of(context),
        request=context.sandbox_request,
        isolation=values.sandbox.isolation,
        isolations=context.isolations,
        shell=context.shell(),
        setup=tuple(values.sandbox.setup),
        environment=context.step_environment(),
        limits=context.limits(),
        tools=context.tools,
        open_agent=context.open_agent,
        agent_settings=lambda name: values.agents.named.get(name, AgentSettings()),
        settings=values.loop,
        max_retries=values.run.max_retries,
        waits_for_quota=values.agents.quota == "wait",
        clock=context.clock,
        cancellation=cancellation,
        freezer=freezer,
        tell=tell,
    )
