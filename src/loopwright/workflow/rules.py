"""The workflow's rules: what a command leads to in a state, and why not. Pure and total.

A stage is entered only when nothing blocks it and somebody's consent to exactly this is on record.
"""

from __future__ import annotations

import msgspec

from loopwright.workflow import commands as c
from loopwright.workflow import events as e
from loopwright.workflow.blockers import Blocker
from loopwright.workflow.evolve import evolve, is_given_again
from loopwright.workflow.model import (
    Approved,
    Archived,
    Building,
    Clarifying,
    Done,
    Key,
    Planning,
    Requested,
    Reviewing,
    Transition,
    Workflow,
)
from loopwright.workflow.model import Decision as Question
from loopwright.workflow.standing import authorization_blockers, void_parts

__all__ = ["Accepted", "Deliver", "Effect", "Refused", "decide", "evolve"]


class Deliver(msgspec.Struct, frozen=True):
    """The result must be handed over now; then the stage is entered."""


Effect = Deliver


class Accepted(msgspec.Struct, frozen=True):
    """What to append, and what to do."""

    events: tuple[e.Event, ...]
    effects: tuple[Effect, ...] = ()


class Refused(msgspec.Struct, frozen=True):
    """Nothing happens: a typed error, its sentence, what blocks and what to type."""

    error: str
    message: str
    next: str
    blockers: tuple[Blocker, ...] = ()


Decision = Accepted | Refused
_GATES = {
    Transition.CLARIFY_PLAN: "clarify_readiness_blocked",
    Transition.PLAN_BUILD: "plan_review_gate_blocked",
    Transition.BUILD_REVIEW: "build_review_gate_blocked",
    Transition.REVIEW_DONE: "review_gate_blocked",
}
SCOPE_BLOCKED = "review_done_scope_blocked"
_SCOPE = ("partial_scope_remaining", "completion_claim_", "implemented_scope_mismatch")


def decide(workflow: Workflow | None, command: c.Command) -> Decision:
    """What a command leads to."""
    if isinstance(command, c.Begin):
        if workflow is not None:
            return _refused(workflow, "workflow_exists", f"the workflow {workflow.slug} is there already")
        return Accepted(_begun(command))
    if workflow is None:
        return Refused(
            "workflow_not_initialized", "there is no such workflow", 'loopwright clarify SLUG --idea "…" begins one'
        )
    if isinstance(workflow.at, Archived) and not isinstance(
        command, c.KeepDocuments | c.CountCost | c.SettleArchive | c.Undo
    ):
        said = f"the workflow {workflow.slug} is archived: the specs hold it"
        return _refused(workflow, "invalid_transition", said)
    match command:
        case c.RequestApproval():
            return _requested(workflow, command)
        case c.Approve():
            return _approved(workflow, command)
        case c.Reject(transition=transition, reason=reason, by=by):
            return _on_stage(workflow, transition) or Accepted(
                (e.ApprovalRefused(transition=transition, reason=reason, by=by),)
            )
        case c.Enter():
            return _entered(workflow, command)
        case c.FitDelta() | c.GoBefore() | c.Archive() | c.SettleArchive():
            return _archiving(workflow, command)
        case c.BeginFlight() | c.FlyAt() | c.EndFlight():
            return _flying(workflow, command)
        case _:
            return _work(workflow, command)


def _begun(command: c.Begin) -> tuple[e.Event, ...]:
    begun = e.WorkflowBegun(
        slug=command.slug, idea=command.idea, profile=command.profile, origin=command.origin, change=command.change
    )
    return (begun, e.DocumentsKept(documents=command.documents)) if command.documents else (begun,)


def _requested(workflow: Workflow, command: c.RequestApproval) -> Decision:
    transition = command.transition
    approval = workflow.approval(transition.key)
    if workflow.stage is not transition.origin or command.standing.readiness.before(transition.target):
        return Accepted(())
    if isinstance(approval, Approved) and not void_parts(approval, command.standing):
        return Accepted(())
    if isinstance(approval, Requested) and approval.transition is transition:
        return Accepted(())
    return Accepted((e.ApprovalRequested(transition=transition),))


def _approved(workflow: Workflow, command: c.Approve) -> Decision:
    transition = command.transition
    if not _is_renewal(workflow, command) and (refusal := _on_stage(workflow, transition)) is not None:
        return refusal
    if (refusal := _rollback_refusal(workflow, transition, command.rationale)) is not None:
        return refusal
    if (refusal := _gate_refusal(workflow, command)) is not None:
        return refusal
    given = e.ApprovalGiven(
        transition=transition,
        subject=command.standing.subject(transition),
        by=command.by,
        rationale=command.rationale,
        seals=command.seals,
    )
    # The last consent takes effect at once: nobody types another command for it.
    return Accepted((given,), (Deliver(),) if transition is Transition.REVIEW_DONE else ())


