"""The process runner: streams, limits, and no leftover processes."""

from __future__ import annotations

import os
import threading
import uuid
from pathlib import Path

import pytest

from loopwright.errors import ToolMissing
from loopwright.kernel import process
from loopwright.kernel.process import Cancellation, Command, Ending

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


def test_a_program_that_is_not_there_is_an_exception():
    with pytest.raises(ToolMissing, match="no-such-program"):
        process.capture(("no-such-program",), cwd=Path("/"), env=ENV)
    with pytest.raises(ToolMissing, match="is missing"):
        process.capture(("true",), cwd=Path("/no/such/folder"), env=ENV)


def test_stopping_a_part_does_not_stop_the_whole():
    whole = Cancellation()
    with whole.nested() as part:
        part.request("part")
        assert whole.reason is None
        with whole.nested() as other:
            whole.request("all")
            assert other.reason == "all"
        assert part.reason == "part"
