"""The state of a workflow after an event. Pure and total: every event that was ever stored can be replayed."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from loopwright.workflow import events as e
from loopwright.workflow import verification as v
from loopwright.workflow.model import (
    Approval,
    Approved,
    Archived,
    At,
    Building,
    Clarifying,
    Done,
    Flight,
    Key,
    Planning,
    Rejected,
    Requested,
    Reviewing,
    Signature,
    Transition,
    UsedApproval,
    Workflow,
)
from loopwright.workflow.stage import Stage
from loopwright.workflow.verdict import SentBack

_MOST = 1.0


def evolve(workflow: Workflow | None, event: e.Event, at: str) -> Workflow:
    """The workflow after this event; the revision counts events."""
    if isinstance(event, e.WorkflowBegun):
        return Workflow(
            slug=event.slug, idea=event.idea, profile=event.profile, created_at=at, updated_at=at, revision=1,
            at=Clarifying(), origin=event.origin, change=event.change,
        )  # fmt: skip
    if workflow is None:
        raise ValueError("the first event of a workflow must begin it")
    return replace(_after(workflow, event, at), revision=workflow.revision + 1, updated_at=at)


def _after(workflow: Workflow, event: e.Event, at: str) -> Workflow:
    """Approvals and stages; other events are work."""
    match event:
        case e.ApprovalRequested(transition=transition):
            return _with(workflow, transition.key, Requested(transition=transition, at=at))
        case e.ApprovalGiven():
            return _given(workflow, event, at)
        case e.ApprovalRefused(transition=transition, reason=reason, by=by, subject=subject):
            rejected = Rejected(transition=transition, reason=reason, by=by, at=at, subject=subject)
            return _with(workflow, transition.key, rejected)
        case e.StageEntered():
            return _entered(workflow, event, at)
        case _:
            return _worked(workflow, event, at)


def _worked(workflow: Workflow, event: e.Event, at: str) -> Workflow:
    """Events of clarifying and planning."""
    match event:
        case e.ProfileSet(profile=profile):
            return replace(workflow, profile=profile)
        case e.DocumentsKept(documents=documents):
            return replace(workflow, documents={**workflow.documents, **documents})
        case e.SpecGiven(source=source):
            return replace(workflow, given=source)
        case e.RoundTaken(round=taken):
            left = tuple(item for item in workflow.unjudged if item not in (*taken.accepted, *taken.refused))
            return replace(workflow, rounds=(*workflow.rounds, taken), score_floor=0.0, unjudged=left)
        case e.ItemAnswered(item=item):
            is_of_agent = any(taken.asked == item and taken.asked_by for taken in workflow.rounds)
            left = tuple(other for other in workflow.unjudged if other != item)
            return replace(workflow, unjudged=(*left, item) if is_of_agent else left)
        case e.PlanRoundTaken(round=taken):
            # Each review of a plan is reported when it arrives; the last report of a round counts.
            others = (earlier for earlier in workflow.plan_rounds if earlier.number != taken.number)
            return replace(workflow, plan_rounds=(*others, taken))
        case e.ChecksControlled(controls=controls):
            return replace(workflow, controls={**workflow.controls, **controls})
        case e.Signed(signature=signature):
            return _signed(workflow, signature)
        case _:
            return _built(workflow, event, at)


def _signed(workflow: Workflow, signature: Signature) -> Workflow:
    """A signature; one on the protected changes makes them part of the work, or leaves them out."""
    signed = replace(workflow, signatures=(*workflow.signatures, signature))
    verified = workflow.judged
    protected = verified.protected if verified is not None else None
    if verified is None or protected is None or signature.digest != protected.digest:
        return signed
    match signature.what:
        case v.PROTECTED:
            return replace(signed, verification=verified.decided("signed"))
        case v.WITHOUT_PROTECTED:
            return replace(signed, verification=verified.decided("declined"))
        case _:
            return signed


def _as_signed_before(workflow: Workflow, verification: v.Verification) -> v.Verification:
    """The result with a person's decision about the same protected changes, if the checks pass with that decision."""
    protected = verification.protected
    if protected is None:
        return verification
    match workflow.decision_about(protected.digest), protected.outcome:
        case v.PROTECTED, "passes_without" | "passes_only_with":
            return verification.decided("signed")
        case v.WITHOUT_PROTECTED, "passes_without" | "fails_with":
            return verification.decided("declined")
        case _:
            return verification


