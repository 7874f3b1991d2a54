"""Decisions that only a person can make about a workflow: approve, reject, sign, undo."""

from __future__ import annotations

from loopwright.stages.consents import ConsentReport, give_consent
from loopwright.stages.consents import refuse_consent as reject
from loopwright.stages.consents import sign_subject as sign
from loopwright.stages.consents import undo_delivery as undo
from loopwright.stages.context import Context
from loopwright.stages.names import transition_of
from loopwright.stages.person import actor, require_person
from loopwright.workflow.verification import PROTECTED, WITHOUT_PROTECTED

__all__ = ["PROTECTED", "WITHOUT_PROTECTED", "ConsentReport", "approve", "reject", "sign", "undo"]


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
