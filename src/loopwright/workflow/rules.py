"""The rules of a workflow: what a proposal leads to in a state, and why not. Pure and total.

A stage is entered only when no blocker exists and an approval of the exact current state is stored.
"""

from __future__ import annotations

import msgspec

from loopwright.workflow import commands as c
from loopwright.workflow import events as e
from loopwright.workflow.blockers import Blocker, Family
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
    Signature,
    Transition,
    Workflow,
)
from loopwright.workflow.standing import authorization_blockers, why_void
from loopwright.workflow.verification import RULES, is_about_protected

__all__ = ["Accepted", "Deliver", "Effect", "Refused", "decide", "evolve"]


class Deliver(msgspec.Struct, frozen=True):
    """Deliver the result now, then enter the stage."""


Effect = Deliver


class Accepted(msgspec.Struct, frozen=True):
    """The events to append, and the effects to perform."""

    events: tuple[e.Event, ...]
    effects: tuple[Effect, ...] = ()


class Refused(msgspec.Struct, frozen=True):
    """Nothing changes: an error code, a sentence, the next command and the blockers."""

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
_SCOPE = (Family.PARTIAL_SCOPE_REMAINING, Family.COMPLETION_CLAIM, Family.IMPLEMENTED_SCOPE_MISMATCH)
_PACKAGE = (
    Family.PLAN_PACKAGE, Family.MISSING_PRD, Family.MISSING_TEST_SPEC, Family.MISSING_PLAN_ARTIFACT,
    Family.MISSING_CHANGE_ARTIFACTS, Family.MISSING_CHANGE_ARTIFACT, Family.MISSING_SPEC_DELTA_PATH,
)  # fmt: skip


def decide(workflow: Workflow | None, proposal: c.Proposal) -> Decision:
    """The events that a proposal leads to, or why the rules refuse it."""
    if isinstance(proposal, c.Begin):
        if workflow is not None:
            return _refused(workflow, "workflow_exists", f"the workflow {workflow.slug} already exists")
        return Accepted(_begun(proposal))
    if workflow is None:
        return Refused(
            "workflow_not_initialized", "the workflow does not exist", 'loopwright clarify SLUG --idea "…" starts one'
        )
    if isinstance(workflow.at, Archived) and not isinstance(
        proposal, e.DocumentsKept | e.CostCounted | e.ArchiveSettled | e.ChangeUndone
    ):
        message = f"the workflow {workflow.slug} is archived, and its specs are merged"
        return _refused(workflow, "invalid_transition", message)
    match proposal:
        case c.RequestApproval():
            return _requested(workflow, proposal)
        case c.Approve():
            return _approved(workflow, proposal)
        case e.ApprovalRefused(transition=transition):
            return _on_stage(workflow, transition) or Accepted((proposal,))
        case c.Enter():
            return _entered(workflow, proposal)
        case e.DeltaFitted() | e.PrecedenceGiven() | c.Archive() | e.ArchiveSettled():
            return _archiving(workflow, proposal)
        case e.FlightBegun() | e.FlightAt() | e.FlightEnded():
            return _flying(workflow, proposal)
        case _:
            return _work(workflow, proposal)


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
    if isinstance(approval, Approved) and not why_void(approval, command.standing):
        return Accepted(())
    if isinstance(approval, Requested) and approval.transition is transition:
        return Accepted(())
    if command.standing.is_rejected(transition.target):
        return Accepted(())  # not offered again until its content changes; a person can still approve it
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
        test_command=command.test_command,
        rules=RULES,
    )
    # The last approval takes effect at once: no further command is needed.
    return Accepted((given,), (Deliver(),) if transition is Transition.REVIEW_DONE else ())


def _is_renewal(workflow: Workflow, command: c.Approve) -> bool:
    """Whether this approves again what changed under the work."""
    before = workflow.approval(command.transition.key)
    return is_given_again(workflow, command.transition) and bool(why_void(before, command.standing))


