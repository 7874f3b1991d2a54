"""Drives a loop: the rules choose an action, the worker performs it and proposes its result, and so on."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress

from loopwright.errors import IsolationTooWeak, LoopRefused, SecretLeak
from loopwright.kernel.clock import stamp
from loopwright.kernel.process import Stopped, wait_for_request
from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop.actions import complete, debug, develop, init, repair, validate
from loopwright.loop.actions.failing import HandedOver, HeldBack
from loopwright.loop.choice import awaits_choice
from loopwright.loop.model import Action, Completed, ErrorLine, Failed, Held, Holder, Loop, Running, Worker
from loopwright.loop.store import OpenedLoop
from loopwright.loop.watcher import Watcher
from loopwright.loop.worker_context import WORKER, WorkerContext
from loopwright.loop.worker_sandbox import WorkerSandbox
from loopwright.runner.turn import TurnStopped

_LOOK_EVERY_S = 0.2


def drive(loop_id: str, context: WorkerContext, start: Callable[[OpenedLoop], None] | None = None) -> Loop:
    """Work on the loop until it is over or held, or until a stop is requested. The caller holds the worker's lock.

    `start` brings the loop under way if it is not.
    """
    worker = Worker(pid=os.getpid(), host=socket.gethostname(), since=stamp(context.clock()))
    with context.store.changing(loop_id) as opened:
        if start is not None:
            start(opened)
        opened.apply(e.WorkerArrived(worker=worker), WORKER)
        loop = _choose(opened, context)
    try:
        with Watcher(loop_id, context), WorkerSandbox(context) as worker_sandbox:
            while context.cancellation.reason is None and _is_worth_staying(loop, context):
                loop = _go_on(loop, context, worker_sandbox)
        return context.store.load(loop_id)
    finally:
        with context.store.changing(loop_id) as opened:
            opened.apply(e.WorkerLeft(why=_why_left(opened.loop, context)), WORKER)


def _why_left(loop: Loop, context: WorkerContext) -> str:
    """Why the worker leaves. The watcher ends the work of every loop that is over, also of one that just completed."""
    match loop.phase:
        case Completed():
            return "the loop is completed" if loop.workflow is None else "all tasks are worked on"
        case Failed():
            return context.cancellation.reason or "the loop failed"
        case Held():
            return context.cancellation.reason or "the loop is held"
        case _:
            return context.cancellation.reason or "an error stopped it"


def _go_on(loop: Loop, context: WorkerContext, worker_sandbox: WorkerSandbox) -> Loop:
    """Wait while the loop is held; otherwise do one action, from the rules' choice to its record."""
    if not isinstance(loop.phase, Running):
        return _wait(loop, context)
    if awaits_choice(loop):
        # Interactive mode: the person's choice is under way afterwards. Without a choice the rules hold the loop.
        context.ask(loop)
    if awaits_choice(loop) or loop.under_way is None:
        with context.store.changing(loop.loop_id) as opened:
            loop = _choose(opened, context, asked=True)
    return _advance(loop, context, worker_sandbox)


def _choose(opened: OpenedLoop, context: WorkerContext, *, asked: bool = False) -> Loop:
    """Let the rules begin the next action, unless a person has to choose first or a stop is requested."""
    loop = opened.loop
    if context.cancellation.reason is not None or not isinstance(loop.phase, Running):
        return loop
    if awaits_choice(loop) and not asked:
        return loop
    command = c.Advance(action_id=f"a-{secrets.token_hex(4)}", no_progress=context.settings.no_progress)
    return opened.apply(command, WORKER)


def _is_worth_staying(loop: Loop, context: WorkerContext) -> bool:
    """A person's pause may be short, and a rate limit has a known end. Any other hold takes longer."""
    if not isinstance(loop.phase, Held):
        return isinstance(loop.phase, Running)
    return all(
        hold.holder is Holder.OPERATOR or (context.waits_for_quota and hold.ends_by_itself) for hold in loop.phase.holds
    )


def _wait(loop: Loop, context: WorkerContext) -> Loop:
    """Wait for the end of a hold between two actions. The watcher ends a long wait."""
    wait_for_request(context.cancellation, _LOOK_EVERY_S)
    with context.store.changing(loop.loop_id) as opened:
        now = stamp(context.clock())
        if any(hold.ends_by_itself and (hold.until or now) <= now for hold in opened.loop.holds):
            opened.apply(c.Resume(lifts=frozenset({Holder.QUOTA})), WORKER)
        return opened.loop


