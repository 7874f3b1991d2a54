"""Judge what was built, by its evidence first, and by reviewers where the risk floor asks for them."""

from __future__ import annotations

from loopwright.kernel.process import Cancellation
from loopwright.stages.context import Context, Tell
from loopwright.stages.person import require_person
from loopwright.stages.reviewing.request import ReviewRequest
from loopwright.stages.reviewing.stage import review_change
from loopwright.stages.status import WorkflowView

__all__ = ["ReviewRequest", "review"]


def review(context: Context, name: str, request: ReviewRequest, tell: Tell, cancellation: Cancellation) -> WorkflowView:
    """Review a built workflow and record the verdict: of an agent, of a person with `request.verdict`, or of the tool.

    `name` is the workflow's, or the path of its execution record.
    """
    if request.verdict is not None:
        require_person(context.environment, "review --verdict")
    return review_change(context, name, request, tell, cancellation)
