"""Asks an agent on behalf of a loop: within the budget, on the record, and paid for whatever came of it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from loopwright.agents import structured
from loopwright.agents.decision_requests import read_requests
from loopwright.agents.port import Agent, Answer, NoAnswer, Reason, Role
from loopwright.errors import AgentFailed
from loopwright.kernel.clock import stamp
from loopwright.kernel.process import Stopped
from loopwright.loop import commands as c
from loopwright.loop.actions import letters
from loopwright.loop.budget import hold_after, hold_before_call, left_for_a_turn
from loopwright.loop.desk import Desk
from loopwright.loop.model import Action, ErrorLine, Held, Hold, Holder, Loop, OpenTurn, Spent, Takeover
from loopwright.loop.paying import SHELL, spent_on
from loopwright.loop.stand_in import next_back, stands_in, who_works
from loopwright.runner.booth import Booth
from loopwright.runner.meter import Allowance, Meter
from loopwright.runner.turn import Asked, meter_for, take_turn

WORKER = "worker"
_T = TypeVar("_T")
# Where no action is under way a person had tasks planned.
_PLANNING = Action.INIT
_HOLDERS = {
    Reason.RATE_LIMITED: Holder.QUOTA,
    Reason.BUDGET_USED: Holder.BUDGET,
    Reason.AGENT_MISSING: Holder.BLOCKER,
    Reason.AGENT_TOO_OLD: Holder.BLOCKER,
    Reason.NOT_LOGGED_IN: Holder.BLOCKER,
}


class HeldBack(Exception):
    """The action can't be done now; the loop waits."""

    def __init__(
        self, hold: Hold, *, turn_taken: bool = False, goes_on: bool = False, session: str | None = None
    ) -> None:
        super().__init__(hold.message)
        self.hold = hold
        self.turn_taken = turn_taken
        # Whether the same action is gone on with when the hold is lifted; else it is begun anew.
        self.goes_on = goes_on
        self.session = session


class HandedOver(Exception):
    """The agent can't go on with the action; another one begins it anew."""

    def __init__(self, takeover: Takeover) -> None:
        super().__init__(takeover.message)
        self.takeover = takeover


class TurnStopped(Stopped):
    """An agent's turn was stopped; its next one may go on with the same session."""

    def __init__(self, why: str, session: str | None) -> None:
        super().__init__(why)
        self.session = session


def ask(
    loop: Loop,
    desk: Desk,
    booth: Booth,
    agent_name: str,
    role: Role,
    prompt: str,
    schema: Mapping[str, Any] | None = None,
    *,
    taken: int = 0,
) -> Answer | NoAnswer:
    """One turn; `HeldBack` when there is no budget for it, or no agent can be had; `HandedOver` to the next one."""
    now = stamp(desk.clock())
    loop = desk.store.load(loop.loop_id)  # somebody may have given it more since the action began
    if (hold := hold_before_call(loop, now)) is not None:
        raise HeldBack(hold)
    called = _who_works(loop, desk, agent_name, now)
    try:
        agent = _open(desk, called, now)
    except HeldBack as missing:
        raise _next(loop, desk, agent_name, called, role, missing) from missing
    asked = replace(_asked(loop, desk, agent, role, prompt, taken), schema=schema)
    meter = meter_for(agent, asked, booth)
    letters.tell(loop, desk, booth, role)
    answer = paid_for(loop, desk, booth, agent, called, asked, meter)
    letters.collect(loop, desk, booth, role, asked.record)
    answer, waiting = _put_to_people(loop, desk, booth, answer)
    if meter.over is not None:
        raise HeldBack(hold_after(desk.store.load(loop.loop_id), meter.over, now), turn_taken=True)
    if isinstance(answer, NoAnswer) and answer.reason in _HOLDERS:
        message = f"the agent {agent.name}: {answer.reason}: {booth.redactor.clean(answer.detail).text}"
        until = None if answer.reset_at is None else stamp(answer.reset_at + timedelta(milliseconds=999))
        hold = Hold(holder=_HOLDERS[answer.reason], code=answer.reason, message=message, since=now, until=until)
        limited = answer.reason is Reason.RATE_LIMITED
        back = HeldBack(hold, turn_taken=True, goes_on=limited, session=meter.session)
        raise _next(desk.store.load(loop.loop_id), desk, agent_name, called, role, back)
    if waiting is not None:
        raise HeldBack(waiting, turn_taken=True, goes_on=True, session=meter.session)
    return answer


