"""Decisions that only a person can make about a workflow: approve, reject, sign, undo."""

from __future__ import annotations

from loopwright.stages.consents import ConsentReport, give_consent, refuse_consent, sign_subject, undo_delivery
from loopwright.stages.context import Context
from loopwright.stages.names import transition_of
from loopwright.stages.person import actor, require_person
from loopwright.stages.status import WorkflowView

__all__ = ["ConsentReport", "approve", "reject", "sign", "undo"]


def approve(
    context: Context,
    slug: str,
    origin: str,
    target: str,
    *,
    rationale: str = "",
    revision: int | None = None,
    as_branch: bool = False,
) -> ConsentReport:
    """Approve one transition, for the current content of the workflow. Approving `review -> done` delivers the result.

    With `revision`, the approval is refused if the workflow changed after that revision.
    """
    require_person(context.environment, "approve")
    transition = transition_of(origin, target)
    return give_consent(
        context, slug, transition, by=actor(), rationale=rationale, revision=revision, as_branch=as_branch
    )


def reject(context: Context, slug: str, origin: str, target: str, *, reason: str) -> WorkflowView:
    """Reject one transition, and record the reason."""
    require_person(context.environment, "reject")
    return refuse_consent(context, slug, transition_of(origin, target), reason=reason)


def sign(context: Context, slug: str, what: str, *, note: str = "") -> WorkflowView:
    """Sign off the current content of a slice, of a changed protected file, or of tests that the work breaks."""
    require_person(context.environment, "sign")
    return sign_subject(context, slug, what, note=note)


def undo(context: Context, slug: str) -> ConsentReport:
    """Undo a delivered change, all of it or nothing."""
    require_person(context.environment, "undo")
    return undo_delivery(context, slug)
