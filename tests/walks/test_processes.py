"""Processes of steps: none survives or delays a run, and a killed loopwright loses nothing."""

from __future__ import annotations

import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from loopwright.kernel import process

BOTH = pytest.mark.parametrize("isolation", ["none", pytest.param("auto", marks=pytest.mark.needs("bwrap"))])
_PEAK = (
    "import resource, subprocess, sys; code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL);"
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024); sys.exit(code)"
)
# Long enough for a busy machine; only a hung process reaches it.
PATIENCE_S = 300
# More than the memory that is allowed below; `FAULTS_EVERY=1` takes a gigabyte, and so does the bench.
MUCH = 1 << 30 if os.environ.get("FAULTS_EVERY") else 320 << 20


@pytest.fixture
def nap():
    """A sleep with a unique command line; leftover processes are ended after the test."""
    number = f"98765.{secrets.randbelow(10**12):012d}"
    yield f"sleep {number}"
    for pid in alive(number):
        os.kill(pid, signal.SIGKILL)


def alive(text):
    """Live processes whose command line contains this text."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if text.encode() in (folder / "cmdline").read_bytes().replace(b"\0", b" "):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def wait_until(condition, what):
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, f"did not happen: {what}"
        time.sleep(0.01)


def log_of(project, name="A-1", run="r"):
    return project.own / "runs" / run / "logs" / f"{name}.log"


@contextmanager
def started(project, *arguments, **options):
    """`loopwright` in the background, in its own session; killed at the end if it still runs."""
    child = subprocess.Popen(
        project.command(*arguments), cwd=project.root, env=project.environment, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, start_new_session=True, text=True, **options,
    )  # fmt: skip
    try:
        yield child
    finally:
        if child.poll() is None:
            child.kill()
        child.communicate()


def wait_for_output(project, text="begun", run="r"):
    path = log_of(project, run=run)
    wait_until(lambda: path.exists() and text in path.read_text(), f"{text} in {path}")


FORK_TWICE = (
    "import os; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); os.execlp('sleep', *'{0}'.split())"
)
DAEMONS = {
    "background": "{0} &",
    "setsid": "setsid {0} &",
    "nohup": "nohup {0} > /dev/null 2>&1 < /dev/null & disown",
    "double-fork": f'python3 -c "{FORK_TWICE}"',
    "no-environment": "env -i setsid {0} &",
    "ignores-term": "(trap '' TERM; setsid {0} &)",
    "respawns": "setsid bash -c 'trap : TERM; while :; do {0}; done' &",
    "stops-itself": "setsid bash -c 'kill -STOP $BASHPID; {0}' & ",
}


@BOTH
@pytest.mark.parametrize("daemon", DAEMONS.values(), ids=DAEMONS)
def test_a_daemon_does_not_survive_its_command_and_is_not_waited_for(project, nap, daemon, isolation):
    project.plan({"id": "A", "commands": [f"{daemon.format(nap)}\necho begun; exit 0", "echo next"]}, run_id="r")
    done = project.run("run", "--isolation", isolation)
    assert done.exit_code == 0, done.stderr
    assert alive(nap) == []
    assert "begun\n" in log_of(project).read_text()
    assert [step["outcome"] for step in project.evidence("r")["steps"]] == ["passed"]


@BOTH
def test_daemons_of_steps_that_run_at_once_do_not_survive_either(project, nap, isolation):
    wait = "; until [ -e a-is-over ]; do sleep 0.02; done"
    project.plan(
        {"id": "A", "commands": [f"env -i setsid {nap} & setsid {nap} &", "touch a-is-over"]},
        {"id": "B", "commands": [f"env -i setsid {nap} & {nap} & echo begun{wait}; jobs -p | xargs kill -0"]},
        run_id="r",
    )
    done = project.run("run", "--isolation", isolation, "--jobs", "2")
    assert done.exit_code == 0, log_of(project, "B-1").read_text()
    assert alive(nap) == []


@BOTH
@pytest.mark.parametrize(
    "stubborn",
    [
        "trap '' TERM; setsid {0} & {0} & wait",
        "trap 'echo no' TERM; while :; do {0}; done",
        "{0} & kill -STOP $BASHPID",
    ],
    ids=["ignores", "catches", "stopped"],
)
def test_a_timeout_ends_a_whole_tree_that_does_not_listen(project, nap, stubborn, isolation):
    command = f"echo begun; {stubborn.format(nap)}"
    project.plan({"id": "A", "commands": [command, "echo never"], "timeout_s": 1}, run_id="r")
    done = project.run("run", "--isolation", isolation)
    assert done.exit_code == 1
    assert done.stderr.startswith("STEP_FAILED: ")
    assert "  → " in done.stderr
    assert alive(nap) == []
    (step,) = project.evidence("r")["steps"]
    assert [command["ending"] for command in step["commands"]] == ["timed_out"]
    assert log_of(project).read_text().startswith("begun\n")


@BOTH
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)])
def test_a_signal_stops_cleanly_and_keeps_the_evidence(project, nap, number, code, isolation):
    project.plan(
        {"id": "A", "commands": [f"echo begun; setsid {nap} & {nap}"]},
        {"id": "B", "commands": ["echo never"], "depends_on": ["A"]},
        run_id="r",
    )
    with started(project, "run", "--isolation", isolation) as child:
        wait_for_output(project)
        os.killpg(child.pid, number)
        said = child.communicate(timeout=PATIENCE_S)[1]
    assert child.returncode == code
    assert said.startswith("INTERRUPTED: ")
    assert ("SIGINT" if number == signal.SIGINT else "SIGTERM") in said
    assert "  → `loopwright run`" in said
    assert "Traceback" not in said
    assert alive(nap) == []
    assert list(project.sandboxes.iterdir()) == []
    assert not (project.own / "latch.lock").exists()
    assert project.latest()["envelope"]["error_code"] == "INTERRUPTED"
    evidence = project.evidence("r")
    assert [step["outcome"] for step in evidence["steps"]] == ["cancelled", "skipped"]
    assert log_of(project).read_text() == "begun\n"
    assert project.run("verify").exit_code == 0


@pytest.mark.parametrize("verb", ["add", "write-tree", "read-tree"])
def test_a_signal_while_the_sandbox_is_made_or_read_stops_at_once(project, nap, tmp_path, verb):
    """A git that never ends simulates a very long copy: the stop must not wait for it."""
    shim, reached = tmp_path / "bin" / "git", tmp_path / "reached"
    shim.parent.mkdir()
    real = shutil.which("git")
    hang = f"touch {reached}; exec {nap}"
    shim.write_text(f'#!/bin/sh\nfor word do [ "$word" = {verb} ] && {{ {hang}; }}; done\nexec {real} "$@"\n')
    shim.chmod(0o755)
    project.environment["PATH"] = f"{shim.parent}:{project.environment['PATH']}"
    project.plan({"id": "A", "commands": ["true"]}, run_id="r")
    mode = "worktree" if verb == "read-tree" else "copy"
    with started(project, "run", "--mode", mode) as child:
        wait_until(reached.exists, f"git {verb}")
        os.kill(child.pid, signal.SIGTERM)
        said = child.communicate(timeout=PATIENCE_S)[1]
    assert child.returncode == 143
    assert said.startswith("INTERRUPTED: stopped by SIGTERM")
    assert alive(nap) == []
    assert list(project.sandboxes.iterdir()) == []
    assert project.evidence("r")["error_code"] == "INTERRUPTED"
    assert not (project.own / "latch.lock").exists()


def test_a_rerun_that_was_killed_is_recorded_as_a_rerun(project, nap):
    project.plan({"id": "A", "commands": [f"test ! -e {project.root}/hang || {nap}"]}, run_id="r")
    assert project.run("run", "--isolation", "none").exit_code == 0
    project.write("hang", "")
    with started(project, "rerun", "r") as child:
        wait_until(lambda: alive(nap), "the step of the rerun")
        child.kill()
        child.wait()
    assert project.run("doctor", "--fix").exit_code == 0
    evidence = project.evidence("r-rerun")
    assert (evidence["kind"], evidence["rerun_of"], evidence["error_code"]) == ("rerun", "r", "INTERRUPTED")
    assert project.run("verify").exit_code == 0


@BOTH
@pytest.mark.parametrize(
    "daemon",
    ["{0} & {0}", "setsid {0} & nohup {0} > /dev/null", "env -i PATH=$PATH setsid {0} & {0}"],
    ids=["children", "daemons", "no mark"],
)
def test_after_kill_9_the_next_run_cleans_up_and_records_the_dead_run(project, nap, daemon, isolation):
    project.plan({"id": "A", "commands": ["echo first", f"echo begun; {daemon.format(nap)}"]}, run_id="dead")
    with started(project, "run", "--isolation", isolation) as child:
        path = log_of(project, "A-2", "dead")
        wait_until(lambda: path.exists() and path.read_text() == "begun\n" and alive(nap), "the second command runs")
        child.kill()
    project.plan({"id": "A", "commands": ["true"]}, run_id="next")
    done = project.run("run", "--isolation", isolation)
    assert done.exit_code == 0, done.stderr
    assert alive(nap) == []
    assert list(project.sandboxes.iterdir()) == []
    evidence = project.evidence("dead")
    assert (evidence["status"], evidence["error_code"]) == ("ERROR", "INTERRUPTED")
    assert {"logs/A-1.log", "logs/A-2.log", "plan.yaml"} <= set(evidence["files"])
    assert path.read_text() == "begun\n"
    assert project.evidence("next")["previous"]["run_id"] == "dead"
    verified = project.run("verify")
    assert verified.exit_code == 0, verified.stdout


def test_after_kill_9_while_the_sandbox_is_made_the_next_run_ends_our_helpers_too(make_project):
    project = make_project({f"d{n % 100}/f{n}": f"{n}\n" * 1000 for n in range(1000)}, commit=False)
    project.plan({"id": "A", "commands": ["true"]}, run_id="dead")
    place = str(project.sandboxes / "dead")
    with started(project, "run") as child:
        wait_until(lambda: any(project.sandboxes.glob("dead/repo/*/f*")) and alive(place), "helpers are at work")
        helpers = alive(place)
        for pid in helpers:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)  # as if they had a lot left to do
        child.kill()
    project.plan({"id": "A", "commands": ["true"]}, run_id="next")
    done = project.run("run")
    left = alive(place)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert done.exit_code == 0, done.stderr
    assert left == []
    assert list(project.sandboxes.iterdir()) == []
    assert project.evidence("dead")["error_code"] == "INTERRUPTED"


@BOTH
def test_cleaning_up_after_a_dead_run_leaves_a_live_run_of_the_same_name_alone(make_project, nap, isolation):
    living, dead = make_project(), make_project()
    living.plan({"id": "A", "commands": ["echo begun; until [ -e go ]; do sleep 0.02; done"]}, run_id="r")
    dead.plan({"id": "A", "commands": [f"echo begun; {nap}"]}, run_id="r")
    with started(living, "run", "--isolation", isolation, "--keep") as child:
        wait_for_output(living)
        with started(dead, "run", "--isolation", isolation) as other:
            wait_for_output(dead)
            other.kill()
        dead.plan({"id": "A", "commands": ["true"]}, run_id="next")
        assert dead.run("run").exit_code == 0
        assert alive(nap) == []
        (living.sandboxes / "r" / "repo" / "go").touch()
        assert child.wait() == 0
    assert living.evidence("r")["status"] == "OK"


@BOTH
def test_a_step_that_reads_its_input_gets_no_input(project, isolation):
    project.plan({"id": "A", "commands": ["cat; read -r line || echo nothing; [ ! -t 0 ]"]}, run_id="r")
    with started(project, "run", "--isolation", isolation, stdin=subprocess.PIPE) as child:
        child.stdin.write("for the step?\n")
        child.stdin.flush()
        assert child.wait() == 0
    assert log_of(project).read_text() == "nothing\n"


@pytest.mark.parametrize(
    "command",
    [f"head -c {MUCH} /dev/zero | tr '\\0' x", f"yes 'a line of output' | head -c {MUCH}"],
    ids=["one-line", "lines"],
)
def test_much_output_is_kept_whole_in_little_memory(project, command):
    project.plan({"id": "A", "commands": [command]}, run_id="r")
    argv = (sys.executable, "-c", _PEAK, *project.command("run", "--isolation", "none"))
    done = process.capture(argv, cwd=project.root, env=project.environment)
    assert done.exit_code == 0, done.stderr
    assert log_of(project).stat().st_size == MUCH
    assert project.evidence("r")["steps"][0]["commands"][0]["log_bytes"] == MUCH
    log_of(project).unlink()
    assert int(done.stdout) < 300


@BOTH
def test_a_line_of_10_mb_and_any_bytes_are_kept_as_they_are(project, isolation):
    dice = random.Random(7)
    blob = dice.randbytes(2 << 20) + b"\0" * 100_000 + b"x" * 10_000_000 + b"\xff\xfe\xc3\x28\r\x1b]0;title\x07" + b"\0"
    (project.root / "blob").write_bytes(blob)
    project.commit("blob")
    project.plan({"id": "A", "commands": ["cat blob", "cat blob >&2"]}, run_id="r")
    done = project.run("run", "--isolation", isolation)
    assert done.exit_code == 0, done.stderr
    assert log_of(project).read_bytes() == blob
    assert log_of(project, "A-2").read_bytes() == blob
    assert "\x1b]0;" not in done.stdout
    assert project.run("verify").exit_code == 0


@BOTH
def test_two_runs_at_once_in_one_workspace_both_finish(project, isolation):
    project.plan({"id": "A", "commands": ["echo begun; until [ -e go ]; do sleep 0.02; done"]}, run_id="r")
    with started(project, "run", "--isolation", isolation) as one:
        wait_for_output(project)
        with started(project, "run", "--isolation", isolation) as two:
            wait_for_output(project, run="r-2")
            for name in ("r-2", "r"):
                (project.sandboxes / name / "repo" / "go").touch()
            assert (one.wait(), two.wait()) == (0, 0)
    assert {path.name for path in (project.own / "runs").iterdir()} == {"r", "r-2"}
    links = {name: project.evidence(name)["previous"] for name in ("r", "r-2")}
    assert sum(link is None for link in links.values()) == 1
    assert project.run("verify").exit_code == 0
    assert list(project.sandboxes.iterdir()) == []


@BOTH
def test_a_step_with_a_missing_folder_fails_like_any_step(project, isolation):
    project.plan(
        {"id": "A", "commands": ["echo fine"]},
        {"id": "B", "commands": ["echo never"], "cwd": "nowhere", "depends_on": ["A"]},
        run_id="r",
    )
    done = project.run("run", "--isolation", isolation)
    assert done.exit_code == 1
    assert done.stderr.startswith("STEP_FAILED: ")
    assert "nowhere" in done.stderr + str(project.latest("blocker")["log_tail"])
    assert [step["outcome"] for step in project.evidence("r")["steps"]] == ["passed", "failed"]
    assert project.run("verify").exit_code == 0


@pytest.mark.parametrize(
    ("name", "mode"), [(".gitignore", "worktree"), (".gitignore", "copy"), (".gitattributes", "worktree")]
)
def test_a_fifo_in_place_of_gits_rules_does_not_block(project, name, mode):
    project.plan({"id": "A", "commands": [f"mkfifo {name}", "echo x > a"]}, run_id="r")
    with started(project, "run", "--mode", mode) as child:
        try:
            code = child.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            code = "it waits"
            while child.poll() is None:  # who waits for a writer gets one, and ends
                for fifo in project.sandboxes.rglob(name):
                    os.close(os.open(fifo, os.O_RDWR | os.O_NONBLOCK))
                time.sleep(0.05)
    assert code == 0
    assert project.evidence("r")["changed_files"] == ["a"]


def test_a_process_that_the_shell_started_before_is_left_alone(project, tmp_path):
    project.plan({"id": "P-1", "commands": ["echo one"]}, {"id": "P-2", "commands": ["echo two"]}, run_id="r")
    log = tmp_path / "log"
    command = " ".join(project.command("run"))
    # The shell becomes loopwright, so `tee` is a child of loopwright. It holds the output until it ends.
    done = subprocess.run(
        ["bash", "-c", f"exec {command} > >(tee {log})"], cwd=project.root, env=project.environment,
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "P-2" in log.read_text()
