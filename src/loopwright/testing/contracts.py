"""What every adapter of a port must keep: subclass a suite in a test, provide the adapter, and pytest runs it.

Third parties test their agents with the same suites that ours pass.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from loopwright.agents.needs import HasNeeds
from loopwright.agents.port import (
    Agent,
    Answer,
    CanResume,
    LineReader,
    NoAnswer,
    Ran,
    Reason,
    ReportsCost,
    Role,
    StreamsEvents,
    Turn,
    Usage,
)
from loopwright.agents.usage import FILE
from loopwright.kernel import process
from loopwright.runner.turn_sandbox import Lines
from loopwright.sandbox.model import SandboxFolders, SandboxView
from loopwright.sandbox.port import CEILING, Isolation


def start_plainly(
    argv: tuple[str, ...], *, env: Mapping[str, str], timeout_s: float, on_line: LineReader | None = None
) -> Ran:
    """A `Starter` for tests: no sandbox, the same typed result."""
    silent: list[bytes] = []
    lines = Lines(on_line, silent.append) if on_line is not None else None
    cancellation = process.Cancellation()
    try:
        ended = process.stream(
            process.Command(argv, Path("/"), {"PATH": os.environ["PATH"], **env}, "contract"),
            on_stdout=lines.feed if lines is not None else silent.append,
            on_stderr=silent.append,
            timeout_s=timeout_s,
            cancellation=cancellation,
        )
    finally:
        cancellation.close()
    if lines is not None:
        lines.finish()
    return Ran(ended.exit_code, ended.ending is process.Ending.TIMED_OUT, ended.duration_s)


def turn_for(mailbox: Path, prompt: str = "a prompt", timeout_s: float = 20.0, role: Role = Role.REPLANNER) -> Turn:
    """A turn for tests."""
    return Turn(
        role=role, prompt=prompt, mailbox=mailbox, timeout_s=timeout_s, may_use_web=False, folder=mailbox.parent
    )


class AgentContract:
    """A turn goes in, a typed answer comes out, and only the mailbox changes."""

    timeout_s = 20.0

    def answering(self, tmp_path: Path) -> Agent:
        """An agent that answers `an answer` to any replanner's turn."""
        raise NotImplementedError

    def failing(self, tmp_path: Path) -> Agent:
        """An agent whose turn ends with the reason `crashed`."""
        raise NotImplementedError

    def start(
        self, argv: tuple[str, ...], *, env: Mapping[str, str], timeout_s: float, on_line: LineReader | None = None
    ) -> Ran:
        """How the agent's programs are started. An agent with its own needs gets them here."""
        return start_plainly(argv, env=env, timeout_s=timeout_s, on_line=on_line)

    def _take(self, agent: Agent, tmp_path: Path) -> Answer | NoAnswer:
        mailbox = tmp_path / "mailbox"
        mailbox.mkdir()
        return agent.take(turn_for(mailbox, timeout_s=self.timeout_s), self.start)

    def test_it_has_a_name(self, tmp_path: Path) -> None:
        """Settings and records use the name."""
        assert self.answering(tmp_path).name

    def test_an_answer_is_text_with_its_duration(self, tmp_path: Path) -> None:
        """The answer's text and duration."""
        answer = self._take(self.answering(tmp_path), tmp_path)
        assert isinstance(answer, Answer)
        assert answer.text.strip() == "an answer"
        assert answer.duration_s >= 0

    def test_a_failure_is_a_typed_value_and_not_an_exception(self, tmp_path: Path) -> None:
        """The caller decides by the reason, never by the message."""
        answer = self._take(self.failing(tmp_path), tmp_path)
        assert isinstance(answer, NoAnswer)
        assert answer.reason is Reason.CRASHED

    def test_every_claimed_ability_works(self, tmp_path: Path) -> None:
        """Even for a turn that never happened."""
        agent = self.answering(tmp_path)
        if isinstance(agent, ReportsCost):
            assert agent.used(tmp_path / "nowhere", is_over=True) == Usage()
        if isinstance(agent, CanResume):
            assert not agent.knows(tmp_path / "nowhere", tmp_path, "no-session")
        if isinstance(agent, StreamsEvents):
            assert agent.shown(b"not an event") == "not an event"
            assert agent.shown(b'{"type": "from a later version"}') is None
        if isinstance(agent, HasNeeds):
            assert agent.needs.program
            assert agent.needs.hosts

    def test_nothing_is_written_outside_the_mailbox(self, tmp_path: Path) -> None:
        """An adapter may write nowhere else."""
        agent = self.answering(tmp_path)
        before = {path for path in tmp_path.rglob("*") if "mailbox" not in path.parts}
        self._take(agent, tmp_path)
        assert {path for path in tmp_path.rglob("*") if "mailbox" not in path.parts} == before

    def test_leftovers_in_the_mailbox_are_removed_and_never_followed(self, tmp_path: Path) -> None:
        """A second turn uses the same mailbox: a link, a pipe or a folder may be in the place of an adapter's file."""
        agent, names = self.answering(tmp_path), {FILE}
        victim = tmp_path / "victim"
        victim.write_text("mine")
        for number, kind in enumerate(("nothing", *OBSTACLES)):
            mailbox = tmp_path / f"mailbox {kind}"
            mailbox.mkdir()

            def start(argv: tuple[str, ...], mailbox: Path = mailbox, **more: Any) -> Ran:
                # Everything that exists before the program runs comes from the adapter.
                names.update(str(path.relative_to(mailbox)) for path in mailbox.rglob("*") if path.is_file())
                return self.start(argv, **more)

            for name in names if number else ():
                put_in_the_way(mailbox / name, kind, victim)
            turn = replace(turn_for(mailbox, timeout_s=self.timeout_s), number=0)
            answer = agent.take(turn, start)
            assert isinstance(answer, Answer), (kind, answer)
            assert victim.read_text() == "mine", kind


