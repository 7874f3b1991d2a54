"""The real agents as a person starts them in a project, without Loopwright between agent and model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.real_agents.agent_kit import log_in, program

from loopwright.reflection.store import read_reflections
from loopwright.testing.wire import ToolUse

# The prefix of our server's tools for each agent's model; Codex puts the tools into a namespace.
_TOOLS = {"claude": "mcp__loopwright__", "codex": "", "gemini": "mcp_loopwright_", "opencode": "loopwright_"}
# Codex asks its model before slow servers are ready, and offers their tools later. This option makes it wait.
WAITS = ("-c", "mcp_servers.loopwright.required=true")
_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1", "GEMINI_CLI_NO_RELAUNCH": "true", "GEMINI_CLI_TRUST_WORKSPACE": "true",
    "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
}  # fmt: skip


def our_tool(agent, name, arguments=None):
    """The agent's call of one of our server's tools."""
    return ToolUse(f"{_TOOLS[agent]}{name}", arguments or {}, "mcp__loopwright" if agent == "codex" else "")


def session(project, agent, model, prompt, *, mode="solo", more=()):
    """Run a whole session of a person who allows everything; returns its output."""
    log_in(project, agent, model)
    if agent == "opencode":
        _fetched_before(project)
    # The folder in which `loopwright` and its hook are found by name.
    path = f"{Path(sys.executable).parent}{os.pathsep}{project.environment['PATH']}"
    env = {**project.environment, **_QUIET, "PATH": path, "REFLECTION_MODE": mode}
    done = subprocess.run(
        (program(agent), *_headless(agent, project.root), *more, prompt), cwd=project.root, env=env,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def _fetched_before(project):
    """Provide the package that opencode downloads into each settings folder; these tests have only loopback."""
    for folder in (project.home / ".config" / "opencode", project.root / ".opencode"):
        (folder / "node_modules").mkdir(parents=True)
        (folder / "package-lock.json").write_text('{"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}')


def _headless(agent, folder):
    if agent == "claude":
        allowed = "Bash,Skill,mcp__loopwright,mcp__plugin_loopwright_loopwright"
        return ("-p", "--output-format", "json", "--permission-mode", "acceptEdits", f"--allowedTools={allowed}")
    if agent == "codex":
        trust = f'projects={{{json.dumps(str(folder))}={{trust_level="trusted"}}}}'
        return (
            "exec", "--json", "--disable", "plugins", "--dangerously-bypass-hook-trust", *WAITS,
            "-c", trust, "-c", 'approval_policy="never"', "-s", "danger-full-access",
        )  # fmt: skip
    if agent == "gemini":
        return ("--approval-mode", "yolo", "--output-format", "json", "-p")
    return ("run", "--format", "json", "--title", "a session")


def asked(model):
    """The requests to the model, as text; without requests for a title."""
    return [json.dumps(body, ensure_ascii=False) for _, body in model.requests if body.get("tools")]


def reflections(project):
    """The reflections of the hook, all readable."""
    found = read_reflections(project.own / "reflections")
    assert found.unreadable == ()
    return [one.reflection for one in found.stored]
