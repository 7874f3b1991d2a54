"""Asks an agent on behalf of a loop: within its budget, with a record, and paid for however the turn ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from loopwright.agents.failover import FailoverOrder, Takeover
from loopwright.agents.mailbox import read_requests
from loopwright.agents.port import Agent, Allowance, Answer, NoAnswer, Reason
from loopwright.agents.structured import AgentRequest
from loopwright.errors import LoopwrightError
from loopwright.kernel.clock import stamp
from loopwright.kernel.files import shown
from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop.actions import mailbox
from loopwright.loop.actions.failing import HandedOver, HeldBack, held_back, is_a_try, order_for
from loopwright.loop.budget import hold_after, hold_before_call, left_for_a_turn
from loopwright.loop.model import Action, ErrorLine, Hold, Holder, Loop, OpenTurn, Spent
from loopwright.loop.paying import SHELL, spent_on
from loopwright.loop.worker_context import WORKER, WorkerContext
from loopwright.runner.ask_agent import AgentReply, AskingContext, BookTurn, ask_agent
from loopwright.runner.turn import TurnRequest, TurnResult
from loopwright.runner.turn_sandbox import TurnSandbox
from loopwright.sandbox import place

_T = TypeVar("_T")
# Without an action under way, a person had tasks planned.
_PLANNING = Action.INIT


def ask(
    loop: Loop, context: WorkerContext, turn_sandbox: TurnSandbox, request: AgentRequest[_T], work: str = ""
) -> AgentReply[_T] | NoAnswer:
    """The answer, or a failed try. `HeldBack` or `HandedOver` if the agent can't be asked now.

    `work` names what is done if no action is under way.
    """
    work = loop.under_way.id if loop.under_way is not None else work
    loop = context.store.load(loop.loop_id)
    asker = _LoopAsker(loop, context, turn_sandbox, request, work)
    try:
        outcome = ask_agent(asking_context(context, turn_sandbox), _completed(loop, context, request), asker)
    except _DecidedBefore as decided:
        return decided.failure
    if isinstance(outcome, AgentReply):
        return outcome
    if is_a_try(request.agent, outcome.failure):
        return outcome.failure
    raise held_back(context.store.load(loop.loop_id), context, outcome, turn_taken=asker.turns > 0)


def asking_context(context: WorkerContext, turn_sandbox: TurnSandbox) -> AskingContext:
    """What a question needs of the worker."""
    return AskingContext(
        context.open_agent, context.agent_settings, context.clock, context.cancellation, context.book,
        turn_sandbox.redactor,
    )  # fmt: skip


def allowance_of(loop: Loop) -> Allowance:
    """What the loop's budget leaves for one turn."""
    return Allowance(*(left_for_a_turn(loop, name) for name in Allowance.__struct_fields__))


def turns_folder(loop: Loop, context: WorkerContext) -> Path:
    """The folder of the records of the loop's turns."""
    return context.progress(loop) / "turns"


def _completed(loop: Loop, context: WorkerContext, request: AgentRequest[_T]) -> AgentRequest[_T]:
    """The request with what the loop adds: decisions of people, the session, and how many turns there were."""
    at = loop.under_way
    # Without an action under way, an open question could not hold the loop.
    asking = f"\n\n{context.book.part('decisions')}" if at is not None else ""
    return replace(
        request,
        prompt=request.prompt if request.agent == SHELL else f"{request.prompt}{asking}\n{_decided(loop, context)}",
        session=at.session if at is not None else None,
        number=(request.number or 0) + loop.turns.get(at.turns_as if at is not None else _PLANNING, 0),
        may_ask_people=at is not None,
    )


def _decided(loop: Loop, context: WorkerContext) -> str:
    lines = "\n".join(
        context.book.part("decided_one", id=decision.id, question=decision.question, answer=decision.answer)
        for decision in loop.decisions
        if decision.answer is not None
    )
    return f"\n{context.book.part('decided', lines=lines)}\n" if lines else ""


class _DecidedBefore(Exception):
    """The agent asked only what a person has decided already: a failed try."""

    def __init__(self, question: str) -> None:
        self.failure = NoAnswer(Reason.REFUSED, f"the agent asked what is already decided: {question}")


