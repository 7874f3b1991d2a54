"""The process runner: streams, limits, and no leftover processes."""

from __future__ import annotations

import os
import signal
import threading
import time
import uuid
from contextlib import suppress
from pathlib import Path

import pytest

from loopwright.errors import ToolMissing
from loopwright.kernel import cgroup, process, process_tree
from loopwright.kernel import family as families
from loopwright.kernel.process import Cancellation, Command, Ending, Stopped, stopping_on

ENV = {"PATH": os.environ["PATH"]}


def run(script, *, timeout_s=300.0, cancellation=None, cwd=Path("/")):
    out, err = [], []
    ended = process.stream(
        Command(("bash", "-c", script), cwd, ENV, "test"),
        on_stdout=out.append,
        on_stderr=err.append,
        timeout_s=timeout_s,
        cancellation=cancellation or Cancellation(),
    )
    return ended, b"".join(out), b"".join(err)


def alive(mark):
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                line = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in line:
                found.append(folder.name)
    return found


@pytest.fixture
def mark():
    return f"9876.{uuid.uuid4().int % 10**9}"


def test_output_and_exit_code_are_what_the_command_gave():
    ended, out, err = run("echo out; echo err >&2; exit 3")
    assert (ended.ending, ended.exit_code, out, err) == (Ending.EXITED, 3, b"out\n", b"err\n")


def test_a_signal_is_told_as_shells_tell_it():
    assert run("kill -9 $$")[0].exit_code == 137


@pytest.mark.parametrize(
    "daemon",
    ["setsid sleep {0} &", "(setsid sleep {0} > /dev/null 2>&1 < /dev/null &)", "nohup sleep {0} &",
     "(env -i setsid sleep {0} &)", "sleep {0} & disown"],
)  # fmt: skip
def test_no_daemon_survives_its_command_and_none_is_waited_for(daemon, mark):
    ended, _, _ = run(daemon.format(mark) + "\necho started")
    assert ended.exit_code == 0
    assert alive(mark) == []


def test_a_timeout_ends_a_tree_that_ignores_term(mark):
    ended, _, _ = run(f"trap '' TERM; (trap '' TERM; sleep {mark}) & setsid sleep {mark} & wait", timeout_s=0.5)
    assert ended.ending is Ending.TIMED_OUT
    assert alive(mark) == []


def test_term_comes_before_kill():
    for limit_s in (0.7, 7, 70):  # a busy machine needs longer to get ready
        ended, out, _ = run(
            "trap 'echo tidy; exit 7' TERM; echo ready; while :; do sleep 0.05; done", timeout_s=limit_s
        )
        if out:
            break
    assert (ended.ending, out) == (Ending.TIMED_OUT, b"ready\ntidy\n")


def test_a_stop_that_is_requested_ends_the_command(mark):
    cancellation = Cancellation()
    seen = threading.Event()
    result = []

    def work():
        result.append(
            process.stream(
                Command(("bash", "-c", f"echo go; sleep {mark}"), Path("/"), ENV, "test"),
                on_stdout=lambda _: seen.set(),
                on_stderr=lambda _: None,
                timeout_s=None,
                cancellation=cancellation,
            )
        )

    thread = threading.Thread(target=work)
    thread.start()
    assert seen.wait()
    cancellation.request("enough")
    thread.join()
    assert result[0].ending is Ending.CANCELLED
    assert alive(mark) == []


def test_daemons_of_two_commands_at_once_are_told_apart(mark):
    """One command ends while the other's background child still works: that child must live on."""
    results = {}

    def long():
        results["long"] = run(f"sleep {mark} & child=$!; until [ -e {flag} ]; do sleep 0.02; done; kill -0 $child")

    flag = Path("/tmp") / f"flag-{mark}"
    thread = threading.Thread(target=long)
    thread.start()
    try:
        run("setsid sleep 5 & true")
        flag.touch()
        thread.join()
    finally:
        flag.unlink(missing_ok=True)
    assert results["long"][0].exit_code == 0
    assert alive(mark) == []


def test_an_error_in_the_output_reader_leaves_no_process(mark):
    def refuse(_):
        raise RuntimeError("full")

    with pytest.raises(RuntimeError, match="full"):
        process.stream(
            Command(("bash", "-c", f"echo x; sleep {mark}"), Path("/"), ENV, "test"),
            on_stdout=refuse,
            on_stderr=refuse,
            timeout_s=None,
            cancellation=Cancellation(),
        )
    assert alive(mark) == []


@pytest.mark.parametrize(
    ("program", "folder", "message", "hint"),
    [
        (
            "no-such-program", "/", "the program 'no-such-program' is not installed or not on PATH",
            "install no-such-program, then run `loopwright doctor`",
        ),
        ("true", "/no/such", "can't start true: the folder /no/such is missing", "check that folder, then try again"),
        ("/dev/null", "/", "can't start '/dev/null': Permission denied", "run `loopwright doctor`"),
    ],
)  # fmt: skip
def test_a_program_that_can_not_be_started_is_an_exception(program, folder, message, hint):
    with pytest.raises(ToolMissing) as missing:
        process.capture((program,), cwd=Path(folder), env=ENV)
    assert (missing.value.message, missing.value.hint) == (message, hint)


