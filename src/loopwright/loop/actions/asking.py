"""Asks an agent on behalf of a loop: within the budget, on the record, and paid for whatever came of it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from loopwright.agents import structured
from loopwright.agents.decision_requests import read_requests
from loopwright.agents.port import (
    Agent,
    Allowance,
    Answer,
    NoAnswer,
    Reason,
    Role,
    WorksOutside,
    seconds_for_a_turn,
)
from loopwright.errors import AgentFailed, LoopwrightError
from loopwright.kernel.clock import stamp
from loopwright.kernel.files import shown
from loopwright.kernel.process import Stopped
from loopwright.loop import commands as c
from loopwright.loop.actions import mailbox as letters
from loopwright.loop.actions.failing import HandedOver, HeldBack, consequence, is_a_try, seats
from loopwright.loop.budget import hold_after, hold_before_call, left_for_a_turn
from loopwright.loop.model import Action, ErrorLine, Held, Hold, Holder, Loop, OpenTurn, Spent
from loopwright.loop.paying import SHELL, spent_on
from loopwright.loop.worker_context import WorkerContext
from loopwright.runner import outside
from loopwright.runner.meter import Meter
from loopwright.runner.turn import TurnRequest, meter_for, take_turn
from loopwright.runner.turn_sandbox import TurnSandbox
from loopwright.sandbox import place

__all__ = ["WORKER", "HandedOver", "HeldBack", "TurnStopped", "ask", "ask_for"]

WORKER = "worker"
_T = TypeVar("_T")
# Where no action is under way a person had tasks planned.
_PLANNING = Action.INIT


class TurnStopped(Stopped):
    """An agent's turn was stopped; its next one may go on with the same session."""

    def __init__(self, why: str, session: str | None) -> None:
        super().__init__(why)
        self.session = session


def ask(
    loop: Loop, context: WorkerContext, turn_sandbox: TurnSandbox, agent_name: str, role: Role, prompt: str
) -> tuple[Answer | NoAnswer, str]:
    """Text, asked for once more where it can't be used, and whose it is.

    `HeldBack` or `HandedOver` when there is no agent for it.
    """
    asking = _Asking(loop, context, turn_sandbox, agent_name, role)
    answer = asking.settled(structured.ask_for_text(asking.take, prompt, context.book))
    return answer, asking.called


def ask_for(
    loop: Loop,
    context: WorkerContext,
    turn_sandbox: TurnSandbox,
    agent_name: str,
    role: Role,
    prompt: str,
    kind: type[_T],
    *,
    taken: int = 0,
    work: str = "",
) -> _T | NoAnswer:
    """The same for an answer of this kind. `work` names what is done where no action is under way."""
    asking = _Asking(loop, context, turn_sandbox, agent_name, role, taken, work, structured.schema_of(kind))
    clean = turn_sandbox.redactor.clean
    return asking.settled(structured.ask(asking.take, prompt, kind, lambda text: clean(text).text, book=context.book))


def called_for(loop: Loop, context: WorkerContext, agent_name: str) -> str:
    """Who is asked now when this agent is named, at the action under way: the agent, or who stands in for it."""
    work = loop.under_way.id if loop.under_way is not None else ""
    return _who_works(loop, context, agent_name, work)


def _who_works(loop: Loop, context: WorkerContext, agent_name: str, work: str) -> str:
    if not work or agent_name == SHELL or not context.order:
        return agent_name
    return seats(loop, context, work, stamp(context.clock())).who_works(agent_name)


