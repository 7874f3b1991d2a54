"""A sandbox for turns: its mailbox, its home, and the programs that run in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.runner.conftest import KEY

from loopwright.kernel import process
from loopwright.kernel.process import Command, Ended, Ending, Freezer, Lockdown
from loopwright.runner import turn_sandbox as module
from loopwright.runner.request import Environment
from loopwright.runner.test_reports import RunReports
from loopwright.runner.turn_sandbox import Lines, open_turn_sandbox, run_in_turn_sandbox
from loopwright.sandbox.port import Launch


def test_a_turn_sandbox_has_an_empty_mailbox_that_its_programs_may_see(sandbox, redactor, turn_sandbox):
    mailbox = sandbox.place.folder / "mailbox"
    assert turn_sandbox.mailbox == turn_sandbox.sandbox.view.mailbox == mailbox
    assert [path.name for path in mailbox.iterdir()] == ["decisions"]
    (mailbox / "old").write_text("")
    freezer, environment = Freezer(), Environment({}, ())
    again = open_turn_sandbox(sandbox, environment, redactor, 7, "w", freezer)
    assert [path.name for path in mailbox.iterdir()] == ["decisions"]
    assert (again.environment, again.redactor, again.log_bytes, again.work) == (environment, redactor, 7, "w")
    assert again.freezer is freezer
    assert open_turn_sandbox(sandbox, environment, redactor, 7, "w").freezer is None


def test_an_agent_has_one_home_for_each_work(turn_sandbox, tmp_path):
    home = turn_sandbox.open_home("ann")
    assert home.is_dir()
    assert (home.name, home.parent.name) == ("ann", "the-work")
    assert tmp_path / "sandboxes" in home.parents
    assert turn_sandbox.open_home("bob") != home == turn_sandbox.open_home("ann")


@pytest.fixture
def start(turn_sandbox, tmp_path, cancellation):
    """Run a script in the turn's sandbox."""

    def start(script, turn_sandbox=turn_sandbox, **more):
        options = {
            "env": {"PATH": os.environ["PATH"], "GIVEN": "1"}, "log": tmp_path / "log", "network": False,
            "timeout_s": 60.0, "cancellation": cancellation,
        }  # fmt: skip
        return run_in_turn_sandbox(turn_sandbox, ("bash", "-c", script), **{**options, **more})

    start.log = tmp_path / "log"
    start.turn_sandbox = turn_sandbox
    return start


def test_a_program_runs_in_the_repository_and_its_output_is_logged_redacted(start):
    ran = start(f'pwd; echo "$GIVEN"; echo {KEY}; echo end >&2; exit 3')
    lines = start.log.read_text().splitlines()
    assert lines[:2] == [str(start.turn_sandbox.sandbox.place.repo), "1"]
    assert "end" in lines
    assert KEY not in start.log.read_text()
    assert (ran.exit_code, ran.timed_out) == (3, False)
    assert 0 < ran.duration_s < 60
    isolation = start.turn_sandbox.sandbox.isolation
    assert isolation.launched == [(start.turn_sandbox.sandbox.view, False)]


def test_an_agent_has_the_variables_of_a_run_of_tests(start, sandbox, redactor):
    names = ("LOOPWRIGHT_REPORTS", "PYTHONPATH", "NODE_OPTIONS", "GOFLAGS", "TOX_OVERRIDE", "CI")
    start("; ".join(f'echo "{name}=${name}"' for name in names))
    given = dict(line.split("=", 1) for line in start.log.read_text().splitlines())
    reports = RunReports("", "", redactor)
    (sandbox.place.repo / "file").touch()
    reports.before_steps(sandbox)
    judged = reports.variables("A", {"TMPDIR": str(sandbox.place.tmp)})
    folders = {Path(variables["LOOPWRIGHT_REPORTS"]) for variables in (given, judged)}
    assert len(folders) == 2
    assert all(folder.is_dir() for folder in folders)
    assert {folder.name.rstrip("0123456789abcdef") for folder in folders} == {"loopwright-reports-"}
    assert {**given, "LOOPWRIGHT_REPORTS": ""} == {**judged, "LOOPWRIGHT_REPORTS": ""}


def test_a_link_that_a_turn_left_in_place_of_the_support_files_is_removed_and_not_followed(sandbox, redactor, tmp_path):
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "sitecustomize.py").write_text("mine")
    (sandbox.place.tmp / "loopwright-support").unlink(missing_ok=True)
    (sandbox.place.tmp / "loopwright-support").symlink_to(victim)
    open_turn_sandbox(sandbox, Environment({}, ()), redactor, 7, "w")
    assert (victim / "sitecustomize.py").read_text() == "mine"
    assert [path.name for path in victim.iterdir()] == ["sitecustomize.py"]
    assert (sandbox.place.tmp / "loopwright-support" / "sitecustomize.py").is_file()


def test_the_last_line_says_why_a_program_failed(start):
    assert start("echo one; echo '  two  '; echo; echo ' '").last_line == "two"
    start.log.unlink()
    assert start("true").last_line == ""
    start.log.unlink()
    assert start("echo no; printf '%0400d' 7").last_line == "0" * 299 + "7"


