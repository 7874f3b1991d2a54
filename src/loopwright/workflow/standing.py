"""The standing of a workflow: the blockers of each gate, and what an approval would cover now.

Readiness is not authorization: readiness is computed from facts, authorization is a stored approval.
"""

from __future__ import annotations

import msgspec

from loopwright.workflow.blockers import Blocker, Family, blocker
from loopwright.workflow.model import (
    Approval,
    Approved,
    Key,
    Rejected,
    Stage,
    Subject,
    Transition,
    UsedApproval,
    Workflow,
)


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """The blockers of each gate, in the contract's order; no blockers means ready."""

    plan: tuple[Blocker, ...] = ()
    build: tuple[Blocker, ...] = ()
    review: tuple[Blocker, ...] = ()
    done: tuple[Blocker, ...] = ()
    archive: tuple[Blocker, ...] = ()

    def before(self, stage: Stage) -> tuple[Blocker, ...]:
        """The blockers before a stage."""
        match stage:
            case Stage.CLARIFY:
                return ()
            case Stage.PLAN:
                return self.plan
            case Stage.BUILD:
                return self.build
            case Stage.REVIEW:
                return self.review
            case Stage.DONE:
                return self.done


class Standing(msgspec.Struct, frozen=True):
    """Readiness, and the current subject of each transition."""

    readiness: Readiness
    subjects: dict[Transition, Subject]

    def subject(self, transition: Transition) -> Subject:
        """What an approval of this transition would cover now."""
        return self.subjects.get(transition, Subject(parts={}))


def void_parts(approval: Approval, standing: Standing) -> tuple[str, ...]:
    """The parts that changed since the approval; empty if it is valid or was never given."""
    if not isinstance(approval, Approved | UsedApproval):
        return ()
    return standing.subject(approval.transition).changed_since(approval.subject)


def status_of(approval: Approval, standing: Standing) -> str:
    """The status of an approval in the contract's terms."""
    if void_parts(approval, standing):
        return "void"
    return "approved" if isinstance(approval, UsedApproval) else str(msgspec.to_builtins(approval)["type"])


def authorization_blockers(workflow: Workflow, transition: Transition, standing: Standing) -> tuple[Blocker, ...]:
    """Why this transition is not authorized now."""
    key = transition.key
    approval = workflow.approval(key)
    named = {
        "slug": workflow.slug,
        "transition": transition.value,
        "origin": transition.origin.value,
        "target": transition.target.value,
    }
    if isinstance(approval, Rejected) and approval.transition is transition:
        return (blocker(Family.APPROVAL_REJECTED, key.value, by=approval.by, reason=approval.reason, **named),)
    if not isinstance(approval, Approved) or approval.transition is not transition:
        return (blocker(Family.APPROVAL_MISSING, key.value, **named),)
    if changed := void_parts(approval, standing):
        return (blocker(Family.APPROVAL_VOID, key.value, changed=_few(changed), **named),)
    return ()


def broken_promises(workflow: Workflow, standing: Standing, *keys: Key) -> tuple[Blocker, ...]:
    """Used approvals whose subject changed under the work."""
    found = []
    for key in keys:
        approval = workflow.approval(key)
        if isinstance(approval, UsedApproval) and (changed := void_parts(approval, standing)):
            at = approval.transition
            found.append(
                blocker(
                    Family.APPROVAL_VOID, key.value, slug=workflow.slug, transition=at.value, origin=at.origin.value,
                    target=at.target.value, changed=_few(changed),
                )
            )  # fmt: skip
    return tuple(found)


def _few(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more
