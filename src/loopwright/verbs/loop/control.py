"""`loopwright loop new, pause, resume, stop, retry, complete, accept`: a person steers a loop; no worker is needed."""

from __future__ import annotations

import secrets

from loopwright.kernel.clock import stamp
from loopwright.kernel.locks import try_lock
from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop.model import Action, Budget, Held, Hold, Holder, Loop, Mode
from loopwright.stages.context import Context, loops_of
from loopwright.stages.loop_control import NO_LIMITS, LoopRequest, create_loop, lift_holds
from loopwright.stages.loop_words import answer_decision, fit_words
from loopwright.stages.loop_worker import settle_after_a_dead_worker
from loopwright.stages.person import actor, require_person

__all__ = [
    "NO_LIMITS",
    "LoopRequest",
    "accept",
    "answer",
    "choose",
    "complete",
    "give_iterations",
    "is_held",
    "new_loop",
    "pause",
    "resume",
    "retry",
    "set_mode",
    "stop",
]


def new_loop(context: Context, request: LoopRequest) -> Loop:
    """Make a loop. It does nothing until it is started."""
    return create_loop(context, request)


def pause(context: Context, loop_id: str, *, revision: int | None = None) -> Loop:
    """Hold it for the operator; a worker freezes what it runs within a second."""
    by = actor()
    hold = Hold(holder=Holder.OPERATOR, code="paused", message=f"paused by {by}", since=stamp(context.clock()))
    return _apply(context, loop_id, e.HoldPlaced(hold=hold), revision)


def resume(
    context: Context,
    loop_id: str,
    *,
    budget: Budget = NO_LIMITS,
    task_budget: Budget = NO_LIMITS,
    revision: int | None = None,
) -> Loop:
    """Lift every hold that a person can lift; the budget's hold too, if the budget now has room."""
    require_person(context.environment, "loop resume")
    return lift_holds(context, loop_id, budget=budget, task_budget=task_budget, revision=revision)


def stop(context: Context, loop_id: str, *, revision: int | None = None) -> Loop:
    """End it; a worker ends every child. What a worker that died left running is ended here."""
    stopped = _apply(context, loop_id, e.LoopStopped(by=actor()), revision)
    lock = try_lock(context.layout.loop_worker(loop_id)) if stopped.worker is not None else None
    if lock is not None:
        try:
            settle_after_a_dead_worker(context, loop_id, actor())
        finally:
            lock.release()
    return stopped


def retry(context: Context, loop_id: str, *, max_iterations: int | None = None, revision: int | None = None) -> Loop:
    """Another attempt; with more iterations where those were used up."""
    if max_iterations is not None:
        require_person(context.environment, "loop retry --max-iterations")
    return _apply(context, loop_id, c.Retry(max_iterations=max_iterations), revision)


def give_iterations(context: Context, loop_id: str, most: int, *, revision: int | None = None) -> Loop:
    """Another limit."""
    require_person(context.environment, "giving a loop more iterations")
    return _apply(context, loop_id, e.IterationsGiven(max_iterations=most), revision)


def complete(context: Context, loop_id: str, *, reason: str, revision: int | None = None) -> Loop:
    """A person says that it is done, and why: that stays on record."""
    require_person(context.environment, "loop complete")
    return _apply(context, loop_id, c.Finish(forced=fit_words(context, "the reason", reason)), revision)


def accept(context: Context, loop_id: str, *, reason: str = "", revision: int | None = None) -> Loop:
    """A person takes work that nothing proves: who and why stay on record."""
    require_person(context.environment, "loop accept")
    said = fit_words(context, "the reason", reason) if reason else ""
    return _apply(context, loop_id, c.Accept(by=actor(), reason=said), revision)


def is_held(loop: Loop) -> bool:
    """Whether it may not go on."""
    return isinstance(loop.phase, Held)


def _apply(context: Context, loop_id: str, change: c.Proposal, revision: int | None) -> Loop:
    with loops_of(context).changing(loop_id, revision=revision) as opened:
        return opened.apply(change, actor())


def answer(context: Context, loop_id: str, decision_id: str, text: str, *, revision: int | None = None) -> Loop:
    """Put the answer on record; the hold is lifted when nothing is open any more."""
    require_person(context.environment, "loop answer")
    return answer_decision(context, loop_id, decision_id, text, revision=revision)


def choose(context: Context, loop_id: str, action: Action, *, revision: int | None = None) -> Loop:
    """What is next; whoever drives the loop then does it."""
    require_person(context.environment, "loop choose")
    with loops_of(context).changing(loop_id, revision=revision) as opened:
        return opened.apply(c.Choose(action=action, action_id=f"a-{secrets.token_hex(4)}"), actor())


def set_mode(context: Context, loop_id: str, mode: Mode, *, revision: int | None = None) -> Loop:
    """Let the rules choose from now on, or a person."""
    require_person(context.environment, "loop mode")
    with loops_of(context).changing(loop_id, revision=revision) as opened:
        return opened.apply(e.ModeSet(mode=mode), actor())
