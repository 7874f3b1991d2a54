"""The interop layout: runs and loops of other tools are next to ours, and stay unchanged."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

import pytest

RUNS = ".claude/state/reflectloop/runs"
LOOP = {"loop_id": "loop-v2-20260101-abcdef", "title": "t", "description": "d", "status": "created"}


@pytest.fixture
def shared(make_project):
    """A project in which another tool has worked, and we have not."""
    project = make_project()
    project.write(f"{RUNS}/theirs/logs/step-1.log", "done\n")
    project.write(f"{RUNS}/theirs/summary.md", "all is well\n")
    project.write(f"{RUNS}/taken/logs/step-1.log", "done\n")
    return project


def foreign_bytes(project):
    folders = [project.root / RUNS / name for name in ("theirs", "taken")]
    return {path: path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "typed",
    ["gc --keep 0", "doctor", "doctor --fix", "rerun x", "run", "verify", "status", "loop list", "loop check --fix",
     "loop show loop-v2-20260101-abcdef", "loop pause loop-v2-20260101-abcdef", "reflect", "reflect list", "risk"],
)  # fmt: skip
def test_no_first_command_touches_other_tools_runs_or_flips_the_layout(shared, typed):
    shared.write(f".loop/{LOOP['loop_id']}.json", json.dumps(LOOP))
    before = foreign_bytes(shared)
    shared.run(*typed.split())
    assert foreign_bytes(shared) == before
    if shared.own.exists():
        assert 'layout = "interop"' in (shared.own / "config.toml").read_text()
    said = {check["what"]: check["said"] for check in shared.run("doctor", "--json").json()["checks"]}
    assert said["workspace"].endswith("layout interop")
    assert "layout" not in said, "there are no files of the other layout"


def test_our_runs_are_recovered_and_collected_and_other_tools_runs_are_not(shared):
    """A dead run of ours leaves a folder like another tool's; its lock and the journal identify it."""
    before = foreign_bytes(shared)
    plan = shared.root / ".claude/state/thinking/plan.latest.yaml"
    plan.parent.mkdir(parents=True)
    plan.write_text("new_plan: {run_id: taken, steps: [{id: A, commands: ['sleep 60']}]}\n")
    ours = shared.root / RUNS / "taken-2"
    worker = subprocess.Popen(shared.command("run"), cwd=shared.root, env=shared.environment)
    try:
        until = time.monotonic() + 60
        while not (ours / "logs" / "A-1.log").exists() and time.monotonic() < until:
            time.sleep(0.02)
    finally:
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()
    # The journal is lost, so only the lock identifies the owner of the folder.
    (shared.own / "runs.journal.ndjson").unlink()
    assert shared.run("doctor", "--fix").exit_code == 0
    assert json.loads((ours / "evidence.json").read_bytes())["error_code"] == "INTERRUPTED"
    assert shared.run("gc", "--keep", "0", "--json").json()["runs"] == ["taken-2"]
    assert not ours.exists()
    assert foreign_bytes(shared) == before


def test_a_reused_run_name_belongs_to_the_other_tool(shared):
    shared.write(".claude/state/thinking/plan.latest.yaml", "new_plan: {run_id: a, steps: [{id: A, commands: [ls]}]}\n")
    assert shared.run("run").exit_code == 0
    ours = shared.root / RUNS / "a"
    ours.rename(shared.root.parent / "moved away")
    theirs = shared.write(f"{RUNS}/a/summary.md", "theirs\n")
    assert shared.run("gc", "--keep", "0", "--json").json()["runs"] == ["a"]
    assert theirs.read_text() == "theirs\n"
