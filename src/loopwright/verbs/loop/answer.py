"""`loopwright loop answer`: a person decides what an agent asked."""

from __future__ import annotations

from loopwright.loop import commands as c
from loopwright.loop.model import Loop
from loopwright.verbs.context import Context
from loopwright.verbs.loop.control import actor, store_of
from loopwright.verbs.loop.words import fit
from loopwright.verbs.person import require_person


def answer(context: Context, loop_id: str, decision_id: str, text: str, *, revision: int | None = None) -> Loop:
    """Put the answer on record; the hold is lifted when nothing is open any more."""
    require_person(context.environment, "loop answer")
    said = fit(context, "the answer", text)
    with store_of(context).changing(loop_id, revision=revision) as opened:
        return opened.apply(c.AnswerDecision(decision_id=decision_id, answer=said, by=actor()), actor()).loop