def test_a_helper_command_gets_input_and_returns_all_its_output(tmp_path, monkeypatch):
    before = dict(families._ours)  # an earlier test may have left a process
    marks, note_start = [], families.note_start
    monkeypatch.setattr(families, "note_start", lambda start, mark: marks.append(mark) or note_start(start, mark))
    done = process.capture(("sh", "-c", "pwd; cat; echo err >&2; kill -9 $$"), cwd=tmp_path, env=ENV, stdin=b"in")
    assert done == process.Captured(137, f"{tmp_path}\nin".encode(), b"err\n")
    assert process.capture(("cat",), cwd=tmp_path, env=ENV).stdout == b""
    session = process.capture(("sh", "-c", "ps -o sid= $$ || true; echo $$"), cwd=tmp_path, env=ENV).stdout.split()
    assert len(set(session)) == 1, "a session of its own: no signal of the terminal reaches it"
    assert set(marks) == {""}, "it has no family"
    assert families._ours == before


def test_a_helper_command_that_takes_too_long_is_ended(mark):
    before = dict(families._ours)
    with pytest.raises(TimeoutError, match=r"^sh did not end within 0\.2 s$"):
        process.capture(("sh", "-c", f"sleep {mark} & sleep {mark}"), cwd=Path("/"), env=ENV, timeout_s=0.2)
    assert alive(mark) == []
    assert families._ours == before


def test_a_stop_ends_helper_commands_and_commands_of_its_block(mark):
    request = Cancellation()
    with stopping_on(request):
        threading.Timer(0.1, request.request, ("enough",)).start()
        with pytest.raises(Stopped, match="enough"):
            process.capture(("sleep", mark), cwd=Path("/"), env=ENV)
        ended = process.stream(
            Command(("sleep", mark), Path("/"), ENV, "test"), on_stdout=print, on_stderr=print, timeout_s=None
        )
    assert (ended.ending, ended.exit_code) == (Ending.CANCELLED, 143)
    assert alive(mark) == []


def test_a_command_has_a_mark_and_no_input(tmp_path):
    out = []
    ended = process.stream(
        Command(("sh", "-c", f'cat; echo "${families.MARK_VARIABLE} $A"'), tmp_path, {**ENV, "A": "1"}, "/family"),
        on_stdout=out.append, on_stderr=out.append, timeout_s=300,
    )  # fmt: skip
    assert b"".join(out).startswith(f"/family:{os.getpid()}:".encode())
    assert b"".join(out).endswith(b" 1\n")
    assert (ended.ending, ended.exit_code, ended.frozen_s) == (Ending.EXITED, 0, 0.0)
    assert 0 < ended.duration_s < 300


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_a_detached_process_writes_to_its_log_and_is_not_ended(tmp_path):
    log = tmp_path / "log"
    log.write_text("before\n")
    script = "pwd; echo $A >&2; readlink /proc/$$/fd/0; exec sleep 1000"
    terminal, (reading, writing) = os.dup(0), os.pipe()
    os.dup2(reading, 0)
    try:
        pid = process.detach(("sh", "-c", script), cwd=tmp_path, env={**ENV, "A": "1"}, log=log)
    finally:
        os.dup2(terminal, 0)
        for handle in (terminal, reading, writing):
            os.close(handle)
    try:
        assert families._ours[pid] == ""
        assert os.getsid(pid) == pid
        run("true")
        while log.read_text() != f"before\n{tmp_path}\n1\n/dev/null\n":
            time.sleep(0.005)
    finally:
        os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):  # `subprocess` may collect it
            os.waitpid(pid, 0)
        families.note_end(pid)


@pytest.fixture
def left_behind(monkeypatch):
    """Processes by pid that a dead Loopwright process left: three by their mark or folder, one of a person."""
    left = {2: ("mark", "/"), 3: ("", "/family/sub"), 4: ("", "/elsewhere"), 5: ("mark", "/family")}
    naps = []

    def kill_all(pids, number):
        assert number is signal.SIGKILL
        del left[pids[0]]
        return 1

    def has(pid, text):
        assert text == f"{families.MARK_VARIABLE}=/family:".encode()
        return left[pid][0] == "mark"

    monkeypatch.setattr(process_tree, "all_processes", lambda: list(left))
    monkeypatch.setattr(process_tree, "kill_all", kill_all)
    monkeypatch.setattr(process_tree, "environment_has", has)
    monkeypatch.setattr(process_tree, "works_in", lambda pid, folder: left[pid][1].startswith(folder))
    monkeypatch.setattr(cgroup, "remove_leftovers", lambda: naps.append("cgroup"))
    monkeypatch.setattr(time, "sleep", naps.append)
    return left, naps


def test_what_a_dead_process_left_is_ended_by_mark_and_folder(left_behind):
    left, naps = left_behind
    assert process.end_family("/family") == 3
    assert list(left) == [4]
    assert len(naps) == 4
    assert naps[-1] == "cgroup"


def test_where_a_person_may_work_only_marked_processes_are_ended(left_behind):
    assert process.end_family("/family", by_place=False) == 2
    assert list(left_behind[0]) == [3, 4]


def test_processes_that_come_back_are_ended_for_a_while(left_behind, monkeypatch):
    monkeypatch.setattr(process_tree, "kill_all", lambda *_: 1)
    assert process.end_family("/family") == 20


def test_stopping_a_part_does_not_stop_the_whole():
    whole = Cancellation()
    with whole.nested() as part:
        part.request("part")
        assert whole.reason is None
        with whole.nested() as other:
            whole.request("all")
            assert other.reason == "all"
        assert part.reason == "part"
