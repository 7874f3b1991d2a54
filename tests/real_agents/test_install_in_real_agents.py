"""What `install` gives to the real agents: they see skills and instructions, call tools, and fire hooks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.real_agents.agent_kit import log_in, says, shell
from tests.walks.workflow_kit import BUILT, REPLY, SPEC, blockers, ok, plan, planner, prepare

from loopwright.agents.plugin import PLUGIN, skill_names
from loopwright.reflection.store import read_shelf
from loopwright.testing.model_server import model_server
from loopwright.testing.wire import ModelTurn, ToolUse

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / ".cache" / "agents" / "node_modules" / ".bin"
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_MAX_RETRIES": "0", "ANTHROPIC_API_KEY": "not-a-key",
}  # fmt: skip
BLOCK = "are the person's commands. Show them; never run them."
NAMESPACE = "mcp__loopwright"
# Codex asks its model before slow servers are there, and offers their tools later; here it is told to wait.
WAIT = "mcp_servers.loopwright.required=true"
RIGHT = "def greet(name):\n    return f'hello {name}'\n"


@pytest.fixture
def home(project, tmp_path):
    folder = tmp_path / "agent-home"
    folder.mkdir()
    tools = Path(sys.executable).parent
    project.environment |= {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder)}
    return folder


def program(name):
    if not (PROGRAMS / name).exists():
        pytest.skip(f"needs {name} (scripts/agents installs it)")
    return str(PROGRAMS / name)


def session(project, argv, **more):
    done = subprocess.run(
        argv, cwd=project.root, env={**project.environment, "REFLECTION_MODE": "solo", **more},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def asked(model):
    """What the model was asked, conversation by conversation, as text."""
    return [json.dumps(body, ensure_ascii=False) for _, body in model.requests if body.get("tools")]


def codex_settings(home, model, project):
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(
        f'model = "a-model"\nmodel_provider = "ours"\napproval_policy = "never"\n'
        f'[model_providers.ours]\nname = "ours"\nbase_url = "{model.url}/v1"\nenv_key = "KEY"\n'
        f'wire_api = "responses"\nrequest_max_retries = 0\nstream_max_retries = 0\n'
        f'[projects."{project.root}"]\ntrust_level = "trusted"\n'
    )


def test_claude_code_sees_the_skills_fires_the_hooks_and_calls_a_tool(project, home):
    claude = program("claude")
    ok(project, "install", "--agent", "claude")
    project.commit("installed")
    turns = (
        ModelTurn(tools=(ToolUse(f"{NAMESPACE}__status", {}),)),
        ModelTurn(tools=(ToolUse(f"{NAMESPACE}__self_report", {"confidence": 0.3}),)),
        ModelTurn(tools=(ToolUse("Skill", {"skill": "loopwright-verify"}),)),
        ModelTurn("done"),
    )
    with model_server(*turns) as model:
        done = session(
            project,
            [claude, "-p", "how does it stand?", "--output-format", "json", "--allowedTools", f"{NAMESPACE},Skill"],
            ANTHROPIC_BASE_URL=model.url, **QUIET,
        )  # fmt: skip
        first, second, *_, last = asked(model)
    assert json.loads(done.stdout)["permission_denials"] == []
    assert all(f"loopwright-{name}: " in first for name in skill_names())
    assert BLOCK in first
    assert f"{NAMESPACE}__run_checks" in first
    assert f"{NAMESPACE}__approve" not in first
    assert "archived" in second.rpartition("tool_result")[2], "what the tool said"
    assert "# Verify before you claim" in last
    (reflection,) = read_shelf(project.own / "reflections").stored
    assert reflection.reflection.confidence == 0.3


def test_claude_code_takes_the_folder_as_a_plugin(project, home):
    claude = program("claude")
    tool = "mcp__plugin_loopwright_loopwright__next"
    with model_server(ModelTurn(tools=(ToolUse(tool, {}),)), ModelTurn("done")) as model:
        session(
            project,
            [claude, "-p", "what is next?", "--output-format", "json", "--plugin-dir", str(PLUGIN),
             "--allowedTools", tool],
            ANTHROPIC_BASE_URL=model.url, **QUIET,
        )  # fmt: skip
        first, last = asked(model)
    assert all(f"loopwright:{name}: " in first for name in skill_names())
    assert "workflows" in last.rpartition("tool_result")[2]
    assert len(read_shelf(project.own / "reflections").stored) == 1


def test_codex_sees_the_skills_fires_the_hooks_and_calls_a_tool(project, home):
    codex = program("codex")
    ok(project, "install", "--agent", "codex")
    project.commit("installed")
    turns = (ModelTurn(tools=(ToolUse("status", {}, NAMESPACE),)), ModelTurn("done"))
    with model_server(*turns) as model:
        codex_settings(home, model, project)
        done = session(
            project,
            [codex, "exec", "--json", "--disable", "plugins", "--dangerously-bypass-hook-trust", "-c", WAIT,
             "-s", "danger-full-access", "how does it stand?"],
            KEY="not-a-key",
        )  # fmt: skip
        first, last = asked(model)
    assert all(f"loopwright-{name}" in first for name in skill_names())
    assert BLOCK in first
    called = [json.loads(line) for line in done.stdout.splitlines() if '"mcp_tool_call"' in line]
    assert [one["item"]["status"] for one in called if one["type"] == "item.completed"] == ["completed"]
    assert "archived" in last
    assert len(read_shelf(project.own / "reflections").stored) == 1


def planned(project, agent, call, keep):
    """A plan that was approved, to be built by a real agent."""
    project.write("hello.py", "def greet(name):\n    return 'hi'\n")
    project.write(".gitignore", ".loopwright/\n__pycache__/\n")
    project.commit("a greeting, and what was installed")
    project.write("../SPEC.md", SPEC)
    project.write(".loopwright/turns.yaml", yaml.safe_dump({"turns": [planner()]}))
    project.environment |= keep
    project.write(
        ".loopwright/config.toml",
        '[agents.scripted]\nturns = ".loopwright/turns.yaml"\n[sandbox]\nisolation = "none"\n'
        f"[agents.{agent}]\nkind = \"command\"\ncommand = '''{call}'''\nenv = {json.dumps(sorted(keep))}\n",
    )
    plan(project)
    ok(project, "approve", "greet", "--from", "plan", "--to", "build")


def assert_built_with_tools(project, agent, model):
    ok(project, "build", "greet", "--agent", agent)
    (loop_id,) = [one["loop_id"] for one in ok(project, "loop", "list", "--json").json()["loops"]]
    assert "builder says: it greets" in ok(project, "loop", "logs", loop_id).stdout
    assert "the tool judges the work itself" in asked(model)[-1], "a preview"
    assert blockers(project, "review") == {}


def test_claude_code_uses_the_tools_in_the_sandbox_of_a_build(project, home):
    claude = program("claude")
    ok(project, "install", "--agent", "claude", "--what", "mcp")
    turns = (
        ModelTurn(tools=(ToolUse("Bash", {"command": f"cat > hello.py <<'E'\n{RIGHT}E", "description": "write"}),)),
        ModelTurn(tools=(ToolUse(f"{NAMESPACE}__progress", {"text": "it greets"}),)),
        ModelTurn(tools=(ToolUse(f"{NAMESPACE}__run_checks", {}),)),
        ModelTurn("done"),
    )
    with model_server(*turns) as model:
        allowed = f"--allowedTools Bash,{NAMESPACE}"
        call = f'{claude} -p "$(cat $LOOPWRIGHT_PROMPT)" --output-format json {allowed} > $LOOPWRIGHT_ANSWER'
        planned(project, "claude", call, {"ANTHROPIC_BASE_URL": model.url, **QUIET})
        assert_built_with_tools(project, "claude", model)


def test_codex_uses_the_tools_in_the_sandbox_of_a_build(project, home):
    codex = program("codex")
    # For all projects: a sandbox is a folder that Codex was never told to trust.
    ok(project, "install", "--agent", "codex", "--what", "mcp", "--scope", "user")
    turns = (
        ModelTurn(tools=(ToolUse("exec_command", {"cmd": f"cat > hello.py <<'E'\n{RIGHT}E"}),)),
        ModelTurn(tools=(ToolUse("progress", {"text": "it greets"}, NAMESPACE),)),
        ModelTurn(tools=(ToolUse("run_checks", {}, NAMESPACE),)),
        ModelTurn("done"),
    )
    with model_server(*turns) as model:
        mine = home / ".codex" / "config.toml"
        installed = mine.read_text()
        mine.unlink()
        mine.parent.rmdir()
        codex_settings(home, model, project)
        mine.write_text(mine.read_text() + "\n" + installed)
        call = (
            f"{codex} exec --json --skip-git-repo-check --disable plugins -c {WAIT} -s danger-full-access "
            '"$(cat $LOOPWRIGHT_PROMPT)" > $LOOPWRIGHT_ANSWER'
        )
        planned(project, "codex", call, {"KEY": "not-a-key"})
        assert_built_with_tools(project, "codex", model)


# What each one's model calls our server's tools.
TOOLS = {"claude": "mcp__loopwright__", "gemini": "mcp_loopwright_", "opencode": "loopwright_"}


@pytest.mark.needs("bwrap")
@pytest.mark.parametrize("agent", TOOLS)
def test_the_adapter_uses_the_tools_in_a_confined_build(project, agent):
    turns = (
        ModelTurn(tools=(shell(agent, BUILT),)),
        ModelTurn(tools=(ToolUse(f"{TOOLS[agent]}progress", {"text": "it greets"}),)),
        ModelTurn(tools=(ToolUse(f"{TOOLS[agent]}run_checks", {}),)),
        ModelTurn("built"),
    )
    ok(project, "install", "--agent", agent, "--what", "mcp")
    plans = {"Plan this change. The project ": (says(agent, json.dumps(REPLY)),)}
    with model_server(*turns, scripts=plans) as model:
        prepare(project)
        log_in(project, agent, model)
        project.environment["LOOPWRIGHT_SANDBOX_ISOLATION"] = "auto"
        plan(project, agent=agent)
        ok(project, "approve", "greet", "--from", "plan", "--to", "build")
        assert_built_with_tools(project, agent, model)
