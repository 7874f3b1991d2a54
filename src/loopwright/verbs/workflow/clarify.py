"""Make an idea clear enough to plan: one question per round, answered by a person."""

from __future__ import annotations

from loopwright.kernel.process import Cancellation
from loopwright.stages.clarifying.answers import answer_question
from loopwright.stages.clarifying.rounds import ClarifyReport, ClarifyRequest, clarify_change
from loopwright.stages.context import Context, Tell
from loopwright.stages.person import require_person
from loopwright.stages.status import WorkflowView

__all__ = ["ClarifyReport", "ClarifyRequest", "answer", "clarify"]


def clarify(
    context: Context, name: str, request: ClarifyRequest, tell: Tell, cancellation: Cancellation
) -> ClarifyReport:
    """Begin the workflow of this name, or continue it, and ask its next question.

    A new workflow needs `request.idea`. The report holds the open question; `answer` records the answer to it.
    """
    return clarify_change(context, name, request, tell, cancellation)


def answer(context: Context, slug: str, item: str, text: str) -> WorkflowView:
    """Record a person's answer to a question of the spec (`A-1`), or to a decision that an agent asked for (`D-1`)."""
    require_person(context.environment, "answer")
    return answer_question(context, slug, item, text)