OBSTACLES = ("link", "pipe", "folder")


def put_in_the_way(path: Path, kind: str, victim: Path) -> None:
    """Leave what a hostile turn may leave in the place of a file that is written later."""
    path.parent.mkdir(parents=True, exist_ok=True)
    match kind:
        case "link":
            path.symlink_to(victim)
        case "pipe":
            os.mkfifo(path)
        case _:
            (path / "deeper").mkdir(parents=True)
            (path / "deeper" / "file").write_text("x")


class IsolationContract:
    """A command runs in its folder with its environment, and its exit code comes back."""

    def isolation(self) -> Isolation:
        """The adapter."""
        raise NotImplementedError

    def _run(self, tmp_path: Path, script: str, env: Mapping[str, str] | None = None) -> process.Captured:
        place = SandboxFolders(tmp_path / "sandboxes" / "one")
        for folder in (place.repo, place.tmp, place.home, tmp_path / "project", tmp_path / "home"):
            folder.mkdir(parents=True, exist_ok=True)
        view = SandboxView(place, tmp_path / "project", tmp_path / "sandboxes")
        given = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), **(env or {})}
        launch = self.isolation().launch(view, ("bash", "-c", script), cwd=place.repo, env=given, network=True)
        return launch.capture(30)

    def test_the_exit_code_is_the_commands_own(self, tmp_path: Path) -> None:
        """Even with a wrapper around the command."""
        assert self._run(tmp_path, "exit 7").exit_code == 7

    def test_the_command_runs_in_its_folder_and_can_write_there(self, tmp_path: Path) -> None:
        """Written files are on disk afterwards."""
        assert self._run(tmp_path, "pwd -P > where").exit_code == 0
        repo = tmp_path / "sandboxes" / "one" / "repo"
        inside = tmp_path / "project" if self.isolation().mounts else repo
        assert (repo / "where").read_text().strip() == str(inside.resolve())

    def test_a_closed_pipe_ends_a_command_quietly(self, tmp_path: Path) -> None:
        """Signals arrive as they would without a wrapper."""
        done = self._run(tmp_path, "yes | head -1; exit ${PIPESTATUS[0]}")
        assert (done.exit_code, done.stderr) == (141, b"")

    def test_the_environment_is_what_was_given_and_a_private_tmpdir(self, tmp_path: Path) -> None:
        """Our own variables do not leak in."""
        done = self._run(tmp_path, 'echo "$GIVEN"; touch "$TMPDIR/x" && echo ok; env', {"GIVEN": "value"})
        lines = done.stdout.decode().splitlines()
        assert lines[:2] == ["value", "ok"]
        names = {line.partition("=")[0] for line in lines[2:]}
        assert names <= {"GIVEN", "PATH", "HOME", "TMPDIR", "PWD", "SHLVL", "_", "OLDPWD", "LC_CTYPE", CEILING}