def ask_for(
    loop: Loop, desk: Desk, booth: Booth, agent_name: str, role: Role, prompt: str, kind: type[_T]
) -> _T | NoAnswer:
    """An answer of this kind; one that can't be used is asked for once more."""
    asked = itertools.count()

    def take(text: str) -> Answer | NoAnswer:
        if next(asked):
            # The turn that came to nothing was one, too.
            of = loop.under_way.action if loop.under_way is not None else None
            if of is not None:
                with desk.store.changing(loop.loop_id) as opened:
                    opened.apply(c.Count(spent=Spent(), turn_of=of), WORKER)
        return ask(loop, desk, booth, agent_name, role, text, structured.schema_of(kind))

    return structured.ask(take, prompt, kind, lambda text: booth.redactor.clean(text).text, book=desk.book)


def called_for(loop: Loop, desk: Desk, agent_name: str) -> str:
    """Who is asked now when this agent is named."""
    return _who_works(loop, desk, agent_name, stamp(desk.clock()))


def _who_works(loop: Loop, desk: Desk, agent_name: str, now: str) -> str:
    """The agent that was named, or who stands in for it where the user allows that."""
    if loop.under_way is None or agent_name == SHELL or not desk.order:
        return agent_name
    return who_works(loop, agent_name, desk.order, now)


def _next(loop: Loop, desk: Desk, agent_name: str, called: str, role: Role, back: HeldBack) -> HeldBack | HandedOver:
    """At a limit the next agent takes over, where the user allows it; a stand-in may fail by more than a limit."""
    limited = back.hold.holder is Holder.QUOTA
    stands_for_another = called != agent_name and back.hold.holder is Holder.BLOCKER
    if loop.under_way is None or not desk.order or not (limited or stands_for_another):
        return back
    by = stands_in(loop, called, desk.order, back.hold.since)
    if by is not None:
        hold = back.hold
        return HandedOver(
            Takeover(
                agent=called, by=by, role=role.value, code=hold.code, message=hold.message, at=hold.since,
                action_id=loop.under_way.id, until=hold.until,
            )
        )  # fmt: skip
    until = next_back(loop, agent_name, desk.order, back.hold.since)
    ends = [one for one in (until, back.hold.until) if one is not None]
    message = f"{back.hold.message}; nobody else can take over"
    hold = replace(back.hold, holder=Holder.QUOTA, message=message, until=min(ends, default=None))
    return HeldBack(hold, turn_taken=back.turn_taken, goes_on=True, session=back.session)


def _put_to_people(
    loop: Loop, desk: Desk, booth: Booth, answer: Answer | NoAnswer
) -> tuple[Answer | NoAnswer, Hold | None]:
    """What the agent left for a person to decide; where that is decided already, the turn was for nothing."""
    found = read_requests(booth.mailbox)
    _note(loop, desk, booth, found.problems)
    if not found.asked:
        return answer, None
    clean = booth.redactor.clean
    asked = tuple(
        replace(
            one,
            # An id with a secret in it is none: it would be in every file of the loop, and in what a person types.
            id=one.id if one.id is None or clean(one.id).text == one.id else None,
            question=clean(one.question).text,
            options=tuple(clean(text).text for text in one.options),
        )
        for one in found.asked
    )
    with desk.store.changing(loop.loop_id) as opened:
        after = opened.apply(c.AskDecisions(requests=asked, at=stamp(desk.clock())), WORKER).loop
    holds = after.phase.holds if isinstance(after.phase, Held) else ()
    waiting = next((hold for hold in holds if hold.holder is Holder.DECISION), None)
    if waiting is not None or isinstance(answer, NoAnswer):
        return answer, waiting
    return NoAnswer(Reason.REFUSED, f"it asked what is decided already: {asked[0].question}"), None


