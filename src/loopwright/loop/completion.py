"""When a loop may complete, and what holds it for a person instead. Pure.

An agent's claim is no reason. Neither are passing tests if nothing changed or tests were lost.
"""

from __future__ import annotations

from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop.choice import all_done, failed_tasks
from loopwright.loop.commands import Accepted, Verdict, refused
from loopwright.loop.guidance import fails_as_it_is, lifted_by
from loopwright.loop.model import Action, Completed, ErrorLine, Hold, Holder, Loop, Running, TaskKind
from loopwright.loop.proof import CHANGED_TEST, NOTHING_CHANGED, PROTECTED_CHANGES, WAITS_FOR_A_PERSON, Doubt

_NO_CHANGE = Doubt(code=NOTHING_CHANGED, message="nothing changed: all files are as they were before the work")


def doubts_of(loop: Loop) -> tuple[Doubt, ...]:
    """Why the work is not proven although its tests pass; a build has gates of its own."""
    if loop.workflow is not None:
        return ()
    # A loop of analyses changes nothing.
    is_analysis = bool(loop.tasks) and all(task.mode == "analysis" for task in loop.tasks)
    if is_analysis or (loop.tree is not None and loop.tree.has_changes):
        return loop.validation.doubts
    return (_NO_CHANGE,)


def finish(loop: Loop, forced: str | None) -> Verdict:
    """Complete a running loop: by its tests, or by a person's reason."""
    is_validated, doubts = _is_validated(loop), doubts_of(loop)
    if is_validated and not doubts:
        return Accepted((e.LoopCompleted(workflow=loop.workflow),))
    if forced:
        return Accepted((e.LoopCompleted(forced=forced),))
    if not is_validated:
        return refused(
            "not_validated",
            f"the loop {loop.loop_id} has no passed validation of its current work",
            "let it validate, or force it with a reason that is recorded",
        )
    return refused("unproven", _message(doubts), "let its worker complete it: a person is asked then")


def held_unproven(loop: Loop, action_id: str) -> Accepted | None:
    """Hold a loop that only its doubts keep from completing; None if something else does."""
    doubts = doubts_of(loop)
    if not isinstance(loop.phase, Running) or not doubts or not (_is_validated(loop) or has_known_failures(loop)):
        return None
    said = _message(doubts)
    diff = f"; the diff: {loop.loop_id}.progress/changes.patch" if doubts != (_NO_CHANGE,) else ""
    hold = Hold(holder=Holder.PROOF, code=doubts[0].code, message=f"{said}{diff}", since=loop.updated_at)
    return Accepted(
        (
            e.ActionAbandoned(action_id=action_id, why=WAITS_FOR_A_PERSON),
            # The next builder is told what was wrong, if a person lifts the hold.
            e.ErrorNoted(
                error=ErrorLine(action=Action.COMPLETE, message=said, timestamp=loop.updated_at), is_hold=True
            ),
            e.HoldPlaced(hold=hold),
        )
    )


def has_known_failures(loop: Loop) -> bool:
    """Whether only tests that failed before the work keep it from being done: a person may accept that."""
    left = [task for task in loop.pending if task.kind is not TaskKind.FIX]
    return loop.is_validated and bool(loop.validation.unfixed) and not left and not failed_tasks(loop)


def is_accepted(loop: Loop) -> bool:
    """Whether a person accepted work that nothing proves."""
    return isinstance(loop.phase, Completed) and loop.phase.accepted_by is not None


def accept(loop: Loop, command: c.Accept) -> Verdict:
    """A person accepts the work as it is. Without a reason the accepted doubts are recorded."""
    unproven = _hold_for_proof(loop)
    if unproven is None:
        name = loop.loop_id
        message = f"the loop {name} does not wait to be accepted"
        return refused("nothing_to_accept", message, f"`loopwright loop show {name}` shows its state")
    reason = command.reason or unproven.message
    if not command.without_protected:
        if fails_as_it_is(loop):
            return refused(
                "protected_part_fails",
                f"the tests fail on the work of the loop {loop.loop_id} with its changes to protected files",
                lifted_by(unproven, loop),
            )
        return Accepted((e.LoopCompleted(forced=reason, accepted_by=command.by),))
    if (tree := loop.validation.without_protected) is None:
        return _nothing_to_leave_out(loop, unproven)
    reason = f"{reason}; the protected changes are left out"
    return Accepted((e.WorkKept(tree=tree), e.LoopCompleted(forced=reason, accepted_by=command.by)))


def _nothing_to_leave_out(loop: Loop, unproven: Hold) -> Verdict:
    name, codes = loop.loop_id, [doubt.code for doubt in loop.validation.doubts]
    message = f"the work of the loop {name} changed no protected file"
    if any(code == PROTECTED_CHANGES or code.startswith(CHANGED_TEST) for code in codes):
        message = f"nothing is left of the loop {name} on which the tests pass without its protected changes"
    return refused("nothing_to_leave_out", message, lifted_by(unproven, loop))


def is_unproven(loop: Loop) -> bool:
    """Whether the loop waits for a person to accept its work."""
    return _hold_for_proof(loop) is not None


def _hold_for_proof(loop: Loop) -> Hold | None:
    return next((hold for hold in loop.holds if hold.holder is Holder.PROOF), None)


def _is_validated(loop: Loop) -> bool:
    return loop.is_validated and loop.validation.holds and all_done(loop)


def accepted_doubts(loop: Loop) -> str:
    """Why nothing proves the work that a person accepted; empty if the person gave no other reason."""
    reason, doubts = getattr(loop.phase, "forced", None) or "", _message(doubts_of(loop))
    return "" if reason.startswith(doubts) else doubts


def _message(doubts: tuple[Doubt, ...]) -> str:
    return "; ".join(doubt.message for doubt in doubts)
