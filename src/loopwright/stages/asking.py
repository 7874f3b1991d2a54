"""Asks an agent on behalf of a workflow, outside its lock: one turn in a sandbox, one repair, paid for in any case."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from loopwright.agents import structured
from loopwright.agents.failover import PASSED_ON, FailoverOrder, Takeover, takeover_in_words, told_end
from loopwright.agents.mailbox import leave
from loopwright.agents.port import USUAL_TURN_S, Agent, Allowance, Answer, NoAnswer, Reason, Role
from loopwright.errors import AgentFailed, Interrupted, LoopwrightError
from loopwright.kernel.clock import stamp
from loopwright.kernel.process import Cancellation, Stopped
from loopwright.runner import outside
from loopwright.runner.meter import Meter, counted
from loopwright.runner.turn import TurnRequest, meter_for, take_turn
from loopwright.runner.turn_sandbox import TurnSandbox, open_turn_sandbox
from loopwright.sandbox.confine import choose
from loopwright.sandbox.homes import drop_homes
from loopwright.sandbox.open import opened
from loopwright.sandbox.port import SandboxRequest as Sandboxed
from loopwright.stages.by_hand import programs_in, require_a_program
from loopwright.stages.context import Context
from loopwright.stages.document_language import demand_of
from loopwright.stages.open_turns import count_the_dead, on_record
from loopwright.stages.spending import Spending, loops_for, takeovers_of
from loopwright.stages.stores import workflows_of
from loopwright.workflow import commands as c
from loopwright.workflow.model import Cost, OpenTurn, Stage
from loopwright.workspace.settings_model import AgentSettings

_T = TypeVar("_T")


class AgentRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked, of whom, for which workflow. `name` is the turn's in the record."""

    slug: str
    stage: Stage
    agent: str
    role: Role
    prompt: str
    name: str
    # How many turns in this role were taken before for this workflow.
    number: int
    # Where it works, when that is not the project as it is now; and what it finds in its mailbox.
    sandbox: Sandboxed | None = None
    letters: dict[str, bytes] = {}
    # Who pays, where somebody set limits.
    spending: Spending | None = None
    # Who may not be asked, also not in another one's place; and who hears that somebody was.
    barred: frozenset[str] = frozenset()
    tell: Callable[[str], None] = lambda _: None


class AgentReply(msgspec.Struct, Generic[_T], frozen=True):
    """An answer, and whose it is: another agent may have stood in."""

    reply: _T
    by: str


def ask_agent(
    context: Context,
    wanted: AgentRequest,
    kind: type[_T],
    cancellation: Cancellation,
    wrong_with: Callable[[_T], str | None] = lambda _: None,
) -> AgentReply[_T]:
    """One answer of this kind; `AgentFailed` when none is to be had, `Interrupted` when somebody stops it."""
    count_the_dead(context, wanted.slug)
    # Whoever stands in has a program of its own.
    require_a_program(context, wanted.agent, wanted.role)
    work, asked = f"{wanted.name}-{secrets.token_hex(3)}", _Turns(wanted)
    while True:
        places = _seats(context, wanted, work)
        called = places.who_works(wanted.agent)
        reply = _asked_of(context, replace(wanted, agent=called), kind, cancellation, wrong_with, asked)
        if not isinstance(reply, NoAnswer):
            return AgentReply(reply, called)
        by = places.stands_in(called) if places.order and reply.reason in PASSED_ON else None
        if by is None:
            raise _failed(context, wanted, called, reply, places)
        _hand_over(context, wanted, reply, called, by, work)
        asked.next_agent()


class _Turns:
    """The turns of one question: their places in the record, and how many they are."""

    def __init__(self, wanted: AgentRequest) -> None:
        self._name = wanted.name
        self._agents = 1
        self._repairs = 0
        self.taken = 0

    def next_agent(self) -> None:
        """Another one is asked."""
        self._agents += 1
        self._repairs = 0

    def next_name(self) -> str:
        """The record of the next turn."""
        name = self._name if self._agents == 1 else f"{self._name}-{self._agents}"
        name = f"{name}-repair" if self._repairs else name
        self._repairs += 1
        self.taken += 1
        return name


def _seats(context: Context, wanted: AgentRequest, work: str) -> FailoverOrder:
    order, now = programs_in(context, context.stand_ins()), stamp(context.clock())
    if not order:
        return FailoverOrder((), (), work, now)
    with workflows_of(context).changing(wanted.slug) as opened:
        workflow = opened.workflow
    known = takeovers_of(workflow, loops_for(context, workflow))
    return FailoverOrder(order, known, work, now, barred=wanted.barred)


def _hand_over(context: Context, wanted: AgentRequest, failure: NoAnswer, called: str, by: str, work: str) -> None:
    now = context.clock()
    takeover = Takeover(
        agent=called, by=by, role=wanted.role.value, code=failure.reason, at=stamp(now), action_id=work,
        message=context.tools().redactor.clean(failure.detail).text, until=told_end(failure, now),
    )  # fmt: skip
    with workflows_of(context).changing(wanted.slug) as opened:
        opened.apply(c.NoteTakeover(takeover=takeover), "tool")
    wanted.tell(takeover_in_words(takeover))


