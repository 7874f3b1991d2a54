"""The real agents, our own model on loopback, and a sandbox for their turns."""

from __future__ import annotations

import itertools
import json
import os
from contextlib import contextmanager
from pathlib import Path

import pytest

from loopwright.agents.port import Role
from loopwright.kernel.process import Cancellation
from loopwright.runner.turn import TurnRequest, take_turn
from loopwright.runner.turn_sandbox import open_turn_sandbox
from loopwright.sandbox.confine import choose
from loopwright.sandbox.open import opened
from loopwright.testing.project import search_path
from loopwright.testing.wire import ModelTurn, ToolUse
from loopwright.wiring.build import build_context

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / ".cache" / "agents" / "node_modules" / ".bin"
AGENTS = ("claude", "codex", "gemini", "opencode")
# opencode has plugins, but no hook that decides whether a turn may end.
HOOKED = ("claude", "codex", "gemini")
# The name of the shell tool for each agent's model, and the field of the command.
SHELLS = {
    "claude": ("Bash", "command"),
    "codex": ("exec_command", "cmd"),
    "gemini": ("run_shell_command", "command"),
    "opencode": ("bash", "command"),
}
# Variables and settings that are a login, in these tests.
KEYS = ("ANTHROPIC_API_KEY", "OUR_KEY", "GEMINI_API_KEY")
# opencode retries, and waits for seconds unless a response sets the delay.
SOON = {"retry-after-ms": "20"}
NUMBERS = itertools.count(1)


def program(name):
    if not (PROGRAMS / name).exists():
        pytest.skip(f"needs {name} (scripts/agents installs it)")
    return str(PROGRAMS / name)


def log_in(project, agent, model):
    """Set up a user who has the agent and uses our model."""
    program(agent)
    env = project.environment
    env["PATH"] = f"{PROGRAMS}{os.pathsep}{search_path()}"
    if agent == "claude":
        env |= {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "not-a-key", "CLAUDE_CODE_MAX_RETRIES": "0"}
    elif agent == "gemini":
        env |= {"GOOGLE_GEMINI_BASE_URL": model.url, "GEMINI_API_KEY": "not-a-key"}
        auth = {"auth": {"selectedType": "gemini-api-key"}}
        own = {"general": {"maxAttempts": 1}, "model": {"name": "gemini-2.5-flash"}, "security": auth}
        _settings(project, ".gemini/settings.json", own)
    elif agent == "opencode":
        env["OUR_KEY"] = "not-a-key"
        options = {"baseURL": f"{model.url}/v1", "apiKey": "{env:OUR_KEY}"}
        ours = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"gpt-5": {"name": "a model"}}}
        _settings(project, ".config/opencode/opencode.json", {"model": "ours/gpt-5", "provider": {"ours": ours}})
    else:
        env["OUR_KEY"] = "not-a-key"
        folder = project.home / ".codex"
        folder.mkdir(exist_ok=True)
        (folder / "config.toml").write_text(
            f'model = "gpt-5"\nmodel_provider = "ours"\nnotify = ["touch", "/tmp/notified"]\n'
            f'[model_providers.ours]\nname = "ours"\nbase_url = "{model.url}/v1"\nenv_key = "OUR_KEY"\n'
            f'wire_api = "responses"\nrequest_max_retries = 0\nstream_max_retries = 0\n'
        )


def _settings(project, path, document):
    file = project.home / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document))


def shell(agent, command):
    """The agent's call of a shell."""
    name, field = SHELLS[agent]
    more = {} if agent == "codex" else {"description": "a command"}
    return ToolUse(name, {field: command, **more})


def says(agent, text):
    """A structured answer, as the agent's model gives it."""
    if agent == "claude":
        return ModelTurn(tools=(ToolUse("StructuredOutput", json.loads(text)),))
    return ModelTurn(text)


class Turns:
    """Takes turns in a sandbox of the project; the changes are in `sandbox`."""

    def __init__(self, context, turn_sandbox, agent):
        self.context, self.turn_sandbox, self.agent = context, turn_sandbox, context.open_agent(agent)
        self.sandbox = turn_sandbox.sandbox.place.repo

    def take(self, prompt="do it", **more):
        self.record = self.context.layout.own / f"turn-{next(NUMBERS)}"
        self.record.mkdir(parents=True)
        asked = TurnRequest(
            agent=self.agent, settings=self.context.agent_settings(self.agent.name), turn_sandbox=self.turn_sandbox,
            prompt=prompt, record=self.record, **{"role": Role.BUILDER, "timeout_s": 300.0, **more},
        )  # fmt: skip
        cancellation = Cancellation()
        results = []
        try:
            take_turn(asked, cancellation, results.append)
        finally:
            cancellation.close()
        (result,) = results
        return result


@contextmanager
def turns(project, agent, work="a-work"):
    context = build_context(project.root, {}, environment=project.environment)
    environment = context.step_environment()
    cancellation = Cancellation()
    with opened(
        context.sandbox_request(), "turns",
        confine=lambda view: choose(
            context.settings.values.sandbox.isolation, context.isolations, view, "bash", environment.for_step(()),
        ),
        keep=False, cancellation=cancellation,
    ) as sandbox:  # fmt: skip
        turn_sandbox = open_turn_sandbox(sandbox, environment, context.tools().redactor, 1 << 20, work)
        yield Turns(context, turn_sandbox, agent)
    cancellation.close()
