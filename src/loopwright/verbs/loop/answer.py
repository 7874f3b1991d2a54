"""`loopwright loop answer`: a person decides what an agent asked."""

from __future__ import annotations

from loopwright.loop import commands as c
from loopwright.loop.model import Loop
from loopwright.stages.context import Context
from loopwright.stages.loops.words import fit
from loopwright.stages.person import actor, require_person
from loopwright.stages.stores import loops_of


def answer(context: Context, loop_id: str, decision_id: str, text: str, *, revision: int | None = None) -> Loop:
    """Put the answer on record; the hold is lifted when nothing is open any more."""
    require_person(context.environment, "loop answer")
    said = fit(context, "the answer", text)
    with loops_of(context).changing(loop_id, revision=revision) as opened:
        return opened.apply(c.AnswerDecision(decision_id=decision_id, answer=said, by=actor()), actor()).loop
