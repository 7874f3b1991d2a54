"""`loopwright-hook gate` as harnesses call it: it tells an agent of a running build to continue, and traps none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.hooks.conftest import HOOK

from loopwright.workspace.stop_gate import Gate, namespace, started_at

PAYLOADS = {
    "claude": {
        "session_id": "s1", "transcript_path": "/t", "cwd": "/", "prompt_id": "p", "permission_mode": "acceptEdits",
        "effort": {"level": "high"}, "hook_event_name": "Stop", "stop_hook_active": False,
        "last_assistant_message": "done", "background_tasks": [], "session_crons": [],
    },
    "codex": {
        "session_id": "s1", "turn_id": "t", "transcript_path": None, "cwd": "/", "hook_event_name": "Stop",
        "model": "m", "permission_mode": "never", "stop_hook_active": False, "last_assistant_message": "done",
    },
    "gemini": {
        "session_id": "s1", "transcript_path": "/t", "cwd": "/", "hook_event_name": "AfterAgent", "timestamp": "now",
        "prompt": "p", "prompt_response": "r", "stop_hook_active": False,
    },
}  # fmt: skip


class Harness:
    """Calls the hook at the end of a turn; it must end well and be quiet, but for the one thing that it may say."""

    def __init__(self, folder):
        self.path = folder / "gate.json"

    def shut(self, **changes):
        usual = {
            "slug": "greet", "session": "", "pid": os.getpid(), "started": started_at(os.getpid()),
            "namespace": namespace(), "phase": "executing", "expires": time.time() + 60, "blocks": 1,
            "reason": "go on",
        }  # fmt: skip
        self.path.write_text(json.dumps(Gate(**{**usual, **changes}).document()))

    def ends(self, payload=None, *, text=None, **environment):
        env = {"PATH": os.environ["PATH"], "LOOPWRIGHT_GATE": str(self.path), **environment}
        data = text if text is not None else json.dumps({**PAYLOADS["claude"], **(payload or {})}).encode()
        done = subprocess.run(
            (sys.executable, "-I", "-S", str(HOOK), "gate"), input=data, env=env, capture_output=True,
            check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b"")
        if not done.stdout:
            return True
        assert json.loads(done.stdout) == {"decision": "block", "reason": "go on"}
        return False


@pytest.fixture
def harness(tmp_path):
    return Harness(tmp_path)


@pytest.mark.parametrize("agent", PAYLOADS)
def test_the_agent_is_told_to_continue_up_to_the_limit(harness, agent):
    harness.shut(blocks=2)
    assert [harness.ends(PAYLOADS[agent]) for _ in range(4)] == [False, False, True, True]


def test_an_agent_that_was_told_to_continue_or_asked_a_person_may_stop(harness, tmp_path):
    harness.shut(blocks=5)
    assert harness.ends({"stop_hook_active": True})
    (tmp_path / "decisions").mkdir()
    asks = {"LOOPWRIGHT_DECISIONS": str(tmp_path / "decisions")}
    assert not harness.ends(**asks)
    (tmp_path / "decisions" / "one.json").write_text("{}")
    assert harness.ends(**asks)


def test_the_gate_applies_to_the_first_session_that_stops(harness):
    harness.shut(blocks=5)
    assert [harness.ends({"session_id": name}) for name in ("s1", "s2", "s1")] == [False, True, False]
    harness.shut(session="s9", blocks=5)
    assert harness.ends()


def test_an_ended_build_and_a_reused_process_id_let_the_agent_stop(harness):
    gone = subprocess.Popen(["true"])
    gone.wait()
    for changes in (
        {"pid": gone.pid}, {"started": "1"}, {"started": ""}, {"pid": 0}, {"pid": -1}, {"pid": 1e300},
        {"expires": time.time() - 1}, {"phase": "blocked"}, {"phase": "review-ready"},
        {"namespace": ""},
    ):  # fmt: skip
        harness.shut(**changes)
        assert harness.ends(), changes
    # Confined, the build can't be seen: the agent ends with it, and the time limit holds.
    harness.shut(pid=2, started="1", namespace="pid:[1]")
    assert not harness.ends()


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b'{"session_id": 1}', b"\x00" * 100, b'{"hook_event_name": "Stop"}']
)
def test_an_invalid_payload_lets_the_agent_stop(harness, text):
    harness.shut()
    assert harness.ends(text=text)


def test_a_gate_that_is_not_a_small_regular_file_lets_the_agent_stop(harness, tmp_path):
    assert harness.ends(), "none"
    harness.path.write_bytes(b"{" * 10)
    assert harness.ends(), "damaged"
    with harness.path.open("wb") as stream:
        stream.truncate(1 << 34)
    assert harness.ends(), "huge"
    harness.path.unlink()
    os.mkfifo(harness.path)
    assert harness.ends(), "a pipe without a writer"
    harness.path.unlink()
    harness.path.mkdir()
    assert harness.ends(), "a folder"
    harness.path.rmdir()
    harness.shut()
    harness.path.rename(tmp_path / "real")
    harness.path.symlink_to(tmp_path / "real")
    assert harness.ends(), "a link"


def test_the_agent_may_stop_if_counting_fails(harness, tmp_path):
    harness.shut(blocks=3)
    (tmp_path / "gate.json.1").mkdir()
    assert harness.ends(), "the session that was kept going first can't be read"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_without_standard_output_the_hook_exits_quietly(harness):
    harness.shut()
    env = {"PATH": os.environ["PATH"], "LOOPWRIGHT_GATE": str(harness.path)}
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            (sys.executable, "-I", "-S", str(HOOK), "gate"), input=json.dumps(PAYLOADS["claude"]).encode(), env=env,
            stdout=full, stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")


def test_without_a_gate_it_reads_nothing_and_imports_nothing(tmp_path):
    read, write = os.pipe()  # without a writer, a reader would hang
    command = [sys.executable, "-I", "-S", "-X", "importtime", str(HOOK), "gate"]
    env = {"PATH": os.environ["PATH"], "REFLECTION_MODE": "solo"}
    done = subprocess.run(command, stdin=read, env=env, cwd=tmp_path, capture_output=True, check=False)
    bare = subprocess.run(
        [*command[:-2], "-c", "pass"], stdin=read, env=env, cwd=tmp_path, capture_output=True, check=False
    )
    os.close(read)
    os.close(write)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.count(b"\n") <= bare.stderr.count(b"\n"), "as bare as the interpreter"
    assert list(tmp_path.iterdir()) == []