def _is_renewal(workflow: Workflow, command: c.Approve) -> bool:
    """What was approved changed under the work, and somebody accepts it as it is now."""
    before = workflow.approval(command.transition.key)
    return is_given_again(workflow, command.transition) and bool(void_parts(before, command.standing))


def _gate_refusal(workflow: Workflow, command: c.Approve) -> Refused | None:
    transition = command.transition
    blockers = command.standing.readiness.before(transition.target)
    if _is_renewal(workflow, command):
        # That it is void is what this consent answers.
        blockers = tuple(one for one in blockers if one.code != f"approval_void_{transition.key.value}")
    if transition.is_rollback or not blockers:
        return None
    if transition is Transition.REVIEW_DONE:
        if workflow.review is None or workflow.review.verdict != "approve":
            return _blocked(workflow, "review_not_approved", "the review did not approve it", blockers)
        if any(one.code.startswith(_SCOPE) for one in blockers):
            return _blocked(workflow, SCOPE_BLOCKED, "part of the scope is left", blockers)
    if any(one.code.startswith(("missing_", "plan_package_")) for one in blockers):
        return _blocked(workflow, "plan_package_incomplete", "the plan is not whole", blockers)
    said = f"{workflow.slug} is not ready for {transition.target.value}"
    return _blocked(workflow, _GATES[transition], said, blockers)


def _rollback_refusal(workflow: Workflow, transition: Transition, rationale: str) -> Refused | None:
    if not transition.is_rollback:
        return None
    target = transition.target
    if workflow.review is None or workflow.review.verdict != "request-changes" or workflow.review.target is not target:
        said = f"the review did not ask to go back to {target.value}"
        return _refused(workflow, f"review_{target.value}_fix_not_requested", said)
    if transition.key is Key.ROLLBACK and not (rationale.strip() or workflow.review.rationale.strip()):
        return _refused(workflow, "rollback_rationale_required", "going back needs a reason: --rationale")
    return None


def _on_stage(workflow: Workflow, transition: Transition) -> Refused | None:
    if workflow.stage is transition.origin:
        return None
    said = f"{workflow.slug} is at {workflow.stage.value}, not at {transition.origin.value}"
    return _refused(workflow, "approval_from_stage_mismatch", said)


def _entered(workflow: Workflow, command: c.Enter) -> Decision:
    transition = command.transition
    if workflow.stage is not transition.origin:
        said = f"{workflow.slug} is at {workflow.stage.value}: {transition.value} can't be made from there"
        return _refused(workflow, "invalid_transition", said)
    blockers = authorization_blockers(workflow, transition, command.standing)
    if blockers:
        return _blocked(workflow, "approved_transition_required", blockers[0].message, blockers)
    if not transition.is_rollback and (blockers := command.standing.readiness.before(transition.target)):
        said = f"{workflow.slug} is not ready for {transition.target.value}"
        return _blocked(workflow, _GATES[transition], said, blockers)
    entered = e.StageEntered(
        transition=transition,
        subject=command.standing.subject(transition).hash,
        delivery=command.delivery,
        from_review=command.from_review,
    )
    return Accepted((entered,))


def _work(workflow: Workflow, command: c.Command) -> Decision:  # noqa: C901, PLR0912 -- a case per command
    match workflow.at, command:
        case _, c.KeepDocuments(documents=documents):
            fresh = {name: digest for name, digest in documents.items() if workflow.documents.get(name) != digest}
            return Accepted((e.DocumentsKept(documents=fresh),) if fresh else ())
        case _, c.BeginTurn(turn=turn):
            return Accepted((e.TurnBegun(turn=turn),))
        case _, c.CountCost(cost=cost, turn=turn):
            return Accepted((e.CostCounted(cost=cost, turn=turn),))
        case _, c.NoteTakeover(takeover=takeover):
            return Accepted((e.AgentChanged(takeover=takeover),))
        case Clarifying(), c.SetProfile(profile=profile):
            return Accepted(() if profile == workflow.profile else (e.ProfileSet(profile=profile),))
        case Clarifying(), c.GiveSpec(source=source, by=by):
            return Accepted((e.SpecGiven(source=source, by=by),))
        case Clarifying(), c.TakeRound(round=taken):
            return Accepted((e.RoundTaken(round=taken),))
        case Clarifying(), c.AnswerItem(item=item, by=by):
            return Accepted((e.ItemAnswered(item=item, by=by),))
        case Planning(), c.TakePlanRound(round=taken):
            return Accepted((e.PlanRoundTaken(round=taken),))
        case Planning() | Building(), c.RecordControls(controls=controls):
            return Accepted((e.ChecksControlled(controls=controls),))
        case Planning(), c.NoteSpecs(base=base):
            return Accepted(() if base == workflow.base else (e.SpecsNoted(base=base),))
        case Planning() | Building() | Reviewing(), c.Sign(signature=signature):
            known = workflow.is_signed(signature.what, signature.digest)
            return Accepted(() if known else (e.Signed(signature=signature),))
        case Building(), c.AskDecision(decision=decision):
            return _asked(workflow, decision)
        case _, c.AnswerDecision(id=name, answer=answer, by=by):
            return _decided(workflow, name, answer, by)
        case Building(loop_id=now, deslop=was), c.DriveBuild(loop_id=loop_id, deslop=deslop):
            same = (now, was) == (loop_id, deslop)
            return Accepted(() if same else (e.BuildDriven(loop_id=loop_id, deslop=deslop),))
        case Building(), c.EndLane(lane=lane, status=status):
            return Accepted((e.LaneEnded(lane=lane, status=status),))
        case Building(), c.RecordVerification(verification=verification):
            return Accepted((e.WorkVerified(verification=verification),))
        case Reviewing(), c.RecordReview(review=review):
            return Accepted((e.WorkReviewed(review=review),))
        case Done(delivery=delivery) | Archived(delivery=delivery), c.Undo(by=by) if delivery is not None:
            return Accepted((e.ChangeUndone(by=by),))
        case _, c.Undo():
            return _refused(workflow, "nothing_delivered", f"nothing of {workflow.slug} was delivered")
        case _:
            said = f"{workflow.slug} is at {workflow.stage.value}: that can't be done there"
            return _refused(workflow, "invalid_transition", said)


