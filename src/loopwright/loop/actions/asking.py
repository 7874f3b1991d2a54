"""Asks an agent on behalf of a loop: within the budget, on the record, and paid for whatever came of it."""

from __future__ import annotations

from loopwright.agents.port import Answer, NoAnswer, Reason, Role
from loopwright.kernel.clock import stamp
from loopwright.loop import commands as c
from loopwright.loop.budget import exceeded, seconds_left
from loopwright.loop.desk import Desk
from loopwright.loop.model import Hold, Holder, Loop, Spent
from loopwright.runner.turn import Asked, Booth, take_turn

WORKER = "worker"
_HOLDERS = {
    Reason.RATE_LIMITED: Holder.QUOTA,
    Reason.BUDGET_USED: Holder.BUDGET,
    Reason.AGENT_MISSING: Holder.BLOCKER,
    Reason.AGENT_TOO_OLD: Holder.BLOCKER,
    Reason.NOT_LOGGED_IN: Holder.BLOCKER,
}


class HeldBack(Exception):
    """The action can't be done now; the loop waits."""

    def __init__(self, hold: Hold) -> None:
        super().__init__(hold.message)
        self.hold = hold


def ask(loop: Loop, desk: Desk, booth: Booth, agent_name: str, role: Role, prompt: str) -> Answer | NoAnswer:
    """One turn; `HeldBack` when there is no budget for it, or the agent can't be had at all."""
    now = stamp(desk.clock())
    for spent, budget, whose in (
        (loop.spent, loop.budget, "the loop"),
        (loop.spent_on_task, loop.task_budget, "the task"),
    ):
        if (hold := exceeded(spent, budget, now, whose)) is not None:
            raise HeldBack(hold)
    agent = desk.open_agent(agent_name)
    settings = desk.agent_settings(agent.name)
    under_way = loop.under_way
    asked = Asked(
        role=role,
        prompt=prompt,
        record=desk.progress(loop) / "turns" / f"{under_way.id if under_way else 'none'}-{role.value}",
        timeout_s=seconds_left(loop.spent, loop.budget, settings.timeout_s),
        session=under_way.session if under_way else None,
        number=loop.turns.get(role.value, 0),
    )
    began = desk.clock()
    answer = take_turn(agent, asked, booth, settings, desk.cancellation)
    _count(loop, desk, answer, (desk.clock() - began).total_seconds(), "" if agent.name == "bash" else role.value)
    if isinstance(answer, NoAnswer) and answer.reason in _HOLDERS:
        message = f"the agent {agent.name}: {answer.reason}: {booth.redactor.clean(answer.detail).text}"
        raise HeldBack(Hold(holder=_HOLDERS[answer.reason], code=answer.reason, message=message, since=now))
    return answer


def _count(loop: Loop, desk: Desk, answer: Answer | NoAnswer, wall_s: float, role: str) -> None:
    said = answer if isinstance(answer, Answer) else None
    spent = Spent(
        usd=(said.cost_usd or 0.0) if said else 0.0,
        tokens=(said.tokens or 0) if said else 0,
        wall_s=round(max(0.0, wall_s), 3),
        turns=int(role != ""),
        usd_known=said is not None and said.cost_usd is not None,
    )
    with desk.store.changing(loop.loop_id) as opened:
        opened.apply(c.Count(spent=spent, role=role), WORKER)
