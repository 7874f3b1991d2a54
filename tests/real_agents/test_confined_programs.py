"""Agents' programs at their usual place, a hidden home next to secrets; and isolations with fewer abilities."""

from __future__ import annotations

import json
import os
import uuid

import pytest
from tests.real_agents.agent_kit import AGENTS, PROGRAMS, log_in, shell, turns

from loopwright.agents.port import Answer, Role
from loopwright.testing.model_server import model_server
from loopwright.testing.wire import ModelTurn

# A stand-in for `claude` that prints which files it can read.
PLAYED = """#!/bin/sh
if [ "$1" = --version ]; then echo "2.1.325 (a play)"; exit; fi
cat > /dev/null
saw=$(ls "$NEIGHBOUR" 2>/dev/null; cat "$(dirname "$(readlink -f "$0")")/../pkg/part.txt" 2>/dev/null)
printf '{"type": "result", "subtype": "success", "is_error": false, "result": "saw %s"}\\n' "$saw"
"""


@pytest.mark.needs("bwrap")
def test_a_program_in_the_users_home_is_readable_with_its_parts_and_without_its_neighbours(project):
    packages = project.home / ".npm-global" / "lib" / "node_modules"
    real = packages / "tool" / "cli.sh"
    real.parent.mkdir(parents=True)
    real.write_text(PLAYED)
    real.chmod(0o755)
    (packages / "pkg").mkdir()
    (packages / "pkg" / "part.txt").write_text("its part")
    (project.home / ".npm-global" / "token").write_text("secret")
    link = project.home / ".npm-global" / "bin" / "claude"
    link.parent.mkdir()
    link.symlink_to(os.path.relpath(real, link.parent))
    project.environment["PATH"] = f"{link.parent}{os.pathsep}{os.environ['PATH']}"
    project.environment["NEIGHBOUR"] = str(project.home / ".npm-global" / "token")
    project.environment["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:9"
    project.write(".loopwright/config.toml", '[agents.claude]\nenv = ["NEIGHBOUR"]\n')
    with turns(project, "claude") as turn_sandbox:
        answer = turn_sandbox.take(role=Role.REVIEWER).answer
    assert isinstance(answer, Answer), answer
    assert answer.text == "saw its part"


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("isolation", ["landlock", "none"])
def test_the_record_says_if_the_network_cannot_be_closed(project, agent, isolation, monkeypatch):
    if isolation == "landlock":
        monkeypatch.setattr("loopwright.sandbox.bubblewrap.Bubblewrap.missing", lambda self: "not here")
    else:
        project.environment["LOOPWRIGHT_SANDBOX_ISOLATION"] = "none"
    # Codex's own sandbox leaves /tmp open, where tests have their homes.
    outside = PROGRAMS.parents[1] / f"outside-{uuid.uuid4().hex}"
    script = f"echo hi > made.txt; echo x > {outside} || true"
    with model_server(ModelTurn(tools=(shell(agent, script),)), ModelTurn("done")) as model:
        log_in(project, agent, model)
        with turns(project, agent) as turn_sandbox:
            answer = turn_sandbox.take().answer
            assert isinstance(answer, Answer), answer
            made = (turn_sandbox.sandbox / "made.txt").exists()
    record = json.loads((turn_sandbox.record / "turn.json").read_bytes())
    assert (record["isolation"], record["network"]) == (isolation, "open")
    assert made
    escaped = outside.exists()
    outside.unlink(missing_ok=True)
    own_sandbox = agent == "codex" and not outside.is_relative_to("/tmp")
    assert escaped is (isolation == "none" and not own_sandbox), "only codex has a sandbox of its own"