def _flown(workflow: Workflow, event: e.FlightBegun | e.FlightAt | e.FlightEnded, at: str) -> Flight | None:
    flight = workflow.flight
    match event:
        case e.FlightBegun(by=by, limits=limits, before=before):
            since, first = (at, before) if flight is None else (flight.since, flight.before)
            return Flight(by=by, since=since, before=first, limits=limits, phase=workflow.stage)
        case e.FlightAt(phase=phase) if flight is not None:
            return replace(flight, phase=phase)
        case e.FlightEnded(reason=reason, message=message) if flight is not None:
            return replace(flight, ended=reason, message=message)
        case _:
            return flight


def _built(workflow: Workflow, event: e.Event, at: str) -> Workflow:
    """Events of building, reviewing and archiving."""
    match event:
        case e.DecisionAsked(decision=decision):
            return replace(workflow, decisions=(*workflow.decisions, decision))
        case e.DecisionAnswered(id=name, answer=answer, by=by):
            answered = {"answer": answer, "by": by}
            decided = (replace(known, **answered) if known.id == name else known for known in workflow.decisions)
            return replace(workflow, decisions=tuple(decided))
        case e.BuildDriven():
            return _driven(workflow, event)
        case e.LaneEnded(lane=lane, status=status):
            # The first lane starts an iteration: results of earlier lanes are not about this work.
            before = {} if lane == "execution" else workflow.lanes
            return replace(workflow, lanes={**before, lane: status})
        case e.WorkVerified(verification=verification):
            is_part = verification.protected is not None and verification.protected.decision != "open"
            judged = workflow.judged if is_part else verification
            return replace(workflow, judged=judged, verification=_as_signed_before(workflow, verification))
        case e.WorkReviewed(review=review):
            return replace(workflow, review=review)
        case e.TurnBegun() | e.CostCounted() | e.AgentChanged():
            return _asked(workflow, event)
        case e.FlightBegun() | e.FlightAt() | e.FlightEnded():
            return replace(workflow, flight=_flown(workflow, event, at))
        case e.SpecsNoted() | e.DeltaFitted() | e.PrecedenceGiven() | e.ChangeArchived() | e.ArchiveSettled():
            return _towards_specs(workflow, event)
        case e.ChangeUndone():
            return _taken_back(workflow)
        case e.ChangeDiscarded(by=by):
            return replace(workflow, at=Done(discarded_by=by))
        case _:
            raise ValueError(f"{type(event).__name__} is not a known event")


def _asked(workflow: Workflow, event: e.TurnBegun | e.CostCounted | e.AgentChanged) -> Workflow:
    match event:
        case e.TurnBegun(turn=turn):
            return replace(workflow, open_turns=(*workflow.open_turns, turn))
        case e.CostCounted(cost=cost, turn=name):
            others = tuple(turn for turn in workflow.open_turns if turn.name != name)
            return replace(workflow, costs=(*workflow.costs, cost), open_turns=others)
        case e.AgentChanged(takeover=takeover):
            return replace(workflow, takeovers=(*workflow.takeovers, takeover))
        case _:
            assert_never(event)


def _taken_back(workflow: Workflow) -> Workflow:
    """The state before the last approval: the work exists and is reviewed, and a person decides again."""
    review = workflow.approval(Key.REVIEW)
    evidence = review.subject.hash if isinstance(review, UsedApproval) else ""
    return _forget(replace(workflow, at=Reviewing(evidence=evidence), confirmed=Transition.BUILD_REVIEW), Key.COMPLETE)


def _driven(workflow: Workflow, event: e.BuildDriven) -> Workflow:
    at = workflow.at
    building = replace(at, loop_id=event.loop_id, deslop=event.deslop) if isinstance(at, Building) else at
    known = workflow.loops[-1:] == (event.loop_id,)
    return replace(workflow, at=building, loops=workflow.loops if known else (*workflow.loops, event.loop_id))


def _towards_specs(
    workflow: Workflow,
    event: e.SpecsNoted | e.DeltaFitted | e.PrecedenceGiven | e.ChangeArchived | e.ArchiveSettled,
) -> Workflow:
    match event:
        case e.SpecsNoted(base=base):
            return replace(workflow, base=base)
        case e.DeltaFitted(base=base):
            return replace(workflow, base=base, fitted=base.delta)
        case e.PrecedenceGiven(over=over):
            return replace(workflow, goes_before=(*workflow.goes_before, over))
        case e.ChangeArchived(folder=folder, writes=writes):
            delivery = workflow.at.delivery if isinstance(workflow.at, Done | Archived) else None
            there = Archived(change_id=workflow.change_id, delivery=delivery, folder=folder, writes=writes)
            return replace(workflow, at=there)
        case e.ArchiveSettled():
            at = workflow.at
            return replace(workflow, at=replace(at, settled=True)) if isinstance(at, Archived) else workflow
        case _:
            assert_never(event)


