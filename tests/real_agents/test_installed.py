"""What `install` gives to a person's own agent in a fresh project: skills, instructions, tools and hooks."""

from __future__ import annotations

import json
import subprocess
import tomllib

import pytest
from tests.real_agents.agent_kit import HOOKED, program, shell
from tests.real_agents.session_kit import asked, our_tool, reflections, session
from tests.walks.workflow_kit import ok

from loopwright.install.part_files import PLUGIN, skill_names
from loopwright.testing.model_server import model_server
from loopwright.testing.project import search_path
from loopwright.testing.wire import ModelTurn, ToolUse

BLOCK = "Show these commands; never run them."
WORK = (
    "mkdir -p src && echo x > src/login.py && git add -A && "
    "git -c user.name=a -c user.email=a@localhost commit -qam work"
)
# Claude's model has a tool for skills. opencode's tool needs ripgrep, which opencode would download.
SKILL = {"claude": ToolUse("Skill", {"skill": "loopwright-verify"})}


@pytest.mark.parametrize("agent", [*(pytest.param(one, marks=pytest.mark.shows("hook")) for one in HOOKED), "opencode"])
@pytest.mark.shows("skills", "MCP tool")
def test_an_agent_in_a_fresh_project_has_skills_and_tools_and_fires_the_hooks(project, agent):
    ok(project, "install", "--agent", agent)
    commit = project.commit("installed")
    turns = (
        ModelTurn(tools=(our_tool(agent, "status"),)),
        ModelTurn(tools=(our_tool(agent, "self_report", {"confidence": 0.3}),)),
        ModelTurn(tools=(SKILL.get(agent, shell(agent, "cat .*/skills/loopwright-verify/SKILL.md")),)),
        ModelTurn(tools=(shell(agent, WORK),)),
        ModelTurn("done"),
    )
    with model_server(*turns) as model:
        session(project, agent, model, "how does it stand?")
        first, second, *_, last = asked(model)
    assert all(f"loopwright-{name}" in first for name in skill_names())
    assert BLOCK in first
    assert "loopwright__run_checks" in first or "loopwright_run_checks" in first or '"run_checks"' in first
    assert "_approve" not in first
    assert '"approve"' not in first
    assert second.count("archived") > first.count("archived"), "what the tool said"
    assert ["# Verify before you claim" in one for one in (first, last)] == [False, True], "a skill is read"
    assert project.git("rev-parse", "HEAD").strip() != commit
    found = reflections(project)
    assert len(found) == (agent in HOOKED)
    for reflection in found:
        assert reflection.confidence == 0.3
        assert "src/login.py" in reflection.files_changed, "also what the agent committed"
        assert reflection.risk.surface == "auth"
        assert len(reflection.session_id) == 36
        assert list((project.own / "reflections").glob("*.base")), "the start of the session was noted"


def test_claude_code_accepts_the_folder_as_a_plugin(project):
    tool = ToolUse("mcp__plugin_loopwright_loopwright__next", {})
    with model_server(ModelTurn(tools=(tool,)), ModelTurn("done")) as model:
        session(project, "claude", model, "what is next?", more=("--plugin-dir", str(PLUGIN)))
        first, last = asked(model)
    assert all(f"loopwright:{name}: " in first for name in skill_names())
    assert "workflows" in last.rpartition("tool_result")[2]
    assert len(reflections(project)) == 1


def test_a_session_with_the_mode_off_leaves_no_records(project):
    ok(project, "install", "--agent", "claude")
    with model_server(ModelTurn("done")) as model:
        done = session(project, "claude", model, "say done", mode="off")
    assert json.loads(done.stdout)["permission_denials"] == []
    assert not (project.own / "reflections").exists()


def test_uninstalling_keeps_codex_own_settings_and_removes_ours(project):
    """Codex drops one of our marks, and puts its own tables between the marks."""
    codex, settings = program("codex"), project.home / ".codex" / "config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text('model = "mine" # my own\n')
    ok(project, "install", "--agent", "codex", "--scope", "user", "--what", "mcp")
    env = {**project.environment, "PATH": search_path()}
    for words in (("features", "enable", "goals"), ("mcp", "add", "foo", "--", "echo", "hi")):
        subprocess.run((codex, *words), cwd=project.root, env=env, capture_output=True, check=True)
        states = {one["what"]: one["code"] for one in project.run("doctor", "--json").json()["checks"]}
        assert states["MCP server of codex (user)"] == "installed_current"
    assert ok(project, "uninstall", "--agent", "codex", "--scope", "user", "--json").json()["changed"] is True
    left = settings.read_text()
    assert "loopwright" not in left
    assert left.startswith('model = "mine" # my own\n')
    assert tomllib.loads(left) == {
        "model": "mine",
        "features": {"goals": True},
        "mcp_servers": {"foo": {"command": "echo", "args": ["hi"]}},
    }
