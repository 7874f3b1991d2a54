"""Drives a loop in this process until it ends or is held. One process at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from loopwright.errors import LoopRefused
from loopwright.kernel.clock import stamp
from loopwright.kernel.files import shown
from loopwright.kernel.locks import try_lock
from loopwright.kernel.process import Cancellation, Freezer
from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop.choice import is_held_for_choice
from loopwright.loop.driver import drive
from loopwright.loop.model import ErrorLine, Holder, Loop, Running
from loopwright.loop.paying import count_open_turn
from loopwright.loop.store import OpenedLoop
from loopwright.loop.worker_context import Ask, WorkerContext
from loopwright.loop.worker_sandbox import work_of
from loopwright.sandbox import place
from loopwright.sandbox.homes import drop_homes
from loopwright.stages.context import Context, loops_of
from loopwright.stages.open_turns import end_processes, reporter_of
from loopwright.stages.person import actor
from loopwright.stages.recover import recover
from loopwright.stages.reflecting import reflections_of

Adapt = Callable[[WorkerContext], WorkerContext]
HAS_WORKER = "has_worker"
_TRIES, _LOOK_S = 5, 0.02


def start(
    context: Context, loop_id: str, cancellation: Cancellation, *, ask: Ask | None = None, adapt: Adapt | None = None
) -> Loop:
    """Start a loop, or continue a loop whose worker is gone. A loop has one worker at a time.

    `ask` lets a person choose the next action in interactive mode; without it, the loop is held for a choice. `adapt`
    adds what a build needs.
    """
    store = loops_of(context)
    with as_worker(context, loop_id):
        context.require_agents()
        after = _drive(context, loop_id, cancellation, ask or no_choice, adapt, _start)
    # If a person resumed the loop while this worker was about to end, no other worker was started.
    while cancellation.reason is None and isinstance(store.load(loop_id).phase, Running):
        try:
            with as_worker(context, loop_id):
                after = _drive(context, loop_id, cancellation, ask or no_choice, adapt)
        except LoopRefused as refusal:
            if refusal.blocker != HAS_WORKER:
                raise
            break  # another process was faster
    if after.is_over:
        drop_homes(context.configured_sandbox_root(), context.project, work_of(loop_id))
    return after


def _start(opened: OpenedLoop) -> None:
    """Start the loop, unless it runs already: then its worker died, and the loop continues."""
    if is_held_for_choice(opened.loop):
        opened.apply(c.Resume(lifts=frozenset({Holder.DECISION})), actor())
    if not opened.loop.is_for_a_worker:
        opened.apply(e.LoopStarted(), actor())


def _drive(
    context: Context,
    loop_id: str,
    cancellation: Cancellation,
    ask: Ask,
    adapt: Adapt | None,
    start: Callable[[OpenedLoop], None] | None = None,
) -> Loop:
    """Drive until the loop ends or is held. A nested cancellation ends this call, not the whole command."""
    with cancellation.nested() as inner:
        worker = worker_context_for(context, inner, Freezer(), ask)
        return drive(loop_id, adapt(worker) if adapt is not None else worker, start)


@contextmanager
def as_worker(context: Context, loop_id: str) -> Iterator[None]:
    """Be the only worker of a loop during the block; leftovers of a dead worker are settled first."""
    loops_of(context).load(loop_id)
    for _ in range(_TRIES):
        if (lock := try_lock(context.layout.loop_worker(loop_id))) is not None:
            break
        # A process that checks whether a loop has a worker holds the lock for an instant.
        time.sleep(_LOOK_S)
    else:
        raise driven_already(context, loop_id)
    try:
        settle_after_a_dead_worker(context, loop_id)
        yield
    finally:
        lock.release()


def no_choice(loop: Loop) -> None:
    """An `Ask` for workers without a terminal: it makes no choice."""
    del loop


def driven_already(context: Context, loop_id: str) -> LoopRefused:
    """The refusal of a second worker; it names the first."""
    loop = loops_of(context).load(loop_id)
    worker, turn = loop.worker, loop.open_turn
    who = f"process {worker.pid} on {worker.host} since {worker.since}" if worker is not None else "another process"
    return LoopRefused(
        HAS_WORKER,
        f"loop {loop_id} is already driven by {who}",
        hint=f"`loopwright loop turn {loop_id}` shows the turn that you can take by hand"
        if turn is not None and turn.is_by_hand
        else f"`loopwright loop watch {loop_id}` follows it; `loop pause` and `loop stop` control it",
    )


def worker_context_for(context: Context, cancellation: Cancellation, freezer: Freezer, ask: Ask) -> WorkerContext:
    """The context of a worker in this workspace."""
    values, environment, limits = context.settings.values, context.step_environment(), context.limits()
    return WorkerContext(
        store=loops_of(context),
        request=context.sandbox_request,
        options=lambda sandbox: replace(context.sandbox_options_for(sandbox), keep=False, freezer=freezer),
        confine=context.confine,
        shell=context.shell(),
        setup=tuple(values.sandbox.setup),
        environment=environment,
        timeout_s=limits.timeout_s,
        log_bytes=limits.log_bytes,
        tools=context.tools,
        open_agent=lambda name: context.open_agent(name or values.agents.default_for_role("builder")),
        agent_settings=context.agent_settings,
        settings=values.loop,
        project=values.project,
        max_retries=values.run.max_retries,
        waits_for_quota=values.agents.quota == "wait",
        quota_wait_s=values.agents.quota_wait_s,
        quota_longest_s=values.agents.quota_longest_s,
        order=context.failover_agents(),
        agent_for_role=values.agents.agent_for_role,
        clock=context.clock,
        cancellation=cancellation,
        freezer=freezer,
        ask=ask,
        book=context.prompts(),
        reflections=reflections_of(context),
    )


def settle_after_a_dead_worker(context: Context, loop_id: str) -> None:
    """End leftover processes of a dead worker, count their cost, clear its sandbox. The caller holds its lock."""
    store = loops_of(context)
    turn = store.load(loop_id).open_turn
    if turn is not None:
        # An agent may outlive its worker: its cost is counted before its sandbox is removed.
        mailbox = Path(turn.mailbox)
        end_processes(context, mailbox)
        if turn.is_by_hand and place.is_unfinished(mailbox.parent):
            _record_kept_work(context, loop_id, mailbox.parent)
        count_open_turn(store, loop_id, reporter_of(context, turn.agent), actor(), context.tools().redactor)
    recover(context)


def _record_kept_work(context: Context, loop_id: str, folder: Path) -> None:
    repo = shown(place.work_tree_in(folder))
    message = f"the worker died before the turn was handed in; the work is kept in {repo}"
    error = ErrorLine(action="worker", message=message, timestamp=stamp(context.clock()))
    with loops_of(context).changing(loop_id) as opened:
        opened.apply(e.ErrorNoted(error=error), actor())