class _Asking:
    """One question: a turn, another one to repair its answer, and what follows where there is none."""

    def __init__(
        self,
        loop: Loop,
        context: WorkerContext,
        turn_sandbox: TurnSandbox,
        agent_name: str,
        role: Role,
        taken: int = 0,
        work: str = "",
        schema: Mapping[str, Any] | None = None,
    ) -> None:
        self._loop = loop
        self._desk = context
        self._turn_sandbox = turn_sandbox
        self._named = agent_name
        # Who was asked last.
        self.called = agent_name
        self._role = role
        self._taken = taken
        self._work = loop.under_way.id if loop.under_way is not None else work
        self._schema = schema
        self._session: str | None = None
        self._turns = 0

    def take(self, prompt: str) -> Answer | NoAnswer:
        """One turn; `HeldBack` when there is no budget for it, or a person has to decide first."""
        context, turn_sandbox, now = self._desk, self._turn_sandbox, stamp(self._desk.clock())
        self._count_the_last()
        loop = context.store.load(self._loop.loop_id)  # somebody may have given it more since the action began
        if (hold := hold_before_call(loop, now)) is not None:
            raise HeldBack(hold)
        self.called = _who_works(loop, context, self._named, self._work)
        try:
            agent = context.open_agent(self.called)
        except AgentFailed as problem:
            return NoAnswer(Reason.AGENT_MISSING, f"{problem.message}; {problem.hint}")
        asked = replace(_asked(loop, context, agent, self._role, prompt, self._taken), schema=self._schema)
        meter = meter_for(agent, asked, turn_sandbox)
        letters.tell(loop, context, turn_sandbox, self._role, asked.allowance)
        self._turns += 1
        with letters.listening(loop, context, turn_sandbox, self._role):
            answer = paid_for(loop, context, turn_sandbox, agent, self.called, asked, meter)
        self._session = meter.session
        letters.collect(turn_sandbox, asked.record)
        answer, waiting = (
            _put_to_people(loop, context, turn_sandbox, answer) if asked.may_ask_people else (answer, None)
        )
        if meter.over is not None:
            raise HeldBack(hold_after(context.store.load(loop.loop_id), meter.over, now), turn_taken=True)
        if waiting is not None and (isinstance(answer, Answer) or is_a_try(self._named, answer)):
            raise HeldBack(waiting, turn_taken=True, goes_on=True, session=meter.session)
        return answer

    def settled(self, reply: _T | NoAnswer) -> _T | NoAnswer:
        """What came, as far as the action has to know of it."""
        if not isinstance(reply, NoAnswer) or is_a_try(self._named, reply):
            return reply
        raise consequence(
            self._desk.store.load(self._loop.loop_id), self._desk, self._work, (self._named, self.called, self._role),
            reply, session=self._session, turn_taken=self._turns > 0,
        )  # fmt: skip

    def _count_the_last(self) -> None:
        """A turn that came to nothing was one, too: a repair is another."""
        at = self._loop.under_way
        if self._turns and at is not None:
            with self._desk.store.changing(self._loop.loop_id) as opened:
                opened.apply(c.Count(spent=Spent(), turn_of=at.turns_as), WORKER)


def _put_to_people(
    loop: Loop, context: WorkerContext, turn_sandbox: TurnSandbox, answer: Answer | NoAnswer
) -> tuple[Answer | NoAnswer, Hold | None]:
    """What the agent left for a person to decide; where that is decided already, the turn was for nothing."""
    found = read_requests(turn_sandbox.mailbox)
    _note(loop, context, turn_sandbox, found.problems)
    if not found.asked:
        return answer, None
    clean = turn_sandbox.redactor.clean
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
    with context.store.changing(loop.loop_id) as opened:
        after = opened.apply(c.AskDecisions(requests=asked, at=stamp(context.clock())), WORKER).loop
    holds = after.phase.holds if isinstance(after.phase, Held) else ()
    waiting = next((hold for hold in holds if hold.holder is Holder.DECISION), None)
    if waiting is not None or isinstance(answer, NoAnswer):
        return answer, waiting
    return NoAnswer(Reason.REFUSED, f"it asked what is decided already: {asked[0].question}"), None


def _note(loop: Loop, context: WorkerContext, turn_sandbox: TurnSandbox, problems: tuple[str, ...]) -> None:
    for problem in problems:
        error = ErrorLine(
            action=WORKER, message=turn_sandbox.redactor.clean(problem).text, timestamp=stamp(context.clock())
        )
        with context.store.changing(loop.loop_id) as opened:
            opened.apply(c.NoteError(error=error), WORKER)


