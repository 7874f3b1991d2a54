"""Asks an agent for a new plan after a failure, in a sandbox of its own, and keeps what was said."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec.structs import replace

from loopwright.agents.failover import PASSED_ON, FailoverOrder, Takeover, takeover_in_words, told_end
from loopwright.agents.port import INFRASTRUCTURE, USUAL_TURN_S, Agent, Answer, NoAnswer, Reason, Role
from loopwright.agents.prompts.book import Book
from loopwright.agents.structured import ask_for_text
from loopwright.errors import AgentFailed, Interrupted
from loopwright.evidence.model import ReplanTurn
from loopwright.kernel.clock import stamp
from loopwright.kernel.digest import sha256
from loopwright.kernel.process import Cancellation, Stopped
from loopwright.runner.events import Emitter, Replanned, ReplannerChanged, Replanning
from loopwright.runner.latest import LatestBlocker, blocker_of, blocker_text, envelope_of
from loopwright.runner.meter import Meter, counted
from loopwright.runner.model import Failure
from loopwright.runner.request import Finished
from loopwright.runner.turn import TurnRequest, meter_for, take_turn
from loopwright.runner.turn_sandbox import TurnSandbox, open_turn_sandbox
from loopwright.sandbox.confine import choose
from loopwright.sandbox.homes import drop_homes
from loopwright.sandbox.open import opened
from loopwright.sandbox.port import Sandbox
from loopwright.stages.by_hand import programs_in, require_a_program
from loopwright.stages.context import Context
from loopwright.workspace.settings_model import AgentSettings

# No plan came, and asked again at once there would be none either; whoever refuses has used up a try.
_STOPS = INFRASTRUCTURE | {Reason.RATE_LIMITED, Reason.BUDGET_USED}


class FailedAttempt(msgspec.Struct, frozen=True):
    """A failed attempt, and the how-manieth plan is asked for because of it."""

    last: Finished
    failure: Failure
    plan: bytes
    number: int
    tries: int

    def blocker(self) -> LatestBlocker:
        """The card of what blocks."""
        evidence = self.last.evidence
        envelope = envelope_of(evidence, self.failure, plan="", written=[], missing=False)
        return blocker_of(envelope, evidence, self.last.folder, self.failure)


class NewPlan(msgspec.Struct, frozen=True):
    """A plan that an agent wrote."""

    plan: bytes
    digest: str


def can_be_replanned(failure: Failure) -> bool:
    """Whether another plan could help; a secret, a latch or a person's stop is not the plan's fault."""
    return failure.code in ("STEP_FAILED", "INVALID_PLAN")


class Replanner:
    """Who is asked for new plans in one command: the agent that was named, or who stands in for it."""

    def __init__(self, context: Context, name: str, emitter: Emitter, cancellation: Cancellation) -> None:
        # Before anything runs: a name that does not exist should not come to light after an hour of work.
        self._agents = {name: context.open_agent(name)}
        require_a_program(context, name, Role.REPLANNER)
        context.prompts()
        self._context = context
        self._name = name
        self._order = programs_in(context, context.stand_ins())
        self._takeovers: list[Takeover] = []
        self._emitter = emitter
        self._cancellation = cancellation
        # Every turn that was paid for.
        self.turns: list[ReplanTurn] = []

    def plan_for(self, failed: FailedAttempt) -> NewPlan | None:
        """By whoever can, with one repair; None when it used up a try without a usable plan."""
        work = f"{failed.last.evidence.run_id}-replan-{failed.number}"
        for asked in itertools.count(1):
            now = self._context.clock()
            places = FailoverOrder(self._order, tuple(self._takeovers), work, stamp(now))
            called = places.who_works(self._name)
            answer = self._asked(called, failed, work if asked == 1 else f"{work}-{asked}")
            if isinstance(answer, Answer):
                data = answer.text.encode()
                return NewPlan(data, sha256(data))
            if answer.reason not in _STOPS:
                return None
            by = places.stands_in(called) if self._order and answer.reason in PASSED_ON else None
            if by is None:
                raise self._no_plan(called, answer, places.next_back(self._name))
            self._hand_over(called, by, answer, work)
        return None

    def _asked(self, name: str, failed: FailedAttempt, record: str) -> Answer | NoAnswer:
        context, blocker = self._context, failed.blocker()
        agent = self._agents.get(name) or self._agents.setdefault(name, context.open_agent(name))
        self._emitter.emit(Replanning(agent.name, failed.number, failed.tries, blocker.needs))
        redactor = context.tools().redactor
        settings = context.settings.values.agents.named.get(agent.name, AgentSettings())
        asked = TurnRequest(
            role=Role.REPLANNER,
            prompt=_prompt(context.prompts(), blocker, redactor.clean(failed.plan).text),
            record=context.layout.turn(record),
            timeout_s=settings.timeout_s or USUAL_TURN_S,
            may_use_web=_may_use_web(blocker),
            book=context.prompts(),
        )
        try:
            with _sandbox_for_turn(context, failed.last, self._cancellation) as sandbox:
                turn_sandbox = open_turn_sandbox(
                    sandbox, context.step_environment(), redactor, context.limits().log_bytes, sandbox.place.folder.name
                )
                shutil.copytree(failed.last.folder, turn_sandbox.mailbox / "run")
                records = itertools.chain([asked.record], itertools.repeat(asked.record.with_name(f"{record}-repair")))
                try:
                    return ask_for_text(
                        lambda prompt: self._taken(
                            agent,
                            replace(asked, prompt=prompt, record=next(records)),
                            turn_sandbox,
                            settings,
                            failed.number,
                        ),
                        asked.prompt,
                        asked.book,
                    )
                finally:
                    drop_homes(sandbox.view.sandbox_root, context.project, turn_sandbox.work)
        except Stopped as stop:
            raise Interrupted(str(stop), hint="`loopwright unlatch` and `loopwright run` start again") from stop

    def _taken(
        self, agent: Agent, asked: TurnRequest, turn_sandbox: TurnSandbox, settings: AgentSettings, attempt: int
    ) -> Answer | NoAnswer:
        """One turn; nothing is no plan."""
        meter = meter_for(agent, asked, turn_sandbox)
        answer: Answer | NoAnswer | None = None
        try:
            answer = take_turn(agent, asked, turn_sandbox, settings, self._cancellation, meter).answer
        finally:
            # Also of a turn that somebody stopped.
            self._tell(agent.name, asked.record, attempt, meter, answer)
        if isinstance(answer, Answer) and not answer.text.strip():
            return NoAnswer(Reason.INVALID_ANSWER, "the answer is empty")
        return answer

    def _tell(self, name: str, record: Path, attempt: int, meter: Meter, answer: Answer | NoAnswer | None) -> None:
        spent = counted(meter.used, answer if isinstance(answer, Answer) else None)
        failure = _failure_of(answer)
        worked_s = round(meter.worked_s, 3)
        self.turns.append(
            ReplanTurn(
                agent=name, attempt=attempt, turn=record.name, failure=failure,
                usd=spent.usd, tokens=spent.tokens, worked_s=worked_s,
            )
        )  # fmt: skip
        self._emitter.emit(
            Replanned(name, attempt, failure, usd=spent.usd, tokens=spent.tokens, worked_s=worked_s, path=str(record))
        )

    def _hand_over(self, called: str, by: str, failure: NoAnswer, work: str) -> None:
        now, clean = self._context.clock(), self._context.tools().redactor.clean
        takeover = Takeover(
            agent=called, by=by, role=Role.REPLANNER.value, code=failure.reason, at=stamp(now), action_id=work,
            message=clean(failure.detail).text, until=told_end(failure, now),
        )  # fmt: skip
        self._takeovers.append(takeover)
        # An agent that is spelled out goes by its kind: how it is called is nobody else's to read.
        name = self._agents[called].name
        said = clean(takeover_in_words(replace(takeover, agent=name)))
        self._emitter.emit(ReplannerChanged(name, by, failure.reason.value, takeover.until, said))

    def _no_plan(self, called: str, answer: NoAnswer, next_back: str | None) -> AgentFailed:
        name, reason, until = self._agents[called].name, answer.reason, told_end(answer, self._context.clock())
        detail = self._context.tools().redactor.clean(answer.detail).text
        message = f"the agent {name} gave no plan: {reason}: {detail}"
        if until is not None:
            message = f"the agent {name} gave no plan: {reason} until {until}: {detail}"
        back = min((end for end in (until, next_back) if end is not None), default=None)
        return _no_plan(reason, message, back, self._context.layout.turn(self.turns[-1].turn))


def _failure_of(answer: Answer | NoAnswer | None) -> str | None:
    match answer:
        case None:
            return "stopped"
        case NoAnswer(reason):
            return reason.value
        case Answer(text):
            return None if text.strip() else Reason.INVALID_ANSWER.value


def _no_plan(reason: Reason, message: str, until: str | None, record: Path) -> AgentFailed:
    if until is not None:
        hint = f"after {until}, or with another agent: `loopwright unlatch` and the same command again"
        return AgentFailed(reason, message, hint=hint)
    if reason is Reason.RATE_LIMITED:
        hint = "later, or with another agent: `loopwright unlatch` and the same command again"
        return AgentFailed(reason, message, hint=hint)
    hint = f"see {record}; correct the agent, then `loopwright unlatch` and `loopwright run`"
    return AgentFailed(reason, message, hint=hint)


def _may_use_web(blocker: LatestBlocker) -> bool:
    return blocker.needs == "RESEARCH"


def _prompt(book: Book, blocker: LatestBlocker, plan: str) -> str:
    may = _may_use_web(blocker)
    return book.prompt(
        "replanner",
        needs=blocker.needs,
        needs_reason=blocker.needs_reason,
        web=book.part("web") if may else book.part("no_web"),
        blocker=blocker_text(blocker),
        plan=plan,
        evidence=book.part("evidence"),
    )


@contextmanager
def _sandbox_for_turn(context: Context, last: Finished, cancellation: Cancellation) -> Iterator[Sandbox]:
    """A sandbox of the project as it is now."""
    shell = context.shell()
    environment = context.step_environment().for_step(())
    isolation = context.settings.values.sandbox.isolation
    with opened(
        context.sandbox_request(),
        f"{last.evidence.run_id}-replan",
        confine=lambda view: choose(isolation, context.isolations, view, shell, environment),
        keep=False,
        cancellation=cancellation,
    ) as sandbox:
        yield sandbox
