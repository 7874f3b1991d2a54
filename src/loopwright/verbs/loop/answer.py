"""`loopwright loop answer`: a person decides what an agent asked."""

from __future__ import annotations

from loopwright.loop.model import Loop
from loopwright.stages.context import Context
from loopwright.stages.loops.decisions import answer_decision
from loopwright.stages.person import require_person


def answer(context: Context, loop_id: str, decision_id: str, text: str, *, revision: int | None = None) -> Loop:
    """Put the answer on record; the hold is lifted when nothing is open any more."""
    require_person(context.environment, "loop answer")
    return answer_decision(context, loop_id, decision_id, text, revision=revision)
