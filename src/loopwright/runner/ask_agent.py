"""Asks an agent one question: a turn, a second turn for a better answer, and other agents if the agent can't answer.

This is the only way to ask an agent. What differs between callers is behind one port, `Asker`: a turn's budget, its
record, where its cost is booked and where a takeover is stored. Callers decide what to do with the answer.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from loopwright.agents.failover import FailoverOrder, Takeover, Unanswered, after_failure
from loopwright.agents.port import (
    Agent,
    Allowance,
    Answer,
    NoAnswer,
    Reason,
    RepeatsScript,
    WorksOutside,
    seconds_for_a_turn,
)
from loopwright.agents.prompts.book import Book
from loopwright.agents.structured import AgentRequest, ask_twice
from loopwright.errors import AgentFailed
from loopwright.kernel.clock import Clock
from loopwright.kernel.files import make_folder, storage
from loopwright.kernel.process import Cancellation
from loopwright.redaction.redactor import Redactor
from loopwright.runner.turn import TurnRequest, TurnResult, take_turn
from loopwright.runner.turn_sandbox import TurnSandbox
from loopwright.sandbox.confine import require_strong
from loopwright.workspace.settings_model import AgentSettings

_T = TypeVar("_T")
# Gets the result of a turn once, however the turn ends.
BookTurn = Callable[[TurnResult], object]


class AgentReply(msgspec.Struct, Generic[_T], frozen=True):
    """An answer, and the agent that gave it: another agent may have taken over."""

    reply: _T
    by: str
    session: str | None = None


class AskingContext(msgspec.Struct, frozen=True):
    """What every question needs from its workspace."""

    open_agent: Callable[[str], Agent]
    settings_of: Callable[[str], AgentSettings]
    clock: Clock
    cancellation: Cancellation
    book: Book
    redactor: Redactor

    def clean(self, text: str) -> str:
        """A text with its secrets masked."""
        return self.redactor.clean(text).text


class Asker(Protocol):
    """The caller on whose behalf an agent is asked."""

    @property
    def record(self) -> Path:
        """The folder for the record of the first turn; later turns get a suffix."""
        ...

    def allowance(self) -> Allowance | NoAnswer:
        """The budget of the next turn, or why there is no next turn. Called before every turn."""
        ...

    def sandbox(self, agent: Agent) -> AbstractContextManager[TurnSandbox]:
        """The sandbox for this agent's turns."""
        ...

    def turn(self, called: str, turn: TurnRequest) -> AbstractContextManager[BookTurn]:
        """Note the running turn, so that its cost is booked even if this process dies.

        `called` is the name of the agent in the order. Gives the function that books the turn. An exception at the
        end of the block is the outcome of the question.
        """
        ...

    def order(self) -> FailoverOrder:
        """The user's order of agents, and which of them are unavailable for this work."""
        ...

    def hand_over(self, takeover: Takeover) -> None:
        """Store a takeover. The next agent is asked when this returns."""
        ...


def ask_agent(context: AskingContext, request: AgentRequest[_T], asker: Asker) -> AgentReply[_T] | Unanswered:
    """The answer of the first agent that gives one. `TurnStopped` if a stop was requested."""
    turns = _Turns(context, request, asker)
    while True:
        order = asker.order()
        called = order.available_agent(request.agent)
        reply = turns.ask(called)
        if not isinstance(reply, NoAnswer):
            return AgentReply(reply, called, turns.session)
        failure = replace(reply, detail=context.clean(reply.detail))
        outcome = after_failure(request.agent, called, request.role, failure, order, context.clock())
        if isinstance(outcome, Unanswered):
            return replace(outcome, session=turns.session, record=turns.record)
        asker.hand_over(outcome)


class TurnText(msgspec.Struct, frozen=True):
    """One request of a question: the name of its record, its prompt, and its nonce if the answer is a verdict."""

    name: str
    prompt: str
    nonce: str


class _Turns(Generic[_T]):
    """The turns of one question, by all agents that are asked."""

    def __init__(self, context: AskingContext, request: AgentRequest[_T], asker: Asker) -> None:
        self._context = context
        self._request = request
        self._asker = asker
        self._agents = 0
        self._taken = 0
        # Of the latest turn.
        self.session = request.session
        self.record: Path | None = None

    def ask(self, called: str) -> _T | NoAnswer:
        """Ask this agent, at most twice."""
        context, request, names = self._context, self._request, self._names()
        self.session = request.session
        try:
            agent = context.open_agent(called)
        except AgentFailed as problem:
            return NoAnswer(Reason.AGENT_MISSING, f"{problem.message}; {problem.hint}")
        with self._asker.sandbox(agent) as turn_sandbox:

            def take(prompt: str, nonce: str) -> Answer | NoAnswer:
                return self._take(agent, called, TurnText(next(names), prompt, nonce), turn_sandbox)

            return ask_twice(take, request.prompt, request.form, context.clean, context.book)

    def _names(self) -> Iterator[str]:
        """The record names for the first and second turn of the next agent."""
        self._agents += 1
        name = self._asker.record.name if self._agents == 1 else f"{self._asker.record.name}-{self._agents}"
        return iter((name, f"{name}-repair"))

    def _take(self, agent: Agent, called: str, text: TurnText, turn_sandbox: TurnSandbox) -> Answer | NoAnswer:
        context, request = self._context, self._request
        allowance = self._asker.allowance()
        if isinstance(allowance, NoAnswer):
            return allowance
        if not isinstance(agent, WorksOutside | RepeatsScript):
            require_strong(turn_sandbox.sandbox.confinement)
        settings = context.settings_of(agent.name)
        asked = TurnRequest(
            agent=agent,
            settings=settings,
            turn_sandbox=turn_sandbox,
            role=request.role,
            prompt=text.prompt,
            nonce=text.nonce,
            record=_claimed(self._asker.record.with_name(text.name)),
            timeout_s=seconds_for_a_turn(agent, settings.timeout_s),
            may_use_web=request.may_use_web,
            session=self.session if request.is_question else request.session,
            number=None if request.number is None else request.number + self._taken,
            allowance=allowance,
            may_ask_people=request.may_ask_people,
            schema=request.form.schema,
            book=context.book,
            is_question=request.is_question,
        )
        self._taken += 1
        self.record = asked.record
        with self._asker.turn(called, asked) as book:

            def booked(result: TurnResult) -> None:
                self.session = result.session or self.session
                book(result)

            return take_turn(asked, context.cancellation, booked)


def _claimed(preferred: Path) -> Path:
    """A new folder with this name, or with a number appended: two turns never share a record."""
    make_folder(preferred.parent)
    record, numbers = preferred, itertools.count(2)
    while True:
        with storage(record), suppress(FileExistsError):
            record.mkdir()
            return record
        record = preferred.with_name(f"{preferred.name}-{next(numbers)}")
