"""A person's answer to a decision that an agent asked for in a loop."""

from __future__ import annotations

from loopwright.loop import events as e
from loopwright.loop.model import Loop
from loopwright.stages.context import Context
from loopwright.stages.loops.words import fit
from loopwright.stages.person import actor
from loopwright.stages.stores import loops_of


def answer_decision(
    context: Context, loop_id: str, decision_id: str, text: str, *, revision: int | None = None
) -> Loop:
    """Record the answer; the loop's hold is lifted when no decision is open any more."""
    said = fit(context, "the answer", text)
    with loops_of(context).changing(loop_id, revision=revision) as opened:
        return opened.apply(e.DecisionAnswered(decision_id=decision_id, answer=said, by=actor()), actor()).loop
