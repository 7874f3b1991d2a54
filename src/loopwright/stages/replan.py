"""Asks an agent for a new plan after a failure, in a separate sandbox, and records the cost of each turn."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import assert_never

import msgspec
from msgspec.structs import replace

from loopwright.agents.failover import FailoverOrder, Takeover, Unanswered, takeover_sentence
from loopwright.agents.port import Agent, Allowance, Answer, NoAnswer, Reason, Remedy, Role, name_in_records
from loopwright.agents.structured import NONEMPTY_TEXT, AgentRequest
from loopwright.errors import AgentFailed, Interrupted
from loopwright.evidence.model import ReplanTurn
from loopwright.kernel.clock import stamp
from loopwright.kernel.process import Cancellation, Stopped
from loopwright.runner.ask_agent import AgentReply, AskingContext, BookTurn, ask_agent
from loopwright.runner.events import Emitter, Replanned, ReplannerChanged, Replanning
from loopwright.runner.latest import LatestBlocker, blocker_of, blocker_text, envelope_of
from loopwright.runner.request import Failure, Finished
from loopwright.runner.turn import TurnRequest, TurnResult
from loopwright.runner.turn_sandbox import TurnSandbox
from loopwright.stages.agent_choice import programs_in, require_a_program
from loopwright.stages.asking import asking_context, turn_sandbox
from loopwright.stages.context import Context


class FailedAttempt(msgspec.Struct, frozen=True):
    """A failed attempt. `number` counts the requests for a new plan, `tries` is their limit."""

    last: Finished
    failure: Failure
    plan: bytes
    number: int
    tries: int

    def blocker(self) -> LatestBlocker:
        """The blocker card of the failure."""
        evidence = self.last.evidence
        envelope = envelope_of(evidence, self.failure, plan=None, written=[], missing=False)
        return blocker_of(envelope, evidence, self.last.folder, self.failure)


def can_be_replanned(failure: Failure) -> bool:
    """Whether another plan could help. It cannot for a secret, a latch or a stop by a person."""
    return failure.code in ("STEP_FAILED", "INVALID_PLAN")


class Replanner:
    """Asks for new plans during one command: the named agent, or an agent that takes over."""

    def __init__(self, context: Context, name: str, emitter: Emitter, cancellation: Cancellation) -> None:
        # One adapter object for all turns of an agent in this command: the object counts the turns.
        self._open_agent = cache(context.open_agent)
        # Before anything runs: a wrong name must be reported at once, not after an hour of work.
        self._open_agent(name)
        require_a_program(context, name, Role.REPLANNER)
        context.prompts()
        self._name = name
        self._cancellation = cancellation
        self.context = context
        self.agents = programs_in(context, context.failover_agents())
        self.emitter = emitter
        # Every takeover and every turn of this command.
        self.takeovers: list[Takeover] = []
        self.turns: list[ReplanTurn] = []

    def plan_for(self, failed: FailedAttempt) -> bytes | None:
        """A new plan; None if the agent gave no usable plan in this attempt."""
        asking = replace(asking_context(self.context, self._cancellation), open_agent=self._open_agent)
        blocker = failed.blocker()
        may_use_web = blocker.needs == "RESEARCH"
        prompt = asking.book.prompt(
            "replanner",
            needs=blocker.needs,
            needs_reason=blocker.needs_reason,
            web=asking.book.part("web") if may_use_web else asking.book.part("no_web"),
            blocker=blocker_text(blocker),
            plan=asking.redactor.clean(failed.plan).text,
            evidence=asking.book.part("evidence"),
        )
        request = AgentRequest(
            agent=self._name, role=Role.REPLANNER, prompt=prompt, form=NONEMPTY_TEXT, may_use_web=may_use_web
        )
        try:
            outcome = ask_agent(asking, request, _ReplanAsker(self, asking, failed, blocker.needs))
        except Stopped as stop:
            raise Interrupted(str(stop), hint="start again with `loopwright unlatch` and `loopwright run`") from stop
        if isinstance(outcome, AgentReply):
            return outcome.reply.text.encode()
        if outcome.remedy is Remedy.RETRY:
            return None
        raise _no_plan(outcome)


class _ReplanAsker:
    """Asks for one new plan: its turns are in the result of the run, and reported as events. They have no budget."""

    def __init__(self, replanner: Replanner, asking: AskingContext, failed: FailedAttempt, needs: str) -> None:
        self._replanner = replanner
        self._asking = asking
        self._failed = failed
        self._needs = needs
        self._run_id = failed.last.evidence.run_id
        self.record = replanner.context.layout.turn(f"{self._run_id}-replan-{failed.number}")

    def allowance(self) -> Allowance:
        """Only time limits a turn."""
        return Allowance()

    @contextmanager
    def sandbox(self, agent: Agent) -> Iterator[TurnSandbox]:
        """A sandbox with a copy of the current project, and the failed run in the mailbox."""
        replanner, failed = self._replanner, self._failed
        replanner.emitter.emit(Replanning(agent.name, failed.number, failed.tries, self._needs))
        with turn_sandbox(replanner.context, self._asking) as turns:
            shutil.copytree(failed.last.folder, turns.mailbox / "run")
            yield turns

    @contextmanager
    def turn(self, called: str, turn: TurnRequest) -> Iterator[BookTurn]:
        """Not recorded while it runs: there is no budget that a lost cost could exceed."""
        del called
        yield lambda result: self._book(turn.record, result)

    def _book(self, record: Path, result: TurnResult) -> None:
        cost, attempt, failure = result.cost, self._failed.number, _failure_of(result.answer)
        usd, tokens, worked_s = cost.usd, cost.tokens, cost.worked_s
        self._replanner.turns.append(
            ReplanTurn(
                agent=cost.agent, attempt=attempt, turn=cost.turn, failure=failure, usd=usd, tokens=tokens,
                worked_s=worked_s,
            )
        )  # fmt: skip
        self._replanner.emitter.emit(
            Replanned(cost.agent, attempt, failure, usd=usd, tokens=tokens, worked_s=worked_s, path=str(record))
        )

    def order(self) -> FailoverOrder:
        """The order in the settings, with the takeovers of this command."""
        takeovers = tuple(self._replanner.takeovers)
        return FailoverOrder(self._replanner.agents, takeovers, self.record.name, stamp(self._asking.clock()))

    def hand_over(self, takeover: Takeover) -> None:
        """Remember the takeover for the rest of the command, and report it as an event."""
        self._replanner.takeovers.append(takeover)
        agent = name_in_records(takeover.agent)
        message = self._asking.redactor.clean(takeover_sentence(replace(takeover, agent=agent)))
        self._replanner.emitter.emit(ReplannerChanged(agent, takeover.by, takeover.code, takeover.until, message))


def _failure_of(answer: Answer | NoAnswer | None) -> str | None:
    match answer:
        case None:
            return "stopped"
        case NoAnswer(reason):
            return reason.value
        case Answer(text):
            return None if text.strip() else Reason.INVALID_ANSWER.value


def _no_plan(unanswered: Unanswered) -> AgentFailed:
    agent, failure = name_in_records(unanswered.agent), unanswered.failure
    reason, detail, until = failure.reason, failure.detail, unanswered.until
    message = f"the agent {agent} gave no plan: {reason}: {detail}"
    if until is not None:
        message = f"the agent {agent} gave no plan: {reason} until {until}: {detail}"
    return AgentFailed(reason, message, hint=_next_step(unanswered))


def _next_step(unanswered: Unanswered) -> str:
    if unanswered.back_at is not None:
        return (
            f"after {unanswered.back_at}, or with another agent: `loopwright unlatch`, then run the same command again"
        )
    match unanswered.remedy:
        case Remedy.WAIT:
            return "later, or with another agent: `loopwright unlatch`, then run the same command again"
        case Remedy.SET_UP | Remedy.INSPECT | Remedy.BUDGET | Remedy.RETRY:
            return f"see {unanswered.record}; fix the agent, then `loopwright unlatch` and `loopwright run`"
        case _:
            assert_never(unanswered.remedy)
