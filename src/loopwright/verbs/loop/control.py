"""Control of a loop by a person: new, pause, resume, stop, retry, complete, accept, answer, choose, mode."""

from __future__ import annotations

import secrets

from loopwright.kernel.clock import stamp
from loopwright.kernel.locks import try_lock
from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop.model import Action, Held, Hold, Holder, Loop, Mode
from loopwright.loop.own_work import hand_over
from loopwright.loop.rules import decide
from loopwright.loop.work_files import note_tree
from loopwright.stages.context import Context, loops_of
from loopwright.stages.loop_control import NO_LIMITS, LoopRequest
from loopwright.stages.loop_control import answer_decision as answer
from loopwright.stages.loop_control import create_loop as new_loop
from loopwright.stages.loop_control import lift_holds as resume
from loopwright.stages.loop_texts import required_text
from loopwright.stages.loop_worker import settle_after_a_dead_worker
from loopwright.stages.person import actor, require_own_words, require_person

__all__ = [
    "NO_LIMITS",
    "LoopRequest",
    "accept",
    "answer",
    "choose",
    "complete",
    "is_held",
    "new_loop",
    "pause",
    "resume",
    "retry",
    "set_mode",
    "stop",
]


def pause(context: Context, loop_id: str, *, revision: int | None = None) -> Loop:
    """Hold the loop for the operator; its worker freezes all child processes within a second."""
    by = actor()
    hold = Hold(holder=Holder.OPERATOR, code="paused", message=f"paused by {by}", since=stamp(context.clock()))
    return _apply(context, loop_id, e.HoldPlaced(hold=hold), revision)


def stop(context: Context, loop_id: str, *, revision: int | None = None) -> Loop:
    """End the loop; its worker ends all child processes. Children of a dead worker are ended here."""
    stopped = _apply(context, loop_id, e.LoopStopped(by=actor()), revision)
    lock = try_lock(context.layout.loop_worker(loop_id)) if stopped.worker is not None else None
    if lock is not None:
        try:
            settle_after_a_dead_worker(context, loop_id)
        finally:
            lock.release()
    return stopped


def retry(context: Context, loop_id: str, *, max_iterations: int | None = None, revision: int | None = None) -> Loop:
    """Start another attempt; `max_iterations` sets a new limit."""
    if max_iterations is not None:
        require_person(context.environment, "loop retry --max-iterations")
    return _apply(context, loop_id, c.Retry(max_iterations=max_iterations), revision)


def complete(context: Context, loop_id: str, *, reason: str, revision: int | None = None) -> Loop:
    """Close the loop as done by the decision of a person; the reason is recorded."""
    require_person(context.environment, "loop complete")
    return _apply(context, loop_id, c.Finish(forced=required_text(context, "the reason", reason)), revision)


def accept(
    context: Context, loop_id: str, *, reason: str = "", without_protected: bool = False, revision: int | None = None
) -> Loop:
    """Accept work that nothing proves, with its protected changes or without them; person and reason are recorded."""
    require_person(context.environment, "loop accept")
    require_own_words(reason)
    text = required_text(context, "the reason", reason) if reason else ""
    command, loops = c.Accept(by=actor(), reason=text, without_protected=without_protected), loops_of(context)
    with loops.changing(loop_id, revision=revision) as opened:
        loop, progress = opened.loop, loops.paths(loop_id).progress
        reduced = loop.validation.without_protected
        tree = reduced if without_protected else loop.tree
        if tree is not None and reduced is not None and isinstance(decide(loop, command), c.Accepted):
            # The patch comes first, so that a completed loop offers no other. An earlier try may have died after this.
            hand_over(tree, progress, context.project)
            note_tree(progress, tree)
        return opened.apply(command, actor())


def is_held(loop: Loop) -> bool:
    """Whether the loop is held."""
    return isinstance(loop.phase, Held)


def _apply(context: Context, loop_id: str, change: c.Proposal, revision: int | None) -> Loop:
    with loops_of(context).changing(loop_id, revision=revision) as opened:
        return opened.apply(change, actor())


def choose(context: Context, loop_id: str, action: Action, *, revision: int | None = None) -> Loop:
    """Choose the next action; the worker of the loop carries it out."""
    require_person(context.environment, "loop choose")
    return _apply(context, loop_id, c.Choose(action=action, action_id=f"a-{secrets.token_hex(4)}"), revision)


def set_mode(context: Context, loop_id: str, mode: Mode, *, revision: int | None = None) -> Loop:
    """From now on, let the rules or a person choose each action."""
    require_person(context.environment, "loop mode")
    return _apply(context, loop_id, e.ModeSet(mode=mode), revision)
