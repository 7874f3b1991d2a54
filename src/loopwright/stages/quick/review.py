"""Concludes a build of `do`: the review looks at the work if nothing keeps it from the review."""

from __future__ import annotations

from loopwright.kernel.process import Cancellation
from loopwright.loop.model import Completed
from loopwright.stages.consents import give_consent
from loopwright.stages.context import Context, Tell
from loopwright.stages.person import actor, require_person
from loopwright.stages.quick.result import DoResult, doubts_about, loop_of, may_be_reviewed, result_of
from loopwright.stages.reviewing.reviewers import ReviewRequest
from loopwright.stages.reviewing.stage import review_change
from loopwright.stages.status import view_workflow
from loopwright.workflow.model import Building, Transition


def conclude(context: Context, slug: str, tell: Tell, cancellation: Cancellation) -> DoResult:
    """Review the work if nothing keeps it from the review, and say what became of it.

    Typing `do` is the consent to the review: it only looks, and its verdict delivers nothing.
    """
    view = view_workflow(context, slug)
    loop = loop_of(context, view)
    is_built = isinstance(view.workflow.at, Building) and loop is not None and isinstance(loop.phase, Completed)
    if is_built and not doubts_about(view):
        require_person(context.environment, "do")
        view = give_consent(context, slug, Transition.BUILD_REVIEW, by=actor()).view
    if may_be_reviewed(view):
        view = review_change(context, slug, ReviewRequest(), tell, cancellation)
    return result_of(context, view)
