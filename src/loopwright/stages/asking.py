"""Asks an agent for a workflow: outside the lock of the workflow, in a sandbox, with the cost recorded in any case."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TypeVar, assert_never

import msgspec
from msgspec.structs import replace

from loopwright.agents.failover import FailoverOrder, Takeover, Unanswered, takeover_sentence
from loopwright.agents.port import Agent, Allowance, Reason, Remedy, Role
from loopwright.agents.shown_file import ShownFile, write_shown
from loopwright.agents.structured import AgentRequest
from loopwright.errors import AgentFailed, Interrupted, LoopwrightError
from loopwright.kernel.clock import stamp
from loopwright.kernel.process import Cancellation, Stopped
from loopwright.runner.ask_agent import AgentReply, AskingContext, BookTurn, ask_agent
from loopwright.runner.meter import TurnCost
from loopwright.runner.turn import TurnRequest, TurnResult
from loopwright.runner.turn_sandbox import TurnSandbox, open_turn_sandbox
from loopwright.sandbox.homes import drop_homes
from loopwright.sandbox.open import opened
from loopwright.sandbox.place import random_name
from loopwright.sandbox.port import SandboxRequest
from loopwright.stages.agent_choice import programs_in, require_a_program
from loopwright.stages.context import Context, language_instruction, workflows_of
from loopwright.stages.open_turns import count_cost, count_dead_turns, under_way
from loopwright.stages.spending import Spending, loops_for, takeovers_of
from loopwright.workflow import events as e
from loopwright.workflow.model import OpenTurn, Workflow
from loopwright.workflow.stage import Stage
from loopwright.workflow.store import Opened

_T = TypeVar("_T")
_R = TypeVar("_R")


class StageCall(msgspec.Struct, frozen=True, kw_only=True):
    """The stage of a workflow that asks an agent. `name` is the name of the record of the turn."""

    # The workflow when the command opened it last.
    workflow: Workflow
    stage: Stage
    name: str
    # The sandbox of the turn; None: a copy of the current project. And the files in its mailbox.
    sandbox: SandboxRequest | None = None
    mailbox_files: dict[str, ShownFile] = {}
    # The budget of the autopilot, if an autopilot asks.
    spending: Spending | None = None
    # Agents that must not be asked, not even as a replacement.
    barred: frozenset[str] = frozenset()
    # Shows progress to a person.
    tell: Callable[[str], None] = lambda _: None


def ask_for_stage(
    context: Context,
    call: StageCall,
    request: AgentRequest[_T],
    cancellation: Cancellation,
    keep: Callable[[Opened, AgentReply[_T]], _R],
) -> _R:
    """One answer, which `keep` records when the workflow is opened again after the turn.

    `AgentFailed` if there is no answer, `Interrupted` if a person stops the command.
    """
    require_a_program(context, request.agent, request.role)
    workflow = count_dead_turns(context, call.workflow)
    asking = asking_context(context, cancellation)
    with _StageAsker(context, asking, replace(call, workflow=workflow), request.role) as asker:
        try:
            outcome = ask_agent(asking, replace(request, prompt=request.prompt + language_instruction(context)), asker)
        except Stopped as stop:
            raise Interrupted(str(stop), hint="run the same command again to continue") from stop
        if isinstance(outcome, Unanswered):
            asker.pay()
            raise _failed(call, outcome)
        with asker.opened() as opened_workflow:
            return keep(opened_workflow, outcome)


class _StageAsker:
    """Records the turns of a question, their cost and the takeovers in the journal of the workflow.

    The cost of a turn is recorded when the workflow is opened next. The turn stays locked until then: other processes
    treat an open turn without a lock as dead.
    """

    def __init__(self, context: Context, asking: AskingContext, call: StageCall, role: Role) -> None:
        self._context = context
        self._asking = asking
        self._call = call
        self._role = role
        self._unpaid: list[TurnCost] = []
        self._locks = ExitStack()
        # Only agents with a program can take over: no person would find a turn that waits for one.
        self._order = programs_in(context, context.failover_agents())
        self._work = f"{call.name}-{secrets.token_hex(3)}"
        self.record = context.layout.turn(call.name)

    def __enter__(self) -> _StageAsker:
        return self

    def __exit__(self, *problem: object) -> None:
        with self._locks:
            self.pay()

    @contextmanager
    def opened(self) -> Iterator[Opened]:
        """The workflow, with the cost of all ended turns recorded."""
        with workflows_of(self._context).changing(self._call.workflow.slug) as opened_workflow:
            while self._unpaid:
                count_cost(opened_workflow, self._unpaid.pop(0), self._call.stage)
            yield opened_workflow

    def pay(self) -> None:
        """Record the cost of the ended turns."""
        if self._unpaid:
            with self.opened():
                pass

    def allowance(self) -> Allowance:
        """What remains of the budget of the autopilot; refused if a limit is reached."""
        if self._call.spending is None:
            return Allowance()
        self.pay()
        return self._call.spending.allowance()

    def sandbox(self, agent: Agent) -> AbstractContextManager[TurnSandbox]:
        """A sandbox with the mailbox files of the call."""
        del agent
        call = self._call
        return turn_sandbox(self._context, self._asking, sandbox=call.sandbox, mailbox_files=call.mailbox_files)

    @contextmanager
    def turn(self, called: str, turn: TurnRequest) -> Iterator[BookTurn]:
        """Record the open turn in the journal of the workflow."""
        del called
        open_turn = OpenTurn(
            name=turn.record.name, agent=turn.agent.name, role=self._role.value, stage=self._call.stage,
            mailbox=str(turn.turn_sandbox.mailbox),
        )  # fmt: skip
        self._locks.enter_context(under_way(self._context, open_turn))
        with self.opened() as opened_workflow:
            opened_workflow.apply(e.TurnBegun(turn=open_turn), "tool")
        yield self._book

    def _book(self, result: TurnResult) -> None:
        self._unpaid.append(result.cost)
        for note in result.notes():
            self._call.tell(self._asking.clean(note))

    def order(self) -> FailoverOrder:
        """The order in the settings, with the takeovers of the workflow and of its loops."""
        now = stamp(self._context.clock())
        if not self._order:
            return FailoverOrder((), (), self._work, now)
        with self.opened() as opened_workflow:
            workflow = opened_workflow.workflow
        takeovers = takeovers_of(workflow, loops_for(self._context, workflow))
        return FailoverOrder(self._order, takeovers, self._work, now, barred=self._call.barred)

    def hand_over(self, takeover: Takeover) -> None:
        """Record the takeover in the journal of the workflow."""
        with self.opened() as opened_workflow:
            opened_workflow.apply(e.AgentChanged(takeover=takeover), "tool")
        self._call.tell(takeover_sentence(takeover))


def _failed(call: StageCall, unanswered: Unanswered) -> LoopwrightError:
    """The error that says why there is no answer, and what to do."""
    agent, reason, detail = unanswered.agent, unanswered.failure.reason, unanswered.failure.detail
    if unanswered.remedy is Remedy.BUDGET and call.spending is not None:
        return call.spending.after_an_end(reason.value, detail)
    message = f"the agent {agent}: {reason}: {detail}"
    if unanswered.until is not None:
        message = f"the agent {agent}: {reason} until {unanswered.until}: {detail}"
    elif reason is Reason.RATE_LIMITED and unanswered.back_at is None:
        message = f"the agent {agent}: {reason}, and the end of the limit is unknown: {detail}"
    elif reason is Reason.INVALID_ANSWER:
        message = f"the agent {agent} gave {detail}"
    return AgentFailed(reason, message, hint=_next_step(unanswered))


def _next_step(unanswered: Unanswered) -> str:
    if unanswered.back_at is not None:
        return f"nothing is lost: run the same command again after {unanswered.back_at}, or use another agent"
    match unanswered.remedy:
        case Remedy.WAIT:
            return "nothing is lost: run the same command again later, or use another agent"
        case Remedy.BUDGET:
            return "raise the limit of the agent, for example in `agents.NAME.args`, then run the same command again"
        case Remedy.INSPECT if unanswered.failure.reason is Reason.INVALID_ANSWER:
            return f"read the answer in {unanswered.record}, or use another agent"
        case Remedy.INSPECT | Remedy.SET_UP | Remedy.RETRY:
            return "check the agent with `loopwright doctor`"
        case _:
            assert_never(unanswered.remedy)


def asking_context(context: Context, cancellation: Cancellation) -> AskingContext:
    """The parts of the workspace that a question needs."""
    return AskingContext(
        context.open_agent, context.agent_settings, context.clock, cancellation, context.prompts(),
        context.tools().redactor,
    )  # fmt: skip


@contextmanager
def turn_sandbox(
    context: Context,
    asking: AskingContext,
    *,
    sandbox: SandboxRequest | None = None,
    mailbox_files: Mapping[str, ShownFile] = {},
) -> Iterator[TurnSandbox]:
    """A sandbox for the turns of one question; by default a copy of the current project."""
    environment = context.step_environment()
    with opened(
        sandbox or context.sandbox_request(),
        random_name(),
        confine=context.confine,
        keep=False,
        cancellation=asking.cancellation,
    ) as open_sandbox:  # fmt: skip
        work = open_sandbox.place.folder.name
        turns = open_turn_sandbox(open_sandbox, environment, asking.redactor, context.limits().log_bytes, work)
        for path, file in mailbox_files.items():
            write_shown(turns.mailbox, path, file)
        try:
            yield turns
        finally:
            # No later turn continues a session of this question.
            drop_homes(open_sandbox.view.sandbox_root, context.project, work)