def _asked(loop: Loop, context: WorkerContext, agent: Agent, role: Role, prompt: str, taken: int) -> TurnRequest:
    under_way = loop.under_way
    # Where no action is under way nobody would hold the loop for it.
    asking = f"\n\n{context.book.part('decisions')}" if under_way is not None else ""
    return TurnRequest(
        role=role,
        prompt=prompt if agent.name == SHELL else f"{prompt}{asking}\n{_decided(loop, context)}",
        record=record_folder(context.progress(loop) / "turns", f"{under_way.id if under_way else 'none'}-{role.value}"),
        timeout_s=seconds_for_a_turn(agent, context.agent_settings(agent.name).timeout_s),
        session=under_way.session if under_way else None,
        number=taken + loop.turns.get(under_way.turns_as if under_way else _PLANNING, 0),
        may_ask_people=under_way is not None,
        book=context.book,
        allowance=allowance_of(loop),
    )


def allowance_of(loop: Loop) -> Allowance:
    """What the loop's budget leaves for one turn."""
    return Allowance(*(left_for_a_turn(loop, name) for name in Allowance.__struct_fields__))


def _decided(loop: Loop, context: WorkerContext) -> str:
    lines = "\n".join(
        context.book.part("decided_one", id=one.id, question=one.question, answer=one.answer)
        for one in loop.decisions
        if one.answer is not None
    )
    return f"\n{context.book.part('decided', lines=lines)}\n" if lines else ""


def _left_in(turn_sandbox: TurnSandbox) -> tuple[str, ...]:
    """Where the work lies that somebody did by hand in a turn that came to nothing; without any nothing is kept."""
    sandbox, folder = turn_sandbox.sandbox, turn_sandbox.sandbox.place.folder
    if not place.is_unfinished(folder):
        return ()
    with suppress(LoopwrightError):
        if sandbox.recorder.record(lambda _: None).tree == sandbox.recorder.base().tree:
            place.let_go(folder)
            return ()
    return (f"the turn ended before it was handed in; what was done in {shown(sandbox.place.repo)} is kept there",)


def record_folder(turns: Path, name: str) -> Path:
    """A folder of its own for every try: what a worker that died left of the same turn stays as it is."""
    tries = itertools.count(2)
    record = turns / name
    while record.exists():
        record = turns / f"{name}-{next(tries)}"
    return record


def paid_for(
    loop: Loop,
    context: WorkerContext,
    turn_sandbox: TurnSandbox,
    agent: Agent,
    called: str,
    asked: TurnRequest,
    meter: Meter,
    counts_at_once: Action | None = None,
) -> Answer | NoAnswer:
    """Take the turn; what it used is counted also when it is stopped, and by the next worker when we die.

    The turn itself is counted when its action ends, but for one that does nothing for the action.
    """
    task_id = loop.under_way.task_id if loop.under_way is not None else None
    # A shell has no capacity in which it is asked.
    role = None if agent.name == SHELL else asked.role.value
    turn = OpenTurn(
        name=asked.record.name, agent=called, mailbox=str(turn_sandbox.mailbox), task_id=task_id, role=role,
        is_question=asked.is_question, is_by_hand=isinstance(agent, WorksOutside),
    )  # fmt: skip
    if agent.name != SHELL:  # a shell's turn costs nothing that could be lost, and a write less is a write less
        with context.store.changing(loop.loop_id) as opened:
            opened.apply(c.BeginTurn(turn=turn), WORKER)
    answer: Answer | NoAnswer | None = None
    try:
        answer = take_turn(
            agent, asked, turn_sandbox, context.agent_settings(agent.name), context.cancellation, meter
        ).answer
    except Stopped as stop:
        raise TurnStopped(str(stop), None if asked.is_question else meter.session) from stop
    finally:
        spent = spent_on(agent.name, meter.used, meter.worked_s, answer if isinstance(answer, Answer) else None)
        with context.store.changing(loop.loop_id) as opened:
            of = counts_at_once or (None if loop.under_way is not None else _PLANNING)
            opened.apply(c.Count(spent=spent, task_id=task_id, turn=turn.name, turn_of=of, role=role), WORKER)
        left = () if isinstance(answer, Answer) else _left_in(turn_sandbox)
        _note(loop, context, turn_sandbox, (*meter.used.problems, *outside.in_words(meter.outside), *left))
    return answer