def _asked_of(
    context: Context,
    wanted: AgentRequest,
    kind: type[_T],
    cancellation: Cancellation,
    wrong_with: Callable[[_T], str | None],
    turns: _Turns,
) -> _T | NoAnswer:
    try:
        agent = context.open_agent(wanted.agent)
    except AgentFailed as problem:
        return NoAnswer(Reason.AGENT_MISSING, f"{problem.message}; {problem.hint}")
    redactor = context.tools().redactor
    try:
        with _turn_sandbox(context, wanted, cancellation) as turn_sandbox:

            def take(prompt: str) -> Answer | NoAnswer:
                number = wanted.number + turns.taken
                asked = _asked(context, wanted, prompt, turns.next_name(), number, structured.schema_of(kind))
                return _taken(context, wanted, agent, asked, turn_sandbox, cancellation)

            return structured.ask(
                take,
                wanted.prompt + demand_of(context),
                kind,
                lambda text: redactor.clean(text).text,
                wrong_with,
                context.prompts(),
            )
    except Stopped as stop:
        raise Interrupted(str(stop), hint="the same command again goes on") from stop


def _asked(
    context: Context, wanted: AgentRequest, prompt: str, name: str, number: int, schema: Mapping[str, Any]
) -> TurnRequest:
    return TurnRequest(
        role=wanted.role,
        prompt=prompt,
        record=context.layout.turn(name),
        timeout_s=_settings(context, wanted.agent).timeout_s or USUAL_TURN_S,
        number=number,
        schema=schema,
        book=context.prompts(),
        allowance=wanted.spending.allowance() if wanted.spending is not None else Allowance(),
    )


def _taken(
    context: Context,
    wanted: AgentRequest,
    agent: Agent,
    asked: TurnRequest,
    turn_sandbox: TurnSandbox,
    cancellation: Cancellation,
) -> Answer | NoAnswer:
    meter = meter_for(agent, asked, turn_sandbox)
    answer: Answer | NoAnswer | None = None
    turn = OpenTurn(
        name=asked.record.name, agent=agent.name, role=wanted.role.value, stage=wanted.stage,
        mailbox=str(turn_sandbox.mailbox),
    )  # fmt: skip
    with on_record(context, wanted.slug, turn):
        try:
            answer = take_turn(agent, asked, turn_sandbox, _settings(context, wanted.agent), cancellation, meter).answer
        finally:
            # Also of a turn that somebody stopped.
            _count(context, wanted, agent, meter, answer if isinstance(answer, Answer) else None, turn.name)
            for said in outside.in_words(meter.outside):
                wanted.tell(said)
    return answer


def _failed(
    context: Context, wanted: AgentRequest, name: str, answer: NoAnswer, places: FailoverOrder
) -> LoopwrightError:
    if answer.reason is Reason.BUDGET_USED and wanted.spending is not None:
        return wanted.spending.after_an_end("budget_used", answer.detail)
    reason, detail = answer.reason, context.tools().redactor.clean(answer.detail).text
    told = told_end(answer, context.clock())
    ends = [end for end in (places.next_back(wanted.agent), told) if end is not None]
    if ends:
        until = min(ends)
        message = f"the agent {name}: {reason} until {until}: {detail}" if told else ""
        hint = f"nothing is lost: the same command again after {until}, or with another agent"
        return AgentFailed(reason, message or f"the agent {name}: {reason}: {detail}", hint=hint)
    if reason is Reason.RATE_LIMITED:
        hint = "nothing is lost: the same command again later, or with another agent"
        return AgentFailed(reason, f"the agent {name}: {reason}, and nobody said until when: {detail}", hint=hint)
    if reason is Reason.INVALID_ANSWER:
        hint = f"read what it said in {context.layout.turn(wanted.name)}, or use another agent"
        return AgentFailed(reason, f"the agent {name} gave {detail}", hint=hint)
    hint = "`loopwright doctor` says more"
    if reason is Reason.BUDGET_USED:
        hint = "the limit is the agent's own: raise it, as in `agents.NAME.args`, then the same command again"
    return AgentFailed(reason, f"the agent {name}: {reason}: {detail}", hint=hint)


def _count(context: Context, wanted: AgentRequest, agent: Agent, meter: Meter, said: Answer | None, turn: str) -> None:
    total = counted(meter.used, said)
    cost = Cost(
        role=wanted.role.value,
        agent=agent.name,
        stage=wanted.stage,
        wall_s=round(meter.worked_s, 3),
        usd=total.usd,
        tokens=total.tokens,
        is_computed=total.is_computed,
    )
    with workflows_of(context).changing(wanted.slug) as open_workflow:
        open_workflow.apply(c.CountCost(cost=cost, turn=turn), "tool")


@contextmanager
def _turn_sandbox(context: Context, wanted: AgentRequest, cancellation: Cancellation) -> Iterator[TurnSandbox]:
    environment = context.step_environment()
    with opened(
        wanted.sandbox or context.sandbox_request(),
        wanted.name,
        confine=lambda view: choose(
            context.settings.values.sandbox.isolation, context.isolations, view, context.shell(),
            environment.for_step(()),
        ),
        keep=False,
        cancellation=cancellation,
    ) as sandbox:  # fmt: skip
        work = sandbox.place.folder.name
        turn_sandbox = open_turn_sandbox(
            sandbox, environment, context.tools().redactor, context.limits().log_bytes, work
        )
        for name, data in wanted.letters.items():
            leave(turn_sandbox.mailbox, name, data)
        try:
            yield turn_sandbox
        finally:
            # Every turn of a workflow is one of its own: nobody goes on with its session.
            drop_homes(sandbox.view.sandbox_root, context.project, work)


def _settings(context: Context, name: str) -> AgentSettings:
    return context.settings.values.agents.named.get(name, AgentSettings())
