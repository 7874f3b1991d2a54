"""`loopwright loop start`: drive a loop in this process until it is over or held."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loopwright.agents.port import ReportsCost
from loopwright.errors import AgentFailed, LoopRefused
from loopwright.kernel import process
from loopwright.kernel.locks import HeldLock, try_lock
from loopwright.kernel.process import Cancellation, Freezer
from loopwright.loop import commands as c
from loopwright.loop.choice import is_held_for_choice
from loopwright.loop.craft import Craft, Plain
from loopwright.loop.desk import Ask, Desk
from loopwright.loop.driver import drive
from loopwright.loop.model import Holder, Loop
from loopwright.loop.paying import count_open_turn
from loopwright.loop.watcher import Watcher
from loopwright.sandbox import place
from loopwright.verbs.context import Context
from loopwright.verbs.loop.control import actor, store_of
from loopwright.verbs.recover import recover
from loopwright.workspace.settings_model import AgentSettings

_TRIES, _LOOK_S = 5, 0.02


def start(
    context: Context, loop_id: str, cancellation: Cancellation, *, ask: Ask | None = None, craft: Craft | None = None
) -> Loop:
    """Start it, or go on with one whose worker is gone. One worker at a time.

    `ask` lets a person choose what is next in interactive mode; without it the loop is held for a choice. `craft` is
    what is special about the work.
    """
    store = store_of(context)
    with as_worker(context, loop_id):
        with store.changing(loop_id) as opened:
            # A running loop without a worker is one whose worker died: it goes on where that one was.
            if is_held_for_choice(opened.loop):
                opened.apply(c.Resume(lifts=frozenset({Holder.DECISION})), actor())
            if not opened.loop.is_for_a_worker:
                opened.apply(c.Start(), actor())
        freezer = Freezer()
        with Watcher(store, loop_id, cancellation, freezer, context.settings.values.loop.freeze_s):
            return drive(loop_id, desk_for(context, cancellation, freezer, ask or nobody, craft or Plain()))


@contextmanager
def as_worker(context: Context, loop_id: str) -> Iterator[None]:
    """The one who works on a loop, for the block; what a dead one left is settled first."""
    store_of(context).load(loop_id)
    lock = _worker_lock(context, loop_id)
    try:
        _settle_what_a_dead_worker_left(context, loop_id)
        recover(context)
        yield
    finally:
        lock.release()


def nobody(loop: Loop) -> None:
    """There is no terminal to ask at."""
    del loop


def _worker_lock(context: Context, loop_id: str) -> HeldLock:
    path = context.layout.loop_worker(loop_id)
    for _ in range(_TRIES):
        if (lock := try_lock(path)) is not None:
            return lock
        # Whoever looks whether a loop is driven holds its lock for an instant.
        time.sleep(_LOOK_S)
    worker = store_of(context).load(loop_id).worker
    who = f"process {worker.pid} on {worker.host} since {worker.since}" if worker is not None else "another process"
    raise LoopRefused(
        "has_worker",
        f"the loop {loop_id} is driven by {who} already",
        hint=f"`loopwright loop watch {loop_id}` follows it; `pause` and `stop` reach it",
    )


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


def desk_for(
    context: Context, cancellation: Cancellation, freezer: Freezer, ask: Ask, craft: Craft | None = None
) -> Desk:
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
        ask=ask,
        craft=craft or Plain(),
    )