def is_given_again(workflow: Workflow, transition: Transition) -> bool:
    """Whether this approval renews the one with which the current stage was entered: the work continues.

    A spec may also change during the build. A change during the review goes back instead: a review runs no checks.
    """
    before = workflow.approval(transition.key)
    later = (Stage.BUILD,) if transition is Transition.CLARIFY_PLAN else ()
    is_same = isinstance(before, UsedApproval) and before.transition is transition
    # Nothing continues after a delivery.
    return is_same and workflow.stage in (transition.target, *later) and workflow.stage is not Stage.DONE


def _given(workflow: Workflow, event: e.ApprovalGiven, at: str) -> Workflow:
    transition = event.transition
    before = workflow.approval(transition.key)
    if isinstance(before, UsedApproval) and is_given_again(workflow, transition):
        # Renewed after a change under the work: the stage continues with the new content.
        approval: Approval = UsedApproval(
            transition=transition, subject=event.subject, by=event.by, at=at, used_at=before.used_at, rules=event.rules
        )
    else:
        approval = Approved(
            transition=transition, subject=event.subject, by=event.by, at=at, rationale=event.rationale,
            rules=event.rules,
        )  # fmt: skip
    sealed = replace(workflow, seals=event.seals) if transition.key is Key.BUILD and event.seals else workflow
    if event.test_command is not None:
        sealed = replace(sealed, test_command=event.test_command)
    return _with(sealed, transition.key, approval)


def _entered(workflow: Workflow, event: e.StageEntered, at: str) -> Workflow:
    transition = event.transition
    approval = workflow.approval(transition.key)
    used = workflow
    if isinstance(approval, Approved):
        kept = UsedApproval(
            transition=approval.transition, subject=approval.subject, by=approval.by, at=approval.at, used_at=at,
            rules=approval.rules,
        )  # fmt: skip
        used = _with(workflow, transition.key, kept)
    moved = replace(used, at=_state(event), confirmed=transition)
    if transition.is_rollback:
        moved = replace(moved, sent_back=_sent_back(workflow, transition))
    match transition.target:
        case Stage.CLARIFY:
            return _forget(
                replace(moved, plan_rounds=(), review=None, score_floor=_MOST), Key.PLAN, Key.BUILD, Key.REVIEW
            )
        case Stage.PLAN:
            return _forget(replace(moved, plan_rounds=(), review=None), Key.BUILD, Key.REVIEW)
        case Stage.BUILD:
            return _forget(replace(moved, lanes={}, verification=None, judged=None), Key.REVIEW)
        case Stage.REVIEW:
            return replace(moved, review=None, sent_back=None)
        case Stage.DONE:
            return moved


def _sent_back(workflow: Workflow, transition: Transition) -> SentBack | None:
    """The review, and the approved spec and plan that it sends back."""
    approvals = (workflow.approval(key) for key in (Key.PLAN, Key.BUILD))
    subjects = (approval.subject.parts for approval in approvals if isinstance(approval, UsedApproval))
    parts = {name: digest for subject in subjects for name, digest in subject.items()}
    if workflow.review is None:
        return None
    # The person who approved the way back may have given a reason of their own.
    consent = workflow.approval(transition.key)
    own = consent.rationale if isinstance(consent, Approved) else ""
    reasons = dict.fromkeys(reason for reason in (own, workflow.review.rationale) if reason.strip())
    return SentBack(review=replace(workflow.review, rationale="; ".join(reasons)), parts=parts)


def _state(event: e.StageEntered) -> At:
    match event.transition.target:
        case Stage.CLARIFY:
            return Clarifying()
        case Stage.PLAN:
            return Planning(spec=event.subject)
        case Stage.BUILD:
            return Building(plan=event.subject)
        case Stage.REVIEW:
            return Reviewing(evidence=event.subject)
        case Stage.DONE:
            return Done(delivery=event.delivery)


def _with(workflow: Workflow, key: Key, approval: Approval) -> Workflow:
    return replace(workflow, approvals={**workflow.approvals, key: approval})


def _forget(workflow: Workflow, *keys: Key) -> Workflow:
    """Drop approvals of later stages: those stages will have other contents."""
    return replace(workflow, approvals={key: one for key, one in workflow.approvals.items() if key not in keys})