def _advance(loop: Loop, context: WorkerContext, worker_sandbox: WorkerSandbox) -> Loop:
    """Do the action that is under way. After a crash the same action is done again."""
    under_way = loop.under_way
    if not isinstance(loop.phase, Running) or under_way is None or context.cancellation.reason is not None:
        return loop
    try:
        outcome = _perform(loop, context, worker_sandbox, under_way.action, under_way.id)
    except HeldBack as back:
        # A rate limit or a question leaves the action under way. Any other hold ends it.
        left: c.Proposal = c.AbandonAction(why=back.hold.message, turn_taken=back.turn_taken)
        if back.goes_on:
            session = back.session or under_way.session
            left = e.ActionPaused(action_id=under_way.id, session=session, turn_taken=back.turn_taken)
        return _leave(context, loop, left, e.HoldPlaced(hold=back.hold))
    except HandedOver as change:
        # The next agent begins the action in a fresh sandbox and a new session.
        return _leave(context, loop, c.HandOver(takeover=change.takeover))
    except IsolationTooWeak as weak:
        hold = context.blocked(weak.code, weak.message)
        return _leave(context, loop, c.AbandonAction(why=weak.message), e.HoldPlaced(hold=hold))
    except SecretLeak as leak:
        hold = context.blocked("secret_leak", leak.message)
        return _leave(context, loop, c.AbandonAction(why=leak.message, turn_taken=True), e.HoldPlaced(hold=hold))
    except Stopped as stop:
        # A signal or a long pause: the next worker continues the action.
        session = (stop.session if isinstance(stop, TurnStopped) else None) or under_way.session
        return _leave(context, loop, e.ActionPaused(action_id=under_way.id, session=session))
    asks_back = isinstance(outcome, c.FinishDevelop) and develop.asks_back(loop, context, outcome)
    after = _record(context, loop, outcome, chooses_next=not asks_back)
    is_done = len(after.completed_actions) > len(loop.completed_actions)
    if is_done and asks_back and isinstance(outcome, c.FinishDevelop):
        return develop.ask_back(loop, context, worker_sandbox, outcome)
    return after


def _perform(
    loop: Loop, context: WorkerContext, worker_sandbox: WorkerSandbox, action: Action, action_id: str
) -> c.Proposal:
    match action:
        case Action.INIT:
            return init.perform(loop, context, action_id)
        case Action.DEVELOP:
            task = loop.task(loop.task_id_under_way or "")
            if task is None:
                return c.AbandonAction(why="its task was removed")
            return develop.perform(loop, context, worker_sandbox, action_id, task)
        case Action.DEBUG:
            find_cause = debug.perform if context.judge is None else repair.perform
            return find_cause(loop, context, action_id)
        case Action.VALIDATE:
            return validate.perform(loop, context, action_id)
        case Action.COMPLETE:
            return complete.perform(loop, context, action_id)


def _record(context: WorkerContext, loop: Loop, outcome: c.Proposal, *, chooses_next: bool) -> Loop:
    """Record the outcome, and begin the next action while the loop is open."""
    with context.store.changing(loop.loop_id) as opened:
        try:
            opened.apply(outcome, WORKER)
            return _choose(opened, context) if chooses_next else opened.loop
        except LoopRefused as refusal:
            if isinstance(opened.loop.phase, Held):
                return opened.loop  # the action stays under way until the hold is lifted
            # A person stopped the loop or removed the task meanwhile: the result does not count.
            error = ErrorLine(action=WORKER, message=refusal.message, timestamp=stamp(context.clock()))
            opened.apply(c.AbandonAction(why=refusal.message), WORKER)
            opened.apply(e.ErrorNoted(error=error), WORKER)
            if refusal.blocker != "not_running" and isinstance(opened.loop.phase, Running):
                # A new try would be refused again, so a person has to look.
                opened.apply(e.HoldPlaced(hold=context.blocked(refusal.blocker, refusal.message)), WORKER)
            return opened.loop


def _leave(context: WorkerContext, loop: Loop, *proposals: c.Proposal) -> Loop:
    """Record why the action ends or waits. A person or another hold may have stopped the loop meanwhile."""
    with context.store.changing(loop.loop_id) as opened:
        for proposal in proposals:
            with suppress(LoopRefused):
                opened.apply(proposal, WORKER)
        return opened.loop