class _LoopAsker:
    """A loop that asks: it pays from its budget, has the turns in its history, and reads the agent's mailbox."""

    def __init__(
        self, loop: Loop, context: WorkerContext, turn_sandbox: TurnSandbox, request: AgentRequest[_T], work: str
    ) -> None:
        self._loop = loop
        self._context = context
        self._turn_sandbox = turn_sandbox
        self._agent = request.agent
        self._role = request.role
        self._work = work
        self.turns = 0

    @property
    def record(self) -> Path:
        """Named after the action and the role."""
        at = self._loop.under_way
        return turns_folder(self._loop, self._context) / f"{at.id if at is not None else 'none'}-{self._role.value}"

    def allowance(self) -> Allowance:
        """What the budget leaves now: a person may have raised it since the action began."""
        context = self._context
        if self.turns:
            with context.store.changing(self._loop.loop_id) as opened:
                if opened.loop.under_way is not None:
                    # The last turn gave no usable answer. It counts as well: the repair is another turn.
                    opened.apply(e.CostCounted(spent=Spent(), turn_of=opened.loop.under_way.turns_as), WORKER)
                self._loop = opened.loop
        if (hold := hold_before_call(self._loop, stamp(context.clock()))) is not None:
            raise HeldBack(hold)
        return allowance_of(self._loop)

    def sandbox(self, agent: Agent) -> AbstractContextManager[TurnSandbox]:
        """The sandbox of the action."""
        del agent
        return nullcontext(self._turn_sandbox)

    @contextmanager
    def turn(self, called: str, turn: TurnRequest) -> Iterator[BookTurn]:
        """With a description of the turn for the agent, and its notes of progress in the loop's history."""
        loop, context, turn_sandbox = self._loop, self._context, self._turn_sandbox
        results: list[TurnResult] = []
        # Without an action under way the turn is counted at once. Otherwise it is counted when the action ends.
        counted_as = None if loop.under_way is not None else _PLANNING
        mailbox.describe_turn(loop, context, turn_sandbox, self._role, turn.allowance)
        self.turns += 1
        with mailbox.listening(loop, context, turn_sandbox, self._role):
            begin_turn(loop, context, called, turn)
            yield lambda result: results.append(book_turn(loop, context, turn, result, counted_as))
        mailbox.collect(turn_sandbox, turn.record)
        self._require_no_hold(results[0])

    def order(self) -> FailoverOrder:
        """With all takeovers of the loop."""
        return order_for(self._loop, self._context, self._agent, self._work)

    def hand_over(self, takeover: Takeover) -> None:
        """Leave the action: the next agent starts it again, in a fresh sandbox."""
        raise HandedOver(takeover)

    def _require_no_hold(self, result: TurnResult) -> None:
        """`HeldBack` if the turn went over its budget, or a person has to decide first."""
        loop, context, answer = self._loop, self._context, result.answer
        question, waiting = _put_to_people(loop, context, self._turn_sandbox) if loop.under_way else (None, None)
        if result.over is not None:
            hold = hold_after(context.store.load(loop.loop_id), result.over, stamp(context.clock()))
            raise HeldBack(hold, turn_taken=True)
        has_tried = not isinstance(answer, NoAnswer) or is_a_try(self._agent, answer)
        if waiting is not None and has_tried:
            raise HeldBack(waiting, turn_taken=True, goes_on=True, session=result.session)
        if question is not None and waiting is None and isinstance(answer, Answer):
            raise _DecidedBefore(question)


def begin_turn(loop: Loop, context: WorkerContext, called: str, turn: TurnRequest) -> None:
    """Note the turn: if this worker dies, the next one counts what the turn used."""
    if turn.agent.name == SHELL:  # a shell's turn has no cost that could be lost
        return
    open_turn = OpenTurn(
        name=turn.record.name, agent=called, mailbox=str(turn.turn_sandbox.mailbox), task_id=loop.task_id_under_way,
        role=turn.role.value, is_question=turn.is_question, is_by_hand=turn.is_by_hand,
    )  # fmt: skip
    context.record(loop, e.TurnBegun(turn=open_turn))


def book_turn(
    loop: Loop, context: WorkerContext, turn: TurnRequest, result: TurnResult, counted_as: Action | None
) -> TurnResult:
    """Take the cost from the loop's budget. `counted_as` names the action to count the turn for, if that is now."""
    cost = result.cost
    counted = e.CostCounted(
        spent=spent_on(cost), task_id=loop.task_id_under_way, turn=cost.turn, turn_of=counted_as,
        role=None if cost.agent == SHELL else cost.role,
    )  # fmt: skip
    context.record(loop, counted)
    left = () if isinstance(result.answer, Answer) else _unfinished_work(turn.turn_sandbox)
    _note(loop, context, turn.turn_sandbox, (*result.notes(), *left))
    return result


def _put_to_people(loop: Loop, context: WorkerContext, turn_sandbox: TurnSandbox) -> tuple[str | None, Hold | None]:
    """The first question that the agent left for a person, and the hold for it; no hold if it is decided already."""
    requests = read_requests(turn_sandbox.mailbox)
    _note(loop, context, turn_sandbox, requests.problems)
    if not requests.asked:
        return None, None
    clean = turn_sandbox.redactor.clean
    asked = tuple(
        replace(
            request,
            # An id with a secret in it would be in every file of the loop, and in what a person types.
            id=request.id if request.id is None or clean(request.id).text == request.id else None,
            question=clean(request.question).text,
            options=tuple(clean(text).text for text in request.options),
            scope_wanted=tuple(clean(text).text for text in request.scope_wanted),
        )
        for request in requests.asked
    )
    after = context.record(loop, c.AskDecisions(requests=asked, at=stamp(context.clock())))
    return asked[0].question, next((hold for hold in after.holds if hold.holder is Holder.DECISION), None)


def _note(loop: Loop, context: WorkerContext, turn_sandbox: TurnSandbox, problems: tuple[str, ...]) -> None:
    for problem in problems:
        error = ErrorLine(
            action=WORKER, message=turn_sandbox.redactor.clean(problem).text, timestamp=stamp(context.clock())
        )
        context.record(loop, e.ErrorNoted(error=error))


def _unfinished_work(turn_sandbox: TurnSandbox) -> tuple[str, ...]:
    """Where the work is that a person did by hand in a turn without an answer. Without changes nothing is kept."""
    sandbox, folder = turn_sandbox.sandbox, turn_sandbox.sandbox.place.folder
    if not place.is_unfinished(folder):
        return ()
    with suppress(LoopwrightError):
        if sandbox.recorder.record(lambda _: None).tree == sandbox.recorder.base().tree:
            place.stop_keeping(folder)
            return ()
    return (f"the turn ended before it was handed in; what was done in {shown(sandbox.place.repo)} is kept there",)
