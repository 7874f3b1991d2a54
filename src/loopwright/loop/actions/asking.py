"""Asks an agent on behalf of a loop: within the budget, on the record, and paid for whatever came of it."""

from __future__ import annotations

import itertools
from pathlib import Path

from loopwright.agents.port import Agent, Answer, NoAnswer, Reason, Role
from loopwright.errors import AgentFailed
from loopwright.kernel.clock import stamp
from loopwright.loop import commands as c
from loopwright.loop.budget import hold_after, hold_before_call, left_for_a_turn
from loopwright.loop.desk import Desk
from loopwright.loop.model import ErrorLine, Hold, Holder, Loop, OpenTurn
from loopwright.loop.paying import spent_on
from loopwright.runner.meter import Allowance, Meter
from loopwright.runner.turn import Asked, Booth, meter_for, take_turn

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
    agent = _open(desk, agent_name, now)
    asked = _asked(loop, desk, agent, role, prompt)
    meter = meter_for(agent, asked, booth)
    answer = _paid_for(loop, desk, booth, agent, agent_name, asked, meter)
    if meter.over is not None:
        raise HeldBack(hold_after(desk.store.load(loop.loop_id), meter.over, now), turn_taken=True)
    if isinstance(answer, NoAnswer) and answer.reason in _HOLDERS:
        message = f"the agent {agent.name}: {answer.reason}: {booth.redactor.clean(answer.detail).text}"
        hold = Hold(holder=_HOLDERS[answer.reason], code=answer.reason, message=message, since=now)
        raise HeldBack(hold, turn_taken=True)
    return answer


def _open(desk: Desk, name: str, now: str) -> Agent:
    try:
        return desk.open_agent(name)
    except AgentFailed as problem:
        said = f"{problem.message}; {problem.hint}"
        raise HeldBack(Hold(holder=Holder.BLOCKER, code=problem.reason, message=said, since=now)) from problem


def _asked(loop: Loop, desk: Desk, agent: Agent, role: Role, prompt: str) -> Asked:
    under_way = loop.under_way
    return Asked(
        role=role,
        prompt=prompt,
        record=_record(desk.progress(loop) / "turns", f"{under_way.id if under_way else 'none'}-{role.value}"),
        timeout_s=desk.agent_settings(agent.name).timeout_s,
        session=under_way.session if under_way else None,
        number=loop.turns.get(under_way.action.value, 0) if under_way else None,
        allowance=Allowance(*(left_for_a_turn(loop, name) for name in Allowance.__struct_fields__)),
    )


def _record(turns: Path, name: str) -> Path:
    """A folder of its own for every try: what a worker that died left of the same turn stays as it is."""
    tries = itertools.count(2)
    record = turns / name
    while record.exists():
        record = turns / f"{name}-{next(tries)}"
    return record


def _paid_for(
    loop: Loop, desk: Desk, booth: Booth, agent: Agent, called: str, asked: Asked, meter: Meter
) -> Answer | NoAnswer:
    """Take the turn; what it used is counted also when it is stopped, and by the next worker when we die."""
    task_id = loop.under_way.task_id if loop.under_way is not None else None
    turn = OpenTurn(name=asked.record.name, agent=called, mailbox=str(booth.mailbox), task_id=task_id)
    with desk.store.changing(loop.loop_id) as opened:
        opened.apply(c.BeginTurn(turn=turn), WORKER)
    answer: Answer | NoAnswer | None = None
    try:
        answer = take_turn(agent, asked, booth, desk.agent_settings(agent.name), desk.cancellation, meter).answer
    finally:
        spent = spent_on(agent.name, meter.used, meter.worked_s, answer if isinstance(answer, Answer) else None)
        with desk.store.changing(loop.loop_id) as opened:
            opened.apply(c.Count(spent=spent, task_id=task_id, turn=turn.name), WORKER)
            for problem in meter.used.problems:
                message = booth.redactor.clean(f"{agent.name}: {problem}").text
                error = ErrorLine(action=asked.role.value, message=message, timestamp=stamp(desk.clock()))
                opened.apply(c.NoteError(error=error), WORKER)
    return answer
