"""What keeps a reviewed change from being done. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from loopwright.workflow.blockers import Blocker, Family, blocker
from loopwright.workflow.build_gate import scope_of
from loopwright.workflow.facts import Facts
from loopwright.workflow.model import Stage, Workflow

_REWORK = {
    Stage.BUILD: Family.REVIEW_REWORK_REQUIRED,
    Stage.PLAN: Family.PLAN_REWORK_REQUIRED,
    Stage.CLARIFY: Family.CLARIFY_REWORK_REQUIRED,
}


def before_done(workflow: Workflow, facts: Facts) -> Iterator[Blocker]:
    """No verdict, another one than yes, a verdict on something else, or a scope that is not whole."""
    slug, review, verified = workflow.slug, workflow.review, workflow.verification
    if review is None:
        yield blocker(Family.REVIEW_STATUS, "pending", slug=slug, why="it was not reviewed yet")
    elif verified is None or review.tree != verified.tree:
        yield blocker(Family.REVIEW_STATUS, "stale", slug=slug, why="what was reviewed is not what is there now")
    elif review.verdict != "approve":
        target = review.target or Stage.BUILD
        yield blocker(Family.REVIEW_VERDICT, review.verdict, slug=slug, why=review.rationale, target=target.value)
        yield blocker(_REWORK[target], slug=slug, why=review.rationale, target=target.value)
    # Only a review can send it back to where that is mended.
    yield from (replace(one, next=f"loopwright review {slug}") for one in scope_of(workflow, facts))
