"""kill -9 during a call of an agent for a workflow: the next command counts the cost of the call, once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.walks.workflow_kit import planner, prepare, status

USED = json.dumps({"usd": 0.25, "tokens": 1200})


def awaited(condition):
    while not (found := condition()):
        time.sleep(0.02)
    return found


def killed_while_it_asks(project, *command):
    """Kill a command whose agent reports its use and then waits for ever; returns the agent's process id."""
    with subprocess.Popen(
        project.command(*command), cwd=project.root, env=project.environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as asking:  # fmt: skip
        looks = project.own / "turns"
        awaited(lambda: any("1200" in look.read_text() for look in looks.glob("*/usage.json")))
        os.kill(asking.pid, signal.SIGKILL)
    return int((project.root.parent / "pid").read_text())


def _works(pid):
    """Whether the process runs; a dead process has no command line, even before its parent reads its exit code."""
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return False


@pytest.mark.parametrize("role", ["clarify", "plan"])
def test_a_call_whose_process_was_killed_is_counted_once_by_the_next(project, role):
    waits = f"echo '{USED}' >> $LOOPWRIGHT_USAGE; echo $$ > {project.root.parent}/pid; exec sleep 1000"
    prepare(project, [planner()])
    config = project.own / "config.toml"
    config.write_text(config.read_text() + "[agents.slow]\nkind = 'scripted'\nturns = '.loopwright/slow.yaml'\n")
    turns = [{"role": one, "run": waits, "answer": "late"} for one in ("clarifier", "planner")]
    project.write(".loopwright/slow.yaml", json.dumps({"turns": turns}))
    spec = str(project.root.parent / "SPEC.md")
    command = ("clarify", "greet", "--idea", "a greeting") if role == "clarify" else ("plan", "greet", "--direct", spec)
    pid = killed_while_it_asks(project, *command, "--agent", "slow")
    assert status(project)["cost"]["turns"] == 0
    rest = ("--direct", spec) if role == "clarify" else ()
    done = project.run("plan", "greet", *rest, "--agent", "scripted")
    assert done.exit_code == 0, done.stdout + done.stderr
    cost = status(project)["cost"]
    assert (cost["usd"], cost["tokens"], cost["turns"]) == (0.25, 1200, 2)
    assert not _works(pid), "an agent that outlived its caller is ended"
    journal = (project.own / "workflows" / "greet" / "journal.ndjson").read_text()
    assert journal.count('"is_cut_off":true') == 1
    project.run("plan", "greet", "--agent", "scripted")
    assert status(project)["cost"]["usd"] == 0.25
