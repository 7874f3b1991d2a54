"""What a turn takes from a loop's budget, also if its worker died before it could count the turn."""

from __future__ import annotations

from pathlib import Path

from loopwright.agents.port import ReportsCost
from loopwright.loop import events as e
from loopwright.loop.model import Spent
from loopwright.loop.store import LoopStore
from loopwright.redaction.redactor import Redactor
from loopwright.runner.meter import TurnCost, session_named, used_at_last

SHELL = "bash"


def spent_on(cost: TurnCost) -> Spent:
    """What a turn takes from a loop's budget. The shell asks no model: its turn has no price and is not counted."""
    usd, is_model = cost.usd or 0.0, cost.agent != SHELL
    return Spent(
        usd=usd,
        usd_computed=usd if cost.is_computed else 0.0,
        tokens=cost.tokens or 0,
        wall_s=cost.worked_s,
        turns=int(is_model),
        usd_known=not is_model or cost.usd is not None,
    )


def count_open_turn(
    store: LoopStore, loop_id: str, reporter: ReportsCost | None, actor: str, redactor: Redactor
) -> None:
    """Count the cost of a dead worker's turn, once. The caller has ended its leftover processes."""
    with store.changing(loop_id) as opened:
        turn = opened.loop.open_turn
        if turn is None:
            return
        record = store.paths(loop_id).progress / "turns" / turn.name
        used = used_at_last(reporter, Path(turn.mailbox), record)
        cost = TurnCost(turn=turn.name, agent=turn.agent, role=turn.role or "", is_cut_off=True).with_usage(used, None)
        opened.apply(e.CostCounted(spent=spent_on(cost), task_id=turn.task_id, turn=turn.name, role=turn.role), actor)
        under_way = None if turn.is_question else opened.loop.under_way
        session = session_named(used.session, redactor)
        if session is not None and under_way is not None and turn.name.startswith(f"{under_way.id}-"):
            # The next turn of the action continues the session of the agent.
            opened.apply(e.ActionPaused(action_id=under_way.id, session=session), actor)
