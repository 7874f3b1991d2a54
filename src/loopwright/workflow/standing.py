"""How a workflow stands on the disk at this moment: what blocks each gate, and what a consent would be about.

Readiness is not authorization: the first is computed here from facts, the second is somebody's recorded consent.
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
    """What blocks each gate, in the contract's order; nothing is ready."""

    plan: tuple[Blocker, ...] = ()
    build: tuple[Blocker, ...] = ()
    review: tuple[Blocker, ...] = ()
    done: tuple[Blocker, ...] = ()
    archive: tuple[Blocker, ...] = ()

    def before(self, stage: Stage) -> tuple[Blocker, ...]:
        """What blocks the way into a stage."""
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
    """Readiness, and the subject of each transition as it is now."""

    readiness: Readiness
    subjects: dict[Transition, Subject]

    def subject(self, transition: Transition) -> Subject:
        """What a consent to it would be about now."""
        return self.subjects.get(transition, Subject(parts={}))


def void_parts(approval: Approval, standing: Standing) -> tuple[str, ...]:
    """What changed since it was given; nothing when it holds, or was never given."""
    if not isinstance(approval, Approved | UsedApproval):
        return ()
    return standing.subject(approval.transition).changed_since(approval.subject)


def status_of(approval: Approval, standing: Standing) -> str:
    """The contract's word for it."""
    if void_parts(approval, standing):
        return "void"
    return "approved" if isinstance(approval, UsedApproval) else str(msgspec.to_builtins(approval)["type"])


def authorization_blockers(workflow: Workflow, transition: Transition, standing: Standing) -> tuple[Blocker, ...]:
    """Why this transition may not be made now, as far as consent goes."""
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
    """Consents that were used already, and whose subject moved under the work."""
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