def _gate_refusal(workflow: Workflow, command: c.Approve) -> Refused | None:
    transition = command.transition
    blockers = command.standing.blockers_for(transition.target, command.by)
    if _is_renewal(workflow, command):
        # The new approval answers this blocker.
        answered = f"{Family.APPROVAL_VOID.code}{transition.key.value}"
        blockers = tuple(blocker for blocker in blockers if blocker.code != answered)
    if transition.is_rollback or not blockers:
        return None
    if transition is Transition.REVIEW_DONE:
        if workflow.review is None or workflow.review.verdict != "approve":
            return _blocked(workflow, "review_not_approved", "the review did not approve the work", blockers)
        if any(blocker.family in _SCOPE for blocker in blockers):
            return _blocked(workflow, SCOPE_BLOCKED, "part of the scope is unfinished", blockers)
    if any(blocker.family in _PACKAGE for blocker in blockers):
        return _blocked(workflow, "plan_package_incomplete", "the plan is incomplete", blockers)
    message = f"{workflow.slug} is not ready for {transition.target.value}"
    return _blocked(workflow, _GATES[transition], message, blockers)


def _rollback_refusal(workflow: Workflow, transition: Transition, rationale: str) -> Refused | None:
    if not transition.is_rollback:
        return None
    target = transition.target
    if workflow.review is None or workflow.review.verdict != "request-changes" or workflow.review.target is not target:
        message = f"the review did not ask to go back to {target.value}"
        return _refused(workflow, f"review_{target.value}_fix_not_requested", message)
    if transition.key is Key.ROLLBACK and not (rationale.strip() or workflow.review.rationale.strip()):
        return _refused(workflow, "rollback_rationale_required", "going back needs a reason: --rationale")
    return None


def _on_stage(workflow: Workflow, transition: Transition) -> Refused | None:
    if workflow.stage is transition.origin:
        return None
    message = f"{workflow.slug} is at {workflow.stage.value}, not at {transition.origin.value}"
    return _refused(workflow, "approval_from_stage_mismatch", message)


def _entered(workflow: Workflow, command: c.Enter) -> Decision:
    transition = command.transition
    if workflow.stage is not transition.origin:
        message = f"{workflow.slug} is at {workflow.stage.value}: {transition.value} is not possible from there"
        return _refused(workflow, "invalid_transition", message)
    blockers = authorization_blockers(workflow, transition, command.standing)
    if blockers:
        return _blocked(workflow, "approved_transition_required", blockers[0].message, blockers)
    approval = workflow.approval(transition.key)
    by = approval.by if isinstance(approval, Approved) else ""
    if not transition.is_rollback and (blockers := command.standing.blockers_for(transition.target, by)):
        message = f"{workflow.slug} is not ready for {transition.target.value}"
        return _blocked(workflow, _GATES[transition], message, blockers)
    entered = e.StageEntered(
        transition=transition, subject=command.standing.subject(transition).hash, delivery=command.delivery
    )
    return Accepted((entered,))


def _work(workflow: Workflow, proposal: c.Proposal) -> Decision:  # noqa: C901, PLR0912 -- a case per proposal
    match workflow.at, proposal:
        case _, e.DocumentsKept(documents=documents):
            fresh = {name: digest for name, digest in documents.items() if workflow.documents.get(name) != digest}
            return Accepted((e.DocumentsKept(documents=fresh),) if fresh else ())
        case _, e.TurnBegun() | e.CostCounted() | e.AgentChanged() as fact:
            return Accepted((fact,))
        case Clarifying(), e.ProfileSet(profile=profile) as fact:
            return _unless(profile == workflow.profile, fact)
        case Clarifying(), e.SpecGiven() | e.RoundTaken() | e.ItemAnswered() as fact:
            return Accepted((fact,))
        case Planning(), e.PlanRoundTaken() as fact:
            return Accepted((fact,))
        case Planning() | Building(), e.ChecksControlled() as fact:
            return Accepted((fact,))
        case Planning(), e.SpecsNoted(base=base) as fact:
            return _unless(base == workflow.base, fact)
        case Planning() | Building() | Reviewing(), e.Signed(signature=signature) as fact:
            return _unless(_stands(workflow, signature), fact)
        case Building(), e.DecisionAsked() as fact:
            return _unless(_is_asked(workflow, fact), fact)
        case _, e.DecisionAnswered() as fact:
            return _answered(workflow, fact)
        case Building(loop_id=now, deslop=was), e.BuildDriven(loop_id=loop_id, deslop=deslop) as fact:
            return _unless((now, was) == (loop_id, deslop), fact)
        case Building(), e.LaneEnded() | e.WorkVerified() as fact:
            return Accepted((fact,))
        case Reviewing(), e.WorkReviewed() as fact:
            return Accepted((fact,))
        case Done(delivery=delivery) | Archived(delivery=delivery), e.ChangeUndone() as fact if delivery is not None:
            return Accepted((fact,))
        case Clarifying() | Planning() | Building() | Reviewing(), e.ChangeDiscarded() as fact:
            return Accepted((fact,))
        case _, e.ChangeUndone():
            return _refused(workflow, "nothing_delivered", f"{workflow.slug} has no delivery to undo")
        case _:
            return _not_here(workflow)


