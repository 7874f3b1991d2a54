"""Asks an agent for a new plan after a failure, in a sandbox of its own, and keeps what was said."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from loopwright.agents.failover import told_end
from loopwright.agents.port import Agent, NoAnswer, Reason, Role
from loopwright.agents.prompts.book import Book
from loopwright.errors import AgentFailed, Interrupted
from loopwright.kernel.digest import sha256
from loopwright.kernel.process import Cancellation, Stopped
from loopwright.runner.booth import open_booth
from loopwright.runner.events import Emitter, Replanning
from loopwright.runner.latest import Blocker, blocker_of, blocker_text, envelope_of
from loopwright.runner.model import Failure
from loopwright.runner.run_plan import Finished
from loopwright.runner.turn import Asked, take_turn
from loopwright.sandbox.confine import choose
from loopwright.sandbox.homes import drop_homes
from loopwright.sandbox.open import Sandbox, opened
from loopwright.verbs.context import Context
from loopwright.workspace.settings_model import AgentSettings

_STOPS = {
    Reason.AGENT_MISSING, Reason.AGENT_TOO_OLD, Reason.NOT_LOGGED_IN, Reason.CRASHED, Reason.HUNG,
    Reason.RATE_LIMITED, Reason.BUDGET_USED,
}  # fmt: skip


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
    """One turn of the replanner; None when it used up a try without a usable plan."""
    blocker = failed.blocker()
    emitter.emit(Replanning(agent.name, failed.number, failed.tries, blocker.needs))
    redactor = context.tools().redactor
    settings = context.settings.values.agents.named.get(agent.name, AgentSettings())
    asked = Asked(
        role=Role.REPLANNER,
        prompt=_prompt(context.prompts(), blocker, redactor.clean(failed.plan).text),
        record=context.layout.turn(f"{failed.last.evidence.run_id}-replan-{failed.number}"),
        timeout_s=settings.timeout_s,
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
                answer = take_turn(agent, asked, booth, settings, cancellation).answer
            finally:
                drop_homes(sandbox.view.sandbox_root, context.project, booth.work)
    except Stopped as stop:
        raise Interrupted(str(stop), hint="`loopwright unlatch` and `loopwright run` start again") from stop
    if isinstance(answer, NoAnswer):
        if answer.reason in _STOPS:
            name, reason, detail = agent.name, answer.reason, redactor.clean(answer.detail).text
            until = told_end(answer)
            raise AgentFailed(
                reason,
                f"the agent {name} gave no plan: {reason}: {detail}"
                if until is None
                else f"the agent {name} gave no plan: {reason} until {until}: {detail}",
                hint=f"see {asked.record}; correct the agent, then `loopwright unlatch` and `loopwright run`",
            )
        return None
    data = answer.text.encode()
    return NewPlan(data, sha256(data)) if data.strip() else None


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
