"""Asks an agent for a new plan after a failure, in a sandbox of its own, and keeps what was said."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec.structs import replace

from loopwright.agents.port import Agent, NoAnswer, Ran, Reason, Role, Turn
from loopwright.agents.prompts import prompt_for
from loopwright.errors import AgentFailed, Interrupted
from loopwright.evidence.logs import LogFile
from loopwright.kernel import process
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import make_folder
from loopwright.kernel.process import Cancellation, Ending, Stopped
from loopwright.redaction.redactor import Redactor
from loopwright.runner.events import Emitter, Replanning
from loopwright.runner.latest import Blocker, blocker_of, blocker_text, envelope_of
from loopwright.runner.model import Failure
from loopwright.runner.run_plan import Finished
from loopwright.sandbox.confine import choose
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
    prompt = _prompt(blocker, redactor.clean(failed.plan).text)
    record = context.layout.turn(f"{failed.last.evidence.run_id}-replan-{failed.number}")
    make_folder(record)
    (record / "prompt.md").write_bytes(redactor.clean(prompt).data)
    settings = context.settings.values.agents.named.get(agent.name, AgentSettings())
    try:
        with _sandbox_for_turn(context, failed.last, cancellation) as (sandbox, mailbox):
            shutil.copytree(failed.last.folder, mailbox / "run")
            turn = Turn(Role.REPLANNER, prompt, mailbox, settings.timeout_s, _may_use_web(blocker))
            starter = _Starter(context, sandbox, record, redactor, settings, turn.may_use_web, cancellation)
            answer = agent.take(turn, starter)
        cancellation.raise_if_requested()
    except Stopped as stop:
        raise Interrupted(str(stop), hint="`loopwright unlatch` and `loopwright run` start again") from stop
    if isinstance(answer, NoAnswer):
        (record / "failure.txt").write_bytes(redactor.clean(f"{answer.reason}: {answer.detail}\n").data)
        if answer.reason in _STOPS:
            raise AgentFailed(
                answer.reason,
                f"the agent {agent.name} gave no plan: {answer.reason}: {redactor.clean(answer.detail).text}",
                hint=f"see {record}; correct the agent, then `loopwright unlatch` and `loopwright run`",
            )
        return None
    (record / "answer.yaml").write_bytes(redactor.clean(answer.text).data)
    data = answer.text.encode()
    return NewPlan(data, sha256(data)) if data.strip() else None


def _may_use_web(blocker: Blocker) -> bool:
    return blocker.needs == "RESEARCH"


def _prompt(blocker: Blocker, plan: str) -> str:
    may = _may_use_web(blocker)
    return prompt_for(
        Role.REPLANNER,
        needs=blocker.needs,
        needs_reason=blocker.needs_reason,
        web="You may look things up on the web." if may else "Do not use the web: everything that you need is here.",
        blocker=blocker_text(blocker),
        plan=plan,
        evidence="run/evidence.json and run/logs/ beside this prompt",
    )


@contextmanager
def _sandbox_for_turn(context: Context, last: Finished, cancellation: Cancellation) -> Iterator[tuple[Sandbox, Path]]:
    """A sandbox of the project with a mailbox beside it."""
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
        mailbox = sandbox.place.folder / "mailbox"
        mailbox.mkdir()
        yield replace(sandbox, view=replace(sandbox.view, mailbox=mailbox)), mailbox


class _Starter:
    """Starts an adapter's program in the turn's sandbox; what it prints is kept redacted."""

    def __init__(
        self,
        context: Context,
        sandbox: Sandbox,
        record: Path,
        redactor: Redactor,
        settings: AgentSettings,
        may_use_web: bool,
        cancellation: Cancellation,
    ) -> None:
        self._context = context
        self._sandbox = sandbox
        self._record = record
        self._redactor = redactor
        self._settings = settings
        self._network = settings.network == "always" or (settings.network == "research" and may_use_web)
        self._cancellation = cancellation
        self._started = 0

    def __call__(self, argv: tuple[str, ...], *, env: Mapping[str, str], timeout_s: float) -> Ran:
        """Run it to its end."""
        base = self._context.step_environment().for_step(tuple(self._settings.env))
        launch = self._sandbox.isolation.launch(
            self._sandbox.view, argv, cwd=self._sandbox.place.repo, env={**base, **env}, network=self._network
        )
        self._started += 1
        log = LogFile(self._record / f"program-{self._started}.log", self._context.limits().log_bytes)
        streams = (self._redactor.stream("agent"), self._redactor.stream("agent"))
        try:
            ended = process.stream(
                process.Command(launch.argv, launch.cwd, launch.env, str(self._sandbox.place.folder), launch.wrapped),
                on_stdout=lambda data: log.write(streams[0].feed(data)),
                on_stderr=lambda data: log.write(streams[1].feed(data)),
                timeout_s=timeout_s,
                cancellation=self._cancellation,
            )
            for stream in streams:
                log.write(stream.finish())
        finally:
            log.close()
        return Ran(ended.exit_code, ended.ending is Ending.TIMED_OUT, ended.duration_s)
