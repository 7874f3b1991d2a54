"""Asks an agent for a new plan after a failure, in a sandbox of its own, and keeps what was said."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec.structs import replace

from loopwright.agents.failover import told_end
from loopwright.agents.port import INFRASTRUCTURE, USUAL_TURN_S, Agent, Answer, NoAnswer, Reason, Role
from loopwright.agents.prompts.book import Book
from loopwright.agents.structured import ask_for_text
from loopwright.errors import AgentFailed, Interrupted
from loopwright.kernel.digest import sha256
from loopwright.kernel.process import Cancellation, Stopped
from loopwright.runner.booth import Booth, open_booth
from loopwright.runner.events import Emitter, Replanned, Replanning
from loopwright.runner.latest import Blocker, blocker_of, blocker_text, envelope_of
from loopwright.runner.meter import Meter, counted
from loopwright.runner.model import Failure
from loopwright.runner.run_plan import Finished
from loopwright.runner.turn import Asked, meter_for, take_turn
from loopwright.sandbox.confine import choose
from loopwright.sandbox.homes import drop_homes
from loopwright.sandbox.open import Sandbox, opened
from loopwright.verbs.context import Context
from loopwright.workspace.settings_model import AgentSettings

# No plan came, and asked again at once there would be none either; whoever refuses has used up a try.
_STOPS = INFRASTRUCTURE | {Reason.RATE_LIMITED, Reason.BUDGET_USED}


class Failed(msgspec.Struct, frozen=True):
    """A failed attempt, and the how-manieth plan is asked for because of it."""

    last: Finished
    failure: Failure
    plan: bytes
    number: int
    tries: int

    def blocker(self) -> Blocker:
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


def ask_for_plan(
    context: Context, agent: Agent, failed: Failed, emitter: Emitter, cancellation: Cancellation
) -> NewPlan | None:
    """One turn of the replanner, and one repair; None when it used up a try without a usable plan."""
    blocker = failed.blocker()
    emitter.emit(Replanning(agent.name, failed.number, failed.tries, blocker.needs))
    redactor = context.tools().redactor
    settings = context.settings.values.agents.named.get(agent.name, AgentSettings())
    asked = Asked(
        role=Role.REPLANNER,
        prompt=_prompt(context.prompts(), blocker, redactor.clean(failed.plan).text),
        record=context.layout.turn(f"{failed.last.evidence.run_id}-replan-{failed.number}"),
        timeout_s=settings.timeout_s or USUAL_TURN_S,
        may_use_web=_may_use_web(blocker),
        book=context.prompts(),
    )
    try:
        with _sandbox_for_turn(context, failed.last, cancellation) as sandbox:
            booth = open_booth(
                sandbox, context.step_environment(), redactor, context.limits().log_bytes, sandbox.place.folder.name
            )
            shutil.copytree(failed.last.folder, booth.mailbox / "run")
            try:
                turns = _Turns(agent, asked, failed.number, emitter)
                answer = ask_for_text(
                    lambda prompt: turns.take(prompt, booth, settings, cancellation), asked.prompt, asked.book
                )
            finally:
                drop_homes(sandbox.view.sandbox_root, context.project, booth.work)
    except Stopped as stop:
        raise Interrupted(str(stop), hint="`loopwright unlatch` and `loopwright run` start again") from stop
    if isinstance(answer, NoAnswer):
        if answer.reason in _STOPS:
            until = told_end(answer, context.clock())
            raise _no_plan(agent.name, answer, until, redactor.clean(answer.detail).text, turns.last_record)
        return None
    data = answer.text.encode()
    return NewPlan(data, sha256(data))


class _Turns:
    """The turns of one question; what each cost is told, whatever came of it."""

    def __init__(self, agent: Agent, asked: Asked, attempt: int, emitter: Emitter) -> None:
        self._agent = agent
        self._asked = asked
        self._attempt = attempt
        self._emitter = emitter
        self._is_repair = False
        self.last_record = asked.record

    def take(self, prompt: str, booth: Booth, settings: AgentSettings, cancellation: Cancellation) -> Answer | NoAnswer:
        """The first one, or its repair; nothing is no plan."""
        if self._is_repair:
            self.last_record = self._asked.record.with_name(f"{self._asked.record.name}-repair")
        self._is_repair = True
        asked = replace(self._asked, prompt=prompt, record=self.last_record)
        meter = meter_for(self._agent, asked, booth)
        answer: Answer | NoAnswer | None = None
        try:
            answer = take_turn(self._agent, asked, booth, settings, cancellation, meter).answer
        finally:
            # Also of a turn that somebody stopped.
            self._emitter.emit(self._told(meter, answer))
        if isinstance(answer, Answer) and not answer.text.strip():
            return NoAnswer(Reason.INVALID_ANSWER, "the answer is empty")
        return answer

    def _told(self, meter: Meter, answer: Answer | NoAnswer | None) -> Replanned:
        spent = counted(meter.used, answer if isinstance(answer, Answer) else None)
        failure = answer.reason.value if isinstance(answer, NoAnswer) else None
        return Replanned(
            self._agent.name, self._attempt, failure,
            usd=spent.usd, tokens=spent.tokens,
            worked_s=round(meter.worked_s, 3), path=str(self.last_record),
        )  # fmt: skip


def _no_plan(name: str, answer: NoAnswer, until: str | None, detail: str, record: Path) -> AgentFailed:
    reason = answer.reason
    if until is not None:
        message = f"the agent {name} gave no plan: {reason} until {until}: {detail}"
        hint = f"after {until}, or with another agent: `loopwright unlatch` and the same command again"
        return AgentFailed(reason, message, hint=hint)
    message = f"the agent {name} gave no plan: {reason}: {detail}"
    if reason is Reason.RATE_LIMITED:
        hint = "later, or with another agent: `loopwright unlatch` and the same command again"
        return AgentFailed(reason, message, hint=hint)
    hint = f"see {record}; correct the agent, then `loopwright unlatch` and `loopwright run`"
    return AgentFailed(reason, message, hint=hint)


def _may_use_web(blocker: Blocker) -> bool:
    return blocker.needs == "RESEARCH"


def _prompt(book: Book, blocker: Blocker, plan: str) -> str:
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