def test_a_program_that_does_not_end_is_ended(start):
    assert start("sleep 600", timeout_s=0.1).timed_out


def test_a_program_ends_when_a_stop_is_requested(start, cancellation):
    ran = start("echo begun; sleep 600", before_kept=lambda: cancellation.request("enough"))
    assert (ran.timed_out, ran.exit_code != 0) == (False, True)


def test_a_reader_decides_what_the_log_shows_of_standard_output(start):
    raw = []

    def read(line):
        raw.append(line)
        return None if line == b"two" else f"<{line.decode()}>"

    start(r"printf 'one\r\ntwo\nthree'; echo err >&2", on_line=read)
    assert raw == [b"one", b"two", b"three"]
    assert sorted(start.log.read_text().split()) == ["<one>", "<three>", "err"]


def test_secrets_can_be_learned_until_output_is_kept(start, redactor):
    learned = []

    def learn():
        learned.append(1)
        redactor.learn({"a-token-that-was-refreshed-0123456789"})

    start("echo a-token-that-was-refreshed-0123456789; printf tail", before_kept=learn)
    assert "refreshed" not in start.log.read_text()
    assert start.log.read_text().endswith("tail")
    assert len(learned) >= 2


def test_a_log_keeps_as_many_bytes_as_it_may(start, turn_sandbox):
    start("echo 0123456789", replace(turn_sandbox, log_bytes=5))
    assert start.log.read_text().startswith("01234\n[loopwright: 6 more bytes")


@pytest.mark.parametrize("reader", [None, bytes.decode])
def test_the_two_outputs_of_a_program_are_masked_separately(start, monkeypatch, reader):
    commands, options = [], {}

    def stream(command, *, on_stdout, on_stderr, **more):
        commands.append(command)
        options.update(more)
        on_stderr(KEY[:9].encode())
        on_stdout(KEY[9:].encode() + b"\n")
        return Ended(Ending.TIMED_OUT, 7, 1.5)

    isolation, sandbox = start.turn_sandbox.sandbox.isolation, start.turn_sandbox.sandbox
    launch = Launch(("bash",), sandbox.place.repo, {"TMPDIR": "/tmp"}, wrapped=True, lockdown=Lockdown.KEYS)
    monkeypatch.setattr(isolation, "launch", lambda *_, **__: launch)
    monkeypatch.setattr(process, "stream", stream)
    ran = start("unused", on_line=reader)
    assert (ran.exit_code, ran.timed_out, ran.duration_s) == (7, True, 1.5)
    assert all(part in start.log.read_text() for part in (KEY[:9], KEY[9:])), "the parts are of two texts"
    assert options["freezer"] is start.turn_sandbox.freezer
    assert options["timeout_s"] == 60.0
    (command,) = commands
    assert command == Command(
        ("bash",), sandbox.place.repo, command.env, str(sandbox.place.folder), wrapped=True, lockdown=Lockdown.KEYS
    )


@pytest.mark.parametrize(
    ("log", "last"), [(b"x", "x"), (b"one\ntwo words\n \n", "two words"), (b"\xff end\n", "\ufffd end"), (b"", "")]
)
def test_the_last_line_is_read_from_the_end_of_the_log(tmp_path, log, last):
    (tmp_path / "log").write_bytes(log)
    assert module._last_line(tmp_path / "log") == last


LINES = [
    ([b"a\nb", b"c\n", b"d"], ["a", "bc", "d"]),
    ([b"\n"], [""]),
    ([b"", b"a\r\n\r\n"], ["a", ""]),
    ([b"a\n"], ["a"]),
    ([b"a \r\nX\n"], ["a ", "X"]),
]


@pytest.mark.parametrize(("chunks", "lines"), LINES)
def test_output_is_split_into_lines_however_it_arrives(chunks, lines):
    read, written = [], []

    def reader(line):
        read.append(line.decode())
        return f"é{line.decode()}"

    splitting = Lines(reader, written.append)
    for chunk in chunks:
        splitting.feed(chunk)
    splitting.finish()
    splitting.finish()
    assert read == lines
    assert written == [f"é{line}\n".encode() for line in lines]


def test_a_line_that_is_too_long_is_not_kept_in_memory(monkeypatch):
    monkeypatch.setattr(module, "_LONGEST_LINE", 4)
    read, written = [], []
    lines = Lines(lambda line: read.append(line) or line.decode(), written.append)
    lines.feed(b"1234")
    lines.feed(b"\n12345")
    assert lines._rest == b""
    lines.feed(b"6\nnext\n")
    assert read == [b"1234", b"next"]
    assert written == [b"1234\n", b"(line too long, not shown)\n", b"next\n"]


def test_text_that_is_not_utf_8_is_replaced():
    written = []
    Lines(lambda _: "\udcff", written.append).feed(b"x\n")
    assert written == [b"?\n"]


def test_the_last_line_of_a_missing_log_is_empty():
    assert module._last_line(Path("/no/such/log")) == ""
