"""Asks an agent on behalf of a loop: within the budget, on the record, and paid for whatever came of it."""

from __future__ import annotations

import itertools
from pathlib import Path

from loopwright.agents.port import Answer, NoAnswer, Reason, Role
from loopwright.errors import AgentFailed
from loopwright.kernel.clock import stamp
from loopwright.loop import commands as c
from loopwright.loop.budget import hold_before_call, seconds_left
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

    def __init__(self, hold: Hold, *, turn_taken: bool = False) -> None:
        super().__init__(hold.message)
        self.hold = hold
        self.turn_taken = turn_taken


def ask(loop: Loop, desk: Desk, booth: Booth, agent_name: str, role: Role, prompt: str) -> Answer | NoAnswer:
    """One turn; `HeldBack` when there is no budget for it, or the agent can't be had at all."""
    now = stamp(desk.clock())
    loop = desk.store.load(loop.loop_id)  # somebody may have given it more since the action began
    if (hold := hold_before_call(loop, now)) is not None:
        raise HeldBack(hold)
    try:
        agent = desk.open_agent(agent_name)
    except AgentFailed as problem:
        said = f"{problem.message}; {problem.hint}"
        raise HeldBack(Hold(holder=Holder.BLOCKER, code=problem.reason, message=said, since=now)) from problem
    settings = desk.agent_settings(agent.name)
    under_way = loop.under_way
    asked = Asked(
        role=role,
        prompt=prompt,
        record=_record(desk.progress(loop) / "turns", f"{under_way.id if under_way else 'none'}-{role.value}"),
        timeout_s=seconds_left(loop, settings.timeout_s),
        session=under_way.session if under_way else None,
        number=loop.turns.get(under_way.action.value, 0) if under_way else None,
    )
    taken = take_turn(agent, asked, booth, settings, desk.cancellation)
    answer = taken.answer
    _count(loop, desk, answer, taken.worked_s, is_model=agent.name != "bash")
    if isinstance(answer, NoAnswer) and answer.reason in _HOLDERS:
        message = f"the agent {agent.name}: {answer.reason}: {booth.redactor.clean(answer.detail).text}"
        hold = Hold(holder=_HOLDERS[answer.reason], code=answer.reason, message=message, since=now)
        raise HeldBack(hold, turn_taken=True)
    return answer


def _record(turns: Path, name: str) -> Path:
    """A folder of its own for every try: what a worker that died left of the same turn stays as it is."""
    tries = itertools.count(2)
    record = turns / name
    while record.exists():
        record = turns / f"{name}-{next(tries)}"
    return record


def _count(loop: Loop, desk: Desk, answer: Answer | NoAnswer, wall_s: float, *, is_model: bool) -> None:
    said = answer if isinstance(answer, Answer) else None
    spent = Spent(
        usd=(said.cost_usd or 0.0) if said else 0.0,
        tokens=(said.tokens or 0) if said else 0,
        wall_s=round(max(0.0, wall_s), 3),
        turns=int(is_model),
        usd_known=not is_model or (said is not None and said.cost_usd is not None),
    )
    task_id = loop.under_way.task_id if loop.under_way is not None else None
    with desk.store.changing(loop.loop_id) as opened:
        opened.apply(c.Count(spent=spent, task_id=task_id), WORKER)
