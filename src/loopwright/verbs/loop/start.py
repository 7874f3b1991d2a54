"""`loopwright loop start`: drive a loop in this process until it is over or held."""

from __future__ import annotations

import time

from loopwright.errors import LoopRefused
from loopwright.kernel.locks import HeldLock, try_lock
from loopwright.kernel.process import Cancellation, Freezer
from loopwright.loop import commands as c
from loopwright.loop.choice import is_held_for_choice
from loopwright.loop.desk import Ask, Desk
from loopwright.loop.driver import drive
from loopwright.loop.model import Holder, Loop, Running
from loopwright.loop.watcher import Watcher
from loopwright.verbs.context import Context
from loopwright.verbs.loop.control import actor, store_of
from loopwright.verbs.recover import recover
from loopwright.workspace.settings_model import AgentSettings

_TRIES, _LOOK_S = 5, 0.02


def start(context: Context, loop_id: str, cancellation: Cancellation, *, ask: Ask | None = None) -> Loop:
    """Start it, or go on with one whose worker is gone. One worker at a time.

    `ask` lets a person choose what is next in interactive mode; without it the loop is held for a choice.
    """
    store = store_of(context)
    store.load(loop_id)
    lock = _worker_lock(context, loop_id)
    try:
        recover(context)
        with store.changing(loop_id) as opened:
            # A running loop without a worker is one whose worker died: it goes on where that one was.
            if is_held_for_choice(opened.loop):
                opened.apply(c.Resume(lifts=frozenset({Holder.DECISION})), actor())
            if not isinstance(opened.loop.phase, Running):
                opened.apply(c.Start(), actor())
        freezer = Freezer()
        with Watcher(store, loop_id, cancellation, freezer, context.settings.values.loop.freeze_s):
            return drive(loop_id, desk_for(context, cancellation, freezer, ask or _nobody))
    finally:
        lock.release()


def _nobody(loop: Loop) -> None:
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


def desk_for(context: Context, cancellation: Cancellation, freezer: Freezer, ask: Ask) -> Desk:
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
        clock=context.clock,
        cancellation=cancellation,
        freezer=freezer,
        ask=ask,
    )