def _note(loop: Loop, desk: Desk, booth: Booth, problems: tuple[str, ...]) -> None:
    for problem in problems:
        error = ErrorLine(action=WORKER, message=booth.redactor.clean(problem).text, timestamp=stamp(desk.clock()))
        with desk.store.changing(loop.loop_id) as opened:
            opened.apply(c.NoteError(error=error), WORKER)


def _open(desk: Desk, name: str, now: str) -> Agent:
    try:
        return desk.open_agent(name)
    except AgentFailed as problem:
        said = f"{problem.message}; {problem.hint}"
        raise HeldBack(Hold(holder=Holder.BLOCKER, code=problem.reason, message=said, since=now)) from problem


def _asked(loop: Loop, desk: Desk, agent: Agent, role: Role, prompt: str, taken: int) -> Asked:
    under_way = loop.under_way
    return Asked(
        role=role,
        prompt=prompt if agent.name == SHELL else f"{prompt}\n\n{desk.book.part('decisions')}\n{_decided(loop, desk)}",
        record=record_folder(desk.progress(loop) / "turns", f"{under_way.id if under_way else 'none'}-{role.value}"),
        timeout_s=desk.agent_settings(agent.name).timeout_s,
        session=under_way.session if under_way else None,
        number=taken + loop.turns.get(under_way.turns_as if under_way else _PLANNING, 0),
        may_ask_people=under_way is not None,
        book=desk.book,
        allowance=Allowance(*(left_for_a_turn(loop, name) for name in Allowance.__struct_fields__)),
    )


def _decided(loop: Loop, desk: Desk) -> str:
    lines = "\n".join(
        desk.book.part("decided_one", id=one.id, question=one.question, answer=one.answer)
        for one in loop.decisions
        if one.answer is not None
    )
    return f"\n{desk.book.part('decided', lines=lines)}\n" if lines else ""


def record_folder(turns: Path, name: str) -> Path:
    """A folder of its own for every try: what a worker that died left of the same turn stays as it is."""
    tries = itertools.count(2)
    record = turns / name
    while record.exists():
        record = turns / f"{name}-{next(tries)}"
    return record


def paid_for(
    loop: Loop,
    desk: Desk,
    booth: Booth,
    agent: Agent,
    called: str,
    asked: Asked,
    meter: Meter,
    counts_at_once: Action | None = None,
) -> Answer | NoAnswer:
    """Take the turn; what it used is counted also when it is stopped, and by the next worker when we die.

    The turn itself is counted when its action ends, but for one that does nothing for the action.
    """
    task_id = loop.under_way.task_id if loop.under_way is not None else None
    # A shell has no capacity in which it is asked.
    role = None if agent.name == SHELL else asked.role.value
    turn = OpenTurn(name=asked.record.name, agent=called, mailbox=str(booth.mailbox), task_id=task_id, role=role)
    if agent.name != SHELL:  # a shell's turn costs nothing that could be lost, and a write less is a write less
        with desk.store.changing(loop.loop_id) as opened:
            opened.apply(c.BeginTurn(turn=turn), WORKER)
    answer: Answer | NoAnswer | None = None
    try:
        answer = take_turn(agent, asked, booth, desk.agent_settings(agent.name), desk.cancellation, meter).answer
    except Stopped as stop:
        raise TurnStopped(str(stop), meter.session) from stop
    finally:
        spent = spent_on(agent.name, meter.used, meter.worked_s, answer if isinstance(answer, Answer) else None)
        with desk.store.changing(loop.loop_id) as opened:
            of = counts_at_once or (None if loop.under_way is not None else _PLANNING)
            opened.apply(c.Count(spent=spent, task_id=task_id, turn=turn.name, turn_of=of, role=role), WORKER)
        _note(loop, desk, booth, meter.used.problems)
    return answer
