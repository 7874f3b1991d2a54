"""What each prompt's answer must be: the kind that it is read as, from which its JSON Schema is made.

A building turn answers with any text: nobody reads it, since what changed is what counts, and a model that must end
with JSON builds worse. A replanner's YAML is a plan, which the plan's own reader judges; its schema is shown, not sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loopwright.agents.structured import schema_of
from loopwright.loop.answers import ProposedHypotheses, ProposedTasks
from loopwright.plan.document import PlanForm
from loopwright.reflection.points import SelfRating
from loopwright.stages.clarifying.rounds import Clarification
from loopwright.stages.planning.reviewers import PlanOpinion
from loopwright.workflow.drafting import PlanReply
from loopwright.workflow.lanes import Opinion
from loopwright.workflow.reviewing import CodeReview, SmellReview

_ANSWERS: Mapping[str, type[Any]] = {
    "clarifier": Clarification,
    "planner": ProposedTasks,
    "planner_change": PlanReply,
    "architect_plan": PlanOpinion,
    "architect_build": Opinion,
    "critic_plan": PlanOpinion,
    "builder": str,
    "builder_slice": str,
    "builder_deslop": str,
    "builder_before": SelfRating,
    "builder_after": SelfRating,
    "builder_adversarial": SelfRating,
    "debugger": ProposedHypotheses,
    "reviewer_change": CodeReview,
    "smell_reviewer_change": SmellReview,
    "replanner": PlanForm,
}


def answer_schema(name: str) -> Mapping[str, Any] | None:
    """The JSON Schema of the answer to a prompt; None for a part of one, which asks nothing by itself."""
    kind = _ANSWERS.get(name)
    return schema_of(kind) if kind is not None else None