def _stands(workflow: Workflow, signature: Signature) -> bool:
    """Whether a signature says nothing new. A person may decide about protected changes again."""
    if is_about_protected(signature.what):
        return workflow.decision_about(signature.digest) == signature.what
    return workflow.is_signed(signature.what, signature.digest)


def _flying(workflow: Workflow, proposal: c.Flight) -> Decision:
    """Facts about an autopilot are stored only while the autopilot is active."""
    flight = workflow.flight
    if isinstance(proposal, e.FlightBegun):
        # After a crash the autopilot begins again. The caller has made sure that no other process drives the workflow.
        return Accepted((proposal,))
    if flight is None or flight.ended is not None:
        return _refused(workflow, "invalid_transition", f"no autopilot is active for {workflow.slug}")
    return _unless(isinstance(proposal, e.FlightAt) and flight.phase is proposal.phase, proposal)


def _archiving(workflow: Workflow, proposal: c.Archiving) -> Decision:
    match workflow.at, proposal:
        case Done(), e.DeltaFitted() as fact:
            return Accepted((fact,))
        case Done(), e.PrecedenceGiven(over=over) as fact:
            return _unless(over in workflow.goes_before, fact)
        case Done(), c.Archive(standing=standing, folder=folder, writes=writes):
            blockers = standing.readiness.archive
            if blockers:
                error = "archive_scope_blocked" if blockers[0].family in _SCOPE else "archive_blocked"
                return _blocked(workflow, error, f"{workflow.slug} can't be archived", blockers)
            return Accepted((e.ChangeArchived(folder=folder, writes=writes),))
        case Archived(pending=pending), e.ArchiveSettled() as fact:
            return _unless(not pending, fact)
        case _, c.Archive():
            message = f"{workflow.slug} is at {workflow.stage.value}; only a change that is done can be archived"
            return _refused(workflow, "archive_requires_done_workflow", message)
        case _:
            return _not_here(workflow)


def _is_asked(workflow: Workflow, proposal: e.DecisionAsked) -> bool:
    """Whether the question exists: by its id, or by its words in any case."""
    words = proposal.decision.question.casefold().split()
    return any(
        decision.id == proposal.decision.id or decision.question.casefold().split() == words
        for decision in workflow.decisions
    )


def _answered(workflow: Workflow, proposal: e.DecisionAnswered) -> Decision:
    name = proposal.id
    decision = next((decision for decision in workflow.decisions if decision.id == name), None)
    if decision is None:
        known = ", ".join(decision.id for decision in workflow.decisions if decision.answer is None) or "none"
        return _refused(
            workflow, "unknown_decision", f"{workflow.slug} has no question {name} (open questions: {known})"
        )
    if decision.answer is not None:
        return _refused(workflow, "decision_answered", f"{name} was answered by {decision.by}: {decision.answer}")
    return Accepted((proposal,))


def _unless(is_known: bool, fact: e.Event) -> Accepted:
    """A fact that the workflow knows already is accepted and not stored again."""
    return Accepted(() if is_known else (fact,))


def _not_here(workflow: Workflow) -> Refused:
    message = f"{workflow.slug} is at {workflow.stage.value}: this is not possible there"
    return _refused(workflow, "invalid_transition", message)


def _refused(workflow: Workflow, error: str, message: str) -> Refused:
    return Refused(error, message, f"loopwright status {workflow.slug}")


def _blocked(workflow: Workflow, error: str, message: str, blockers: tuple[Blocker, ...]) -> Refused:
    return Refused(error, message, blockers[0].next or f"loopwright status {workflow.slug}", blockers)
