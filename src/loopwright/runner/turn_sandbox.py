"""A sandbox for an agent's turns, with a mailbox next to it. Starts programs there, and logs their output redacted."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from loopwright.agents.mailbox import FOLDER
from loopwright.agents.port import LineReader, Ran
from loopwright.evidence.logs import LogFile
from loopwright.kernel.files import make_folder, remove_tree
from loopwright.kernel.process import Cancellation, Ending, Freezer
from loopwright.redaction.redactor import Redactor, StreamRedactor
from loopwright.runner.request import Environment
from loopwright.runner.test_reports import new_reports_folder, prepare_reporting, variables_inside
from loopwright.sandbox import homes
from loopwright.sandbox.port import Launch, Sandbox
from loopwright.sandbox.run_isolated import run_isolated

_MOST_WORDS = 300
# A line may contain a whole file, but an endless line must not fill the memory.
_LONGEST_LINE = 32 << 20


class TurnSandbox(msgspec.Struct, frozen=True):
    """A sandbox for turns. `work` names the work: an agent keeps one home for all its turns on it."""

    sandbox: Sandbox
    environment: Environment
    redactor: Redactor
    log_bytes: int
    work: str
    freezer: Freezer | None = None

    @property
    def mailbox(self) -> Path:
        """The only folder outside the sandbox that the agent may write to."""
        return self.sandbox.place.folder / "mailbox"

    def open_home(self, agent: str) -> Path:
        """The private folder of an agent, which stays when this sandbox is deleted."""
        view = self.sandbox.view
        return homes.open_home(view.sandbox_root, view.project, self.work, agent)


def open_turn_sandbox(
    sandbox: Sandbox,
    environment: Environment,
    redactor: Redactor,
    log_bytes: int,
    work: str,
    freezer: Freezer | None = None,
) -> TurnSandbox:
    """A turn's sandbox, with an empty mailbox."""
    turn_sandbox = TurnSandbox(sandbox, environment, redactor, log_bytes, work, freezer)
    remove_tree(turn_sandbox.mailbox)
    make_folder(turn_sandbox.mailbox / FOLDER)
    prepare_reporting(sandbox)
    return replace(turn_sandbox, sandbox=replace(sandbox, view=replace(sandbox.view, mailbox=turn_sandbox.mailbox)))


def run_in_turn_sandbox(
    turn_sandbox: TurnSandbox,
    argv: tuple[str, ...],
    *,
    env: Mapping[str, str],
    log: Path,
    network: bool,
    timeout_s: float,
    cancellation: Cancellation,
    on_line: LineReader | None = None,
    before_kept: Callable[[], None] = lambda: None,
) -> Ran:
    """Run a program in the turn's sandbox to its end. Its output goes to the log, redacted.

    With `on_line`, the log gets its result for each line of standard output. `before_kept` is called before each
    redaction.
    """
    sandbox = turn_sandbox.sandbox
    reports = new_reports_folder(sandbox)

    def launch() -> Launch:
        isolated = sandbox.isolation.launch(sandbox.view, argv, cwd=sandbox.place.repo, env=env, network=network)
        # The same variables as in a run of tests: code must not be able to tell the agent's sandbox from the judge's.
        return replace(isolated, env={**isolated.env, **variables_inside(reports, isolated.env)})

    output = LogFile(log, turn_sandbox.log_bytes)
    streams = (turn_sandbox.redactor.stream("agent"), turn_sandbox.redactor.stream("agent"))

    def keep(stream: StreamRedactor, data: bytes) -> None:
        before_kept()
        output.write(stream.feed(data))

    lines = Lines(on_line, partial(keep, streams[0])) if on_line is not None else None
    try:
        ended = run_isolated(
            launch,
            str(sandbox.place.folder),
            on_stdout=lines.feed if lines is not None else partial(keep, streams[0]),
            on_stderr=partial(keep, streams[1]),
            timeout_s=timeout_s,
            cancellation=cancellation,
            freezer=turn_sandbox.freezer,
        )
        if lines is not None:
            lines.finish()
        before_kept()
        for stream in streams:
            output.write(stream.finish())
    finally:
        output.close()
    return Ran(ended.exit_code, ended.ending is Ending.TIMED_OUT, ended.duration_s, _last_line(log))


class Lines:
    """Splits a program's output into lines for a reader, and passes the reader's results on."""

    def __init__(self, read: LineReader, write: Callable[[bytes], None]) -> None:
        self._read = read
        self._write = write
        self._rest = b""
        self._is_too_long = False

    def feed(self, data: bytes) -> None:
        """The next bytes."""
        *whole, self._rest = (self._rest + data).split(b"\n")
        for line in whole:
            self._take_line(line)
        if len(self._rest) > _LONGEST_LINE:
            self._rest, self._is_too_long = b"", True

    def finish(self) -> None:
        """Pass on an incomplete last line."""
        if self._rest:
            self._take_line(self._rest)
        self._rest = b""

    def _take_line(self, line: bytes) -> None:
        if self._is_too_long:
            self._is_too_long = False
            self._write(b"(line too long, not shown)\n")
            return
        shown = self._read(line.rstrip(b"\r"))
        if shown is not None:
            self._write(shown.encode("utf-8", "replace") + b"\n")


def _last_line(log: Path) -> str:
    with suppress(FileNotFoundError), log.open("rb") as stream:
        stream.seek(0, os.SEEK_END)
        stream.seek(max(0, stream.tell() - _MOST_WORDS))
        lines = stream.read().decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")
    return ""
