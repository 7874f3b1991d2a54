"""The standing of a workflow: the blockers of each gate, and what an approval would cover now.

Readiness is not authorization: readiness is computed from facts, authorization is a stored approval.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from loopwright.wording.catalogue import few
from loopwright.workflow.blockers import Blocker, Family, Stops, blocker
from loopwright.workflow.model import (
    FORWARD,
    POLICY,
    Approval,
    Approved,
    Key,
    Rejected,
    Subject,
    Transition,
    UsedApproval,
    Workflow,
)
from loopwright.workflow.stage import Stage
from loopwright.workflow.verification import RULES


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """The blockers of each gate, in the contract's order; no blockers means ready."""

    plan: tuple[Blocker, ...] = ()
    build: tuple[Blocker, ...] = ()
    review: tuple[Blocker, ...] = ()
    done: tuple[Blocker, ...] = ()
    archive: tuple[Blocker, ...] = ()

    def before(self, stage: Stage) -> tuple[Blocker, ...]:
        """The blockers before a stage."""
        gates = {Stage.PLAN: self.plan, Stage.BUILD: self.build, Stage.REVIEW: self.review, Stage.DONE: self.done}
        return gates.get(stage, ())


class Standing(msgspec.Struct, frozen=True):
    """Readiness, the current subject of each transition, and what only the approval of a person can answer."""

    readiness: Readiness
    subjects: dict[Transition, Subject]
    # Blockers that stop a policy and no person, by gate.
    for_a_person: Readiness = Readiness()
    # Nothing is judged any more, so approvals by older rules stay valid.
    is_finished: bool = False

    def subject(self, transition: Transition) -> Subject:
        """What an approval of this transition would cover now."""
        return self.subjects.get(transition, Subject(parts={}))

    def blockers_for(self, stage: Stage, by: str) -> tuple[Blocker, ...]:
        """What keeps the approval of this person or policy from counting before a stage."""
        reserved = self.for_a_person.before(stage) if by == POLICY else ()
        return (*self.readiness.before(stage), *reserved)

    def is_rejected(self, stage: Stage) -> bool:
        """Whether a person rejected the current content before this stage."""
        return any(blocker.family is Family.APPROVAL_REJECTED for blocker in self.for_a_person.before(stage))


def split(readiness: Readiness) -> tuple[Readiness, Readiness]:
    """The blockers that stop everyone, and those that stop only a policy: the family of a blocker decides."""
    gates = {name: getattr(readiness, name) for name in Readiness.__struct_fields__}

    def only(*stops: Stops) -> Readiness:
        return Readiness(
            **{
                name: tuple(blocker for blocker in blockers if _stops(blocker) in stops)
                for name, blockers in gates.items()
            }
        )

    return only(Stops.EVERYONE), only(Stops.POLICY)


def _stops(blocker: Blocker) -> Stops:
    return blocker.family.stops if blocker.family is not None else Stops.EVERYONE


def rejections(workflow: Workflow, subjects: dict[Transition, Subject], stage: Stage) -> tuple[Blocker, ...]:
    """The rejection by a person of the step from this stage, as long as its subject is unchanged."""
    transition = FORWARD.get(stage)
    approval = workflow.approval(transition.key) if transition is not None else None
    if transition is None or not isinstance(approval, Rejected) or approval.transition is not transition:
        return ()
    now = subjects.get(transition)
    if workflow.stage is not stage or now is None or approval.subject is None or not now.is_same_work(approval.subject):
        return ()
    named = _named(workflow, transition)
    rejected = blocker(Family.APPROVAL_REJECTED, transition.key.value, by=approval.by, reason=approval.reason, **named)
    # More building can change what was rejected.
    return (replace(rejected, next=f"loopwright build {workflow.slug}") if stage is Stage.BUILD else rejected,)


def why_void(approval: Approval, standing: Standing) -> str:
    """Why an approval is void; empty if it is valid or was never given."""
    if not isinstance(approval, Approved | UsedApproval):
        return ""
    # An approved spec stays approved after planning has begun: no rules judge it.
    is_open = isinstance(approval, Approved) or approval.transition.key in (Key.BUILD, Key.REVIEW)
    if approval.rules != RULES and is_open and not standing.is_finished:
        return "the judging rules changed"
    changed = standing.subject(approval.transition).changed_since(approval.subject)
    return parts_changed(changed) if changed else ""


def parts_changed(changed: tuple[str, ...]) -> str:
    """The parts that make an approval void, in a sentence."""
    return f"these parts changed: {few(changed)}"


def status_of(approval: Approval, standing: Standing) -> str:
    """The status of an approval in the contract's terms."""
    if why_void(approval, standing):
        return "void"
    return "approved" if isinstance(approval, UsedApproval) else str(msgspec.to_builtins(approval)["type"])


def authorization_blockers(workflow: Workflow, transition: Transition, standing: Standing) -> tuple[Blocker, ...]:
    """Why this transition is not authorized now."""
    key = transition.key
    approval = workflow.approval(key)
    named = _named(workflow, transition)
    if isinstance(approval, Rejected) and approval.transition is transition:
        return (blocker(Family.APPROVAL_REJECTED, key.value, by=approval.by, reason=approval.reason, **named),)
    if not isinstance(approval, Approved) or approval.transition is not transition:
        return (blocker(Family.APPROVAL_MISSING, key.value, **named),)
    if why := why_void(approval, standing):
        return (void_approval(workflow, transition, why),)
    return ()


def moved_approvals(workflow: Workflow, standing: Standing, *keys: Key) -> tuple[Blocker, ...]:
    """Used approvals that became void under the work."""
    approvals = [approval for key in keys if isinstance(approval := workflow.approval(key), UsedApproval)]
    reasons = [(approval.transition, why_void(approval, standing)) for approval in approvals]
    return tuple(void_approval(workflow, transition, why) for transition, why in reasons if why)


def void_approval(workflow: Workflow, transition: Transition, why: str) -> Blocker:
    """The blocker for an approval that is void."""
    return blocker(Family.APPROVAL_VOID, transition.key.value, why=why, **_named(workflow, transition))


def _named(workflow: Workflow, transition: Transition) -> dict[str, str]:
    return {
        "slug": workflow.slug,
        "transition": transition.value,
        "origin": transition.origin.value,
        "target": transition.target.value,
    }
