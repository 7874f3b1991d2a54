"""Lets an agent take one turn in a sandbox, and keeps what was asked, said and answered, redacted."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from loopwright.agents.decision_requests import FOLDER, VARIABLE
from loopwright.agents.port import AGENT_MARK, Agent, Answer, NoAnswer, Ran, Reason, Role, Turn, Used
from loopwright.evidence.logs import LogFile
from loopwright.kernel import process
from loopwright.kernel.files import make_folder, remove_tree
from loopwright.kernel.process import Cancellation, Ending, Freezer
from loopwright.redaction.redactor import Redactor
from loopwright.runner.meter import Allowance, Meter
from loopwright.runner.model import Environment
from loopwright.sandbox.open import Sandbox
from loopwright.workspace import stop_gate
from loopwright.workspace.layout import gate_file
from loopwright.workspace.settings_model import AgentSettings

# Names the folder beside the sandbox that an agent may write to, and in which it finds what it should read.
MAILBOX = "LOOPWRIGHT_MAILBOX"
_MOST_WORDS = 300


class Booth(msgspec.Struct, frozen=True):
    """Where an agent takes its turns: a sandbox with a mailbox beside it."""

    sandbox: Sandbox
    environment: Environment
    redactor: Redactor
    log_bytes: int
    freezer: Freezer | None = None

    @property
    def mailbox(self) -> Path:
        """The one folder beside the sandbox that the agent may write to."""
        return self.sandbox.place.folder / "mailbox"


class Asked(msgspec.Struct, frozen=True):
    """What is asked of an agent, in which role, and where the record of it is kept."""

    role: Role
    prompt: str
    record: Path
    timeout_s: float
    may_use_web: bool = True
    session: str | None = None
    number: int | None = None
    allowance: Allowance = Allowance()
    # Whether somebody reads what the agent leaves for a person to decide.
    may_ask_people: bool = False


def open_booth(
    sandbox: Sandbox,
    environment: Environment,
    redactor: Redactor,
    log_bytes: int,
    freezer: Freezer | None = None,
) -> Booth:
    """A booth in this sandbox, with an empty mailbox."""
    booth = Booth(sandbox, environment, redactor, log_bytes, freezer)
    remove_tree(booth.mailbox)
    make_folder(booth.mailbox / FOLDER)
    return replace(booth, sandbox=replace(sandbox, view=replace(sandbox.view, mailbox=booth.mailbox)))


class Taken(msgspec.Struct, frozen=True):
    """What came of a turn, how long its programs worked (a pause is not work), and what it said that it used."""

    answer: Answer | NoAnswer
    worked_s: float
    used: Used = Used()


def meter_for(agent: Agent, asked: Asked, booth: Booth) -> Meter:
    """The meter of a turn that is to be taken; it can be read whatever comes of the turn."""
    return Meter(agent, booth.mailbox, asked.record, asked.allowance)


def take_turn(
    agent: Agent,
    asked: Asked,
    booth: Booth,
    settings: AgentSettings,
    cancellation: Cancellation,
    meter: Meter | None = None,
) -> Taken:
    """One turn. `Stopped` when a stop was requested meanwhile."""
    meter = meter or meter_for(agent, asked, booth)
    make_folder(asked.record)
    clean = booth.redactor.clean
    (asked.record / "prompt.md").write_bytes(clean(asked.prompt).data)
    turn = Turn(
        asked.role, asked.prompt, booth.mailbox, asked.timeout_s, asked.may_use_web, asked.session, asked.number
    )
    try:
        answer = agent.take(turn, _Starter(agent.name, booth, asked, settings, cancellation, meter))
        meter.session = answer.session
    finally:
        meter.read_to_the_end()
    cancellation.raise_if_requested()
    if meter.over is not None:
        answer = NoAnswer(Reason.BUDGET_USED, f"the turn was ended: its budget of {meter.over} is used")
    if isinstance(answer, NoAnswer):
        (asked.record / "failure.txt").write_bytes(clean(f"{answer.reason}: {answer.detail}\n").data)
    else:
        (asked.record / "answer.yaml").write_bytes(clean(answer.text).data)
    return Taken(answer, meter.worked_s, meter.used)


class _Starter:
    """Starts an adapter's program in the turn's sandbox; what it prints is kept redacted."""

    def __init__(
        self,
        agent: str,
        booth: Booth,
        asked: Asked,
        settings: AgentSettings,
        cancellation: Cancellation,
        meter: Meter,
    ) -> None:
        self._mark = f"{agent}:{asked.role}"
        self._booth = booth
        self._record = asked.record
        self._settings = settings
        self._network = settings.network == "always" or (settings.network == "research" and asked.may_use_web)
        self._cancellation = cancellation
        self._meter = meter
        self._may_ask = asked.may_ask_people
        self._started = 0

    def __call__(self, argv: tuple[str, ...], *, env: Mapping[str, str], timeout_s: float) -> Ran:
        """Run it to its end."""
        self._started += 1
        log = self._record / f"program-{self._started}.log"
        gate = gate_file(self._booth.mailbox)
        # The mark is on every process of an agent, whatever its adapter: what only a person may do refuses by it.
        own = {
            AGENT_MARK: self._mark,
            MAILBOX: str(self._booth.mailbox),
            **({VARIABLE: str(self._booth.mailbox / FOLDER)} if self._may_ask else {}),
            **({stop_gate.VARIABLE: str(gate)} if gate.exists() else {}),
        }
        env = {**self._booth.environment.for_step(tuple(self._settings.env)), **env, **own}
        given_s = self._meter.seconds_for(timeout_s)
        with self._meter.watching(self._cancellation) as cancellation:
            ran = run_in_booth(
                self._booth, argv, env=env, log=log, network=self._network, timeout_s=given_s,
                cancellation=cancellation,
            )  # fmt: skip
        self._meter.note(ran, wanted_s=timeout_s, given_s=given_s)
        return ran


def run_in_booth(
    booth: Booth,
    argv: tuple[str, ...],
    *,
    env: Mapping[str, str],
    log: Path,
    network: bool,
    timeout_s: float,
    cancellation: Cancellation,
) -> Ran:
    """A program in the booth's sandbox, to its end; what it prints is in the log, redacted."""
    sandbox = booth.sandbox
    launch = sandbox.isolation.launch(sandbox.view, argv, cwd=sandbox.place.repo, env=env, network=network)
    output = LogFile(log, booth.log_bytes)
    streams = (booth.redactor.stream("agent"), booth.redactor.stream("agent"))
    try:
        ended = process.stream(
            process.Command(launch.argv, launch.cwd, launch.env, str(sandbox.place.folder), launch.wrapped),
            on_stdout=lambda data: output.write(streams[0].feed(data)),
            on_stderr=lambda data: output.write(streams[1].feed(data)),
            timeout_s=timeout_s,
            cancellation=cancellation,
            freezer=booth.freezer,
        )
        for stream in streams:
            output.write(stream.finish())
    finally:
        output.close()
    return Ran(ended.exit_code, ended.ending is Ending.TIMED_OUT, ended.duration_s, _last_line(log))


def _last_line(log: Path) -> str:
    with log.open("rb") as stream:
        stream.seek(0, os.SEEK_END)
        stream.seek(max(0, stream.tell() - _MOST_WORDS))
        lines = stream.read().decode("utf-8", "replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
