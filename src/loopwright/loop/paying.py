"""What a turn is counted as, also one whose worker died before it could count it."""

from __future__ import annotations

from pathlib import Path

from loopwright.agents.port import Answer, ReportsCost, Usage
from loopwright.loop import commands as c
from loopwright.loop.model import Spent
from loopwright.loop.store import LoopStore
from loopwright.redaction.redactor import Redactor
from loopwright.runner.meter import counted, session_named, used_at_last

SHELL = "bash"


def spent_on(agent: str, used: Usage, worked_s: float, answer: Answer | None) -> Spent:
    """What a turn takes from a loop's budget; a shell's turn is none of a model."""
    cost = counted(used, answer)
    usd = cost.usd or 0.0
    is_model = agent != SHELL
    return Spent(
        usd=usd,
        usd_computed=usd if cost.is_computed else 0.0,
        tokens=cost.tokens or 0,
        wall_s=round(max(0.0, worked_s), 3),
        turns=int(is_model),
        usd_known=not is_model or cost.usd is not None,
    )


def count_open_turn(
    store: LoopStore, loop_id: str, reporter: ReportsCost | None, actor: str, redactor: Redactor
) -> None:
    """Count what a turn used whose worker died at it, once; the caller has ended what still ran of it."""
    with store.changing(loop_id) as opened:
        turn = opened.loop.open_turn
        if turn is None:
            return
        record = store.paths(loop_id).progress / "turns" / turn.name
        used = used_at_last(reporter, Path(turn.mailbox), record)
        spent = spent_on(turn.agent, used, 0.0, None)
        opened.apply(c.Count(spent=spent, task_id=turn.task_id, turn=turn.name, role=turn.role), actor)
        under_way = None if turn.is_question else opened.loop.under_way
        session = session_named(used.session, redactor)
        if session is not None and under_way is not None and turn.name.startswith(f"{under_way.id}-"):
            # Whoever goes on with the action goes on with what the agent had in mind.
            opened.apply(c.PauseAction(action_id=under_way.id, session=session), actor)