def _flying(workflow: Workflow, command: c.BeginFlight | c.FlyAt | c.EndFlight) -> Decision:
    """What an autopilot does is on record only while it is in force."""
    flight = workflow.flight
    if isinstance(command, c.BeginFlight):
        # One that died is begun anew: whoever asks has made sure that no other is at it.
        return Accepted((e.FlightBegun(by=command.by, limits=command.limits, before=command.before),))
    if flight is None or flight.ended is not None:
        return _refused(workflow, "invalid_transition", f"no autopilot is in force for {workflow.slug}")
    if isinstance(command, c.FlyAt):
        return Accepted(() if flight.phase is command.phase else (e.FlightAt(phase=command.phase),))
    return Accepted((e.FlightEnded(reason=command.reason, said=command.said),))


def _archiving(workflow: Workflow, command: c.FitDelta | c.GoBefore | c.Archive | c.SettleArchive) -> Decision:
    match workflow.at, command:
        case Done(), c.FitDelta(base=base, by=by, why=why):
            return Accepted((e.DeltaFitted(base=base, by=by, why=why),))
        case Done(), c.GoBefore(over=over, by=by):
            return Accepted(() if over in workflow.goes_before else (e.PrecedenceGiven(over=over, by=by),))
        case Done(), c.Archive(standing=standing, folder=folder, writes=writes):
            blockers = standing.readiness.archive
            if blockers:
                error = "archive_scope_blocked" if blockers[0].code.startswith(_SCOPE) else "archive_blocked"
                return _blocked(workflow, error, f"{workflow.slug} can't be archived", blockers)
            return Accepted((e.ChangeArchived(folder=folder, writes=writes),))
        case Archived(pending=pending), c.SettleArchive():
            return Accepted((e.ArchiveSettled(),) if pending else ())
        case _, c.Archive():
            said = f"{workflow.slug} is at {workflow.stage.value}; only what is done is archived"
            return _refused(workflow, "archive_requires_done_workflow", said)
        case _:
            said = f"{workflow.slug} is at {workflow.stage.value}: that can't be done there"
            return _refused(workflow, "invalid_transition", said)


def _asked(workflow: Workflow, decision: Question) -> Decision:
    """Never asked twice: the same id, or the same question in other words' case, is the one that is there."""
    asked = decision.question.casefold().split()
    if any(one.id == decision.id or one.question.casefold().split() == asked for one in workflow.decisions):
        return Accepted(())
    return Accepted((e.DecisionAsked(decision=decision),))


def _decided(workflow: Workflow, name: str, answer: str, by: str) -> Decision:
    found = next((one for one in workflow.decisions if one.id == name), None)
    if found is None:
        known = ", ".join(one.id for one in workflow.decisions if one.answer is None) or "none is open"
        return _refused(workflow, "unknown_decision", f"{workflow.slug} asked no {name} (open: {known})")
    if found.answer is not None:
        return _refused(workflow, "decision_answered", f"{name} was answered by {found.by}: {found.answer}")
    return Accepted((e.DecisionAnswered(id=name, answer=answer, by=by),))


def _refused(workflow: Workflow, error: str, message: str) -> Refused:
    return Refused(error, message, f"loopwright status {workflow.slug}")


def _blocked(workflow: Workflow, error: str, message: str, blockers: tuple[Blocker, ...]) -> Refused:
    return Refused(error, message, blockers[0].next or f"loopwright status {workflow.slug}", blockers)
