"""The installed hook in the real agents, which talk to a model of our own on loopback."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml
from tests.walks.workflow_kit import SPEC, blockers, ok, plan, planner

from loopwright.reflection.store import read_shelf
from loopwright.testing.model_server import model_server
from loopwright.testing.wire import ModelTurn, ToolUse

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / ".cache" / "agents" / "node_modules" / ".bin"
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_MAX_RETRIES": "0",
}  # fmt: skip


@pytest.fixture
def home(project, tmp_path):
    folder = tmp_path / "agent-home"
    folder.mkdir()
    project.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"}
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


def only_reflection(project):
    found = read_shelf(project.own / "reflections")
    assert found.unreadable == ()
    (one,) = found.stored
    return one.reflection


def assert_of_the_session(project, commit):
    record = only_reflection(project)
    assert "src/login.py" in record.files_changed, "also what the agent committed"
    assert record.risk.surface == "auth"
    assert len(record.session_id) == 36
    assert list((project.own / "reflections").glob("*.base")), "the start of the session was noted"
    assert project.git("rev-parse", "HEAD").strip() != commit


COMMIT = "git -c user.name=a -c user.email=a@localhost commit -qam work"


def test_claude_code_fires_the_installed_hook(project, home):
    claude = program("claude")
    assert project.run("install", "--agent", "claude").exit_code == 0
    commit = project.commit("with the hook in it")
    path = project.root / "src" / "login.py"
    turns = (
        ModelTurn(tools=(ToolUse("Write", {"file_path": str(path), "content": "x = 1\n"}),)),
        ModelTurn(tools=(ToolUse("Bash", {"command": f"git add -A && {COMMIT}", "description": "commit"}),)),
        ModelTurn("done"),
    )
    with model_server(*turns) as model:
        session(
            project,
            [claude, "-p", "write the login", "--output-format", "json", "--permission-mode", "acceptEdits",
             "--allowedTools", "Bash"],
            ANTHROPIC_BASE_URL=model.url, ANTHROPIC_API_KEY="not-a-key", **QUIET,
        )  # fmt: skip
    assert path.read_text() == "x = 1\n"
    assert_of_the_session(project, commit)


def test_codex_fires_the_installed_hook(project, home):
    codex = program("codex")
    assert project.run("install", "--agent", "codex").exit_code == 0
    commit = project.commit("with the hook in it")
    shell = f"mkdir -p src && echo x > src/login.py && git add -A && {COMMIT}"
    with model_server(ModelTurn(tools=(ToolUse("exec_command", {"cmd": shell}),)), ModelTurn("done")) as model:
        (home / ".codex").mkdir()
        (home / ".codex" / "config.toml").write_text(
            f'model = "a-model"\nmodel_provider = "ours"\napproval_policy = "never"\n'
            f'[model_providers.ours]\nname = "ours"\nbase_url = "{model.url}/v1"\nenv_key = "KEY"\n'
            f'wire_api = "responses"\nrequest_max_retries = 0\nstream_max_retries = 0\n'
            f'[projects."{project.root}"]\ntrust_level = "trusted"\n'
        )
        session(
            project,
            [codex, "exec", "--json", "--disable", "plugins", "--dangerously-bypass-hook-trust", "-s",
             "danger-full-access", "write the login"],
            KEY="not-a-key",
        )  # fmt: skip
    assert_of_the_session(project, commit)


def test_gemini_fires_the_installed_hook(project, home):
    gemini = program("gemini")
    assert project.run("install", "--agent", "gemini").exit_code == 0
    commit = project.commit("with the hook in it")
    shell = f"mkdir -p src && echo x > src/login.py && git add -A && {COMMIT}"
    (home / ".gemini").mkdir()
    own = {"security": {"folderTrust": {"enabled": False}, "auth": {"selectedType": "gemini-api-key"}}}
    (home / ".gemini" / "settings.json").write_text(json.dumps(own))
    call = ToolUse("run_shell_command", {"command": shell, "description": "write"})
    with model_server(ModelTurn(tools=(call,)), ModelTurn("done")) as model:
        session(
            project,
            [gemini, "-p", "write the login", "--approval-mode", "yolo", "--output-format", "json",
             "-m", "gemini-2.5-flash"],
            GOOGLE_GEMINI_BASE_URL=model.url, GEMINI_API_KEY="not-a-key", GEMINI_CLI_NO_RELAUNCH="true",
        )  # fmt: skip
    assert_of_the_session(project, commit)


def test_with_the_mode_off_a_session_leaves_nothing(project, home):
    claude = program("claude")
    assert project.run("install", "--agent", "claude").exit_code == 0
    with model_server(ModelTurn("done")) as model:
        session(
            project, [claude, "-p", "say done", "--output-format", "json"],
            ANTHROPIC_BASE_URL=model.url, ANTHROPIC_API_KEY="not-a-key", **QUIET, REFLECTION_MODE="off",
        )  # fmt: skip
    assert not (project.own / "reflections").exists()


def test_claude_code_at_a_build_is_kept_going_once_and_then_let_go(project, home):
    # In the sandbox of a build, by the command agent, with the hook that `install` registered.
    claude = program("claude")
    assert project.run("install", "--agent", "claude").exit_code == 0
    project.write("hello.py", "def greet(name):\n    return 'hi'\n")
    project.write(".gitignore", ".loopwright/\n__pycache__/\n")
    project.commit("a greeting, and the hook")
    project.write("../SPEC.md", SPEC)
    project.write(".loopwright/turns.yaml", yaml.safe_dump({"turns": [planner()]}))
    right = "def greet(name):\n    return f'hello {name}'\n"
    turns = (
        ModelTurn("all done"),  # a claim: nothing was written
        ModelTurn(tools=(ToolUse("Bash", {"command": f"cat > hello.py <<'E'\n{right}E", "description": "write"}),)),
        ModelTurn("now it is"),
    )
    with model_server(*turns) as model:
        call = f'{claude} -p "$(cat $LOOPWRIGHT_PROMPT)" --output-format json --allowedTools Bash > $LOOPWRIGHT_ANSWER'
        keep = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "not-a-key", **QUIET}
        project.environment |= keep
        project.write(
            ".loopwright/config.toml",
            '[agents.scripted]\nturns = ".loopwright/turns.yaml"\n[sandbox]\nisolation = "none"\n'
            f"[agents.claude]\nkind = \"command\"\ncommand = '''{call}'''\nenv = {json.dumps(sorted(keep))}\n",
        )
        plan(project)
        ok(project, "approve", "greet", "--from", "plan", "--to", "build")
        ok(project, "build", "greet", "--agent", "claude")
        asked = [body for path, body in model.requests if path.endswith("/messages") and body.get("tools")]
    assert len(asked) == len(turns), "kept going once, and once only"
    told = json.dumps(asked[1]["messages"][-1])
    assert "Before you end" in told
    assert blockers(project, "review") == {}


def test_gemini_at_a_build_is_kept_going_once_and_then_let_go(project, home):
    # By its own adapter. It never says that a hook kept it going: what counts is the gate's own count.
    program("gemini")
    assert project.run("install", "--agent", "gemini").exit_code == 0
    project.write("hello.py", "def greet(name):\n    return 'hi'\n")
    project.write(".gitignore", ".loopwright/\n__pycache__/\n")
    project.commit("a greeting, and the hook")
    project.write("../SPEC.md", SPEC)
    project.write(".loopwright/turns.yaml", yaml.safe_dump({"turns": [planner()]}))
    right = "def greet(name):\n    return f'hello {name}'\n"
    call = ToolUse("run_shell_command", {"command": f"cat > hello.py <<'E'\n{right}E", "description": "write"})
    turns = (ModelTurn("all done"), ModelTurn(tools=(call,)), ModelTurn("now it is"))
    with model_server(*turns) as model:
        project.environment |= {"GOOGLE_GEMINI_BASE_URL": model.url, "GEMINI_API_KEY": "not-a-key"}
        project.environment["PATH"] = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
        project.write(
            ".loopwright/config.toml",
            '[agents.scripted]\nturns = ".loopwright/turns.yaml"\n[sandbox]\nisolation = "none"\n'
            '[agents.gemini]\nmodel = "gemini-2.5-flash"\n',
        )
        plan(project)
        ok(project, "approve", "greet", "--from", "plan", "--to", "build")
        ok(project, "build", "greet", "--agent", "gemini")
        asked = [body for path, body in model.requests if path.endswith(":streamGenerateContent") and body.get("tools")]
    assert len(asked) == len(turns), "kept going once, and once only"
    assert "Before you end" in json.dumps(asked[1]["contents"][-1])
    assert blockers(project, "review") == {}
