"""Real agents with the real command line: a whole build, and interrupted turns that are resumed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

import pytest
from tests.real_agents.agent_kit import AGENTS, log_in, says, shell
from tests.walks.workflow_kit import BUILT, REPLY, ok, plan, prepare, status

from loopwright.testing.model_server import model_server
from loopwright.testing.wire import ModelTurn, ToolUse, WireFault

STILL = ModelTurn("never said", trouble=WireFault(is_still=True))


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.shows("whole build", "cost")
def test_a_whole_build_of_the_sample_project(project, agent):
    builds = (ModelTurn(tools=(shell(agent, BUILT),)), ModelTurn("built"))
    with model_server(*builds, scripts={"Plan this change. The project ": (says(agent, json.dumps(REPLY)),)}) as model:
        prepare(project)
        log_in(project, agent, model)
        project.environment["LOOPWRIGHT_SANDBOX_ISOLATION"] = "auto"
        plan(project, agent=agent)
        ok(project, "approve", "greet", "--from", "plan", "--to", "build")
        ok(project, "build", "greet", "--agent", agent)
    cost = status(project)["cost"]
    assert cost["verified_requirements"] == 1
    assert cost["usd"] > 0
    is_computed = "computed from a price list" in ok(project, "status", "greet").stdout
    assert is_computed is (agent != "claude"), "claude reports what it costs"
    records = [json.loads(path.read_bytes()) for path in project.own.rglob("turn.json")]
    assert {record["role"] for record in records} == {"planner", "builder"}
    assert all(record["network"].startswith("only ") for record in records)
    assert b"not-a-key" not in project.everything_kept()
    assert not list(project.sandboxes.iterdir()), "no session of work that is over is left"
    assert (project.root / "hello.py").read_text().count("hi") == 1, "the user's checkout is theirs"


def _wait_for_tokens(project, tokens):
    """Wait until the use of the running turn is on record: no crash may lose it."""
    while True:
        for path in project.own.rglob("usage.json"):
            if (json.loads(path.read_bytes()).get("tokens") or 0) >= tokens:
                return
        time.sleep(0.05)


def _is_shown(project, loop_id, text):
    """Check that `loop logs --follow` shows the text while the turn runs."""
    command = project.command("loop", "logs", loop_id, "--agent", "--follow")
    with subprocess.Popen(
        command, cwd=project.root, env=project.environment, stdout=subprocess.PIPE, text=True
    ) as seen:
        try:
            assert any(text in line for line in seen.stdout)
        finally:
            seen.kill()


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("how", [pytest.param(how, marks=pytest.mark.shows(how)) for how in ("kill", "pause")])
def test_an_interrupted_turn_is_resumed_in_its_session(project, agent, how):
    write = ModelTurn(tools=(shell(agent, "echo hi > made.txt"),))
    with model_server(write, STILL) as model:
        log_in(project, agent, model)
        project.environment["LOOPWRIGHT_LOOP_FREEZE_S"] = "0"
        project.environment["LOOPWRIGHT_PROJECT_TEST_COMMAND"] = "test -f made.txt"
        project.environment["LOOPWRIGHT_PROJECT_SOURCE"] = "made.txt"
        made = project.run("loop", "new", "a file", "--task", "make it", "--agent", agent, "--json").json()
        loop_id = made["loop_id"]
        worker = subprocess.Popen(
            project.command("loop", "start", loop_id), cwd=project.root, env=project.environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            assert model.stands_still.wait()
            _wait_for_tokens(project, 120)
            if how == "pause":
                _is_shown(project, loop_id, "echo hi > made.txt")
            if how == "kill":
                os.kill(worker.pid, signal.SIGKILL)
            else:
                ok(project, "loop", "pause", loop_id)
            worker.wait()
        finally:
            worker.kill()
            worker.wait()
        asked = len(model.requests)
        # These two agents replace the missing answer with a turn of their own.
        had = (write, ModelTurn("(none)")) if agent in ("claude", "gemini") else (write,)
        model.turns = (*had, write, ModelTurn("done"))
        ok(project, "loop", "start" if how == "kill" else "resume", loop_id)
    again = json.dumps(model.requests[asked:])
    assert "You were interrupted" in again
    assert "echo hi > made.txt" in json.dumps(model.requests[asked][1]), "it knows what it had done"
    document = project.run("loop", "show", loop_id, "--json").json()
    assert document["status"] == "completed"
    tokens = document["loopwright"]["spent"]["tokens"]
    assert tokens == 3 * 120, "what the turn had used when it was cut off is counted, once"
    assert not list(project.sandboxes.iterdir())


def test_a_claim_of_done_with_only_denials_and_no_change_is_a_failed_try(project):
    outside = ToolUse("Write", {"file_path": "/etc/made.txt", "content": "x"})
    with model_server(ModelTurn(tools=(outside,)), ModelTurn("all done")) as model:
        log_in(project, "claude", model)
        project.environment["LOOPWRIGHT_RUN_MAX_RETRIES"] = "1"
        made = project.run("loop", "new", "a file", "--task", "make it", "--agent", "claude", "--json").json()
        assert project.run("loop", "start", made["loop_id"]).exit_code != 0
    document = project.run("loop", "show", made["loop_id"], "--json").json()
    errors = json.dumps(document["skill_state"]["errors"])
    assert "permission_denied" in errors
    assert "/etc/made.txt" in errors


def test_a_missing_and_an_old_agent_hold_the_loop_and_say_what_to_do(project, tmp_path):
    old = tmp_path / "bin" / "claude"
    old.parent.mkdir()
    for text, code in ((None, "agent_missing"), ("#!/bin/sh\necho 1.0.3 old", "agent_too_old")):
        if text is not None:
            old.write_text(text)
            old.chmod(0o755)
        project.environment["PATH"] = f"{old.parent}{os.pathsep}/usr/bin{os.pathsep}/bin"
        made = project.run("loop", "new", "a file", "--task", "make it", "--agent", "claude", "--json").json()
        assert project.run("loop", "start", made["loop_id"]).exit_code == 11
        document = project.run("loop", "show", made["loop_id"], "--json").json()
        (hold,) = document["loopwright"]["holds"]
        assert hold["code"] == code
        assert "npm install" in hold["message"]
    said = {check["what"]: check for check in project.run("doctor", "--json").json()["checks"]}
    assert "1.0.3" in said["agent claude"]["said"]
    assert "npm install -g @openai/codex" in said["agent codex"]["remedy"]
