"""The adapters of real agents keep their port's contract, with the real programs."""

from __future__ import annotations

import os

import pytest
from tests.real_agents.agent_kit import PROGRAMS, SOON, log_in

from loopwright.agents.claude.adapter import ClaudeAgent
from loopwright.agents.codex.adapter import CodexAgent
from loopwright.agents.gemini.adapter import GeminiAgent
from loopwright.agents.opencode.adapter import OpencodeAgent
from loopwright.testing.contracts import AgentContract, start_plainly
from loopwright.testing.model_server import model_server
from loopwright.testing.project import Project
from loopwright.testing.wire import ModelTurn, WireFault
from loopwright.workspace.settings_model import AgentSettings


class _Real(AgentContract):
    agent = ""
    timeout_s = 300.0

    @pytest.fixture(autouse=True)
    def _model(self, tmp_path_factory):
        self.project = Project(tmp_path_factory.mktemp("user"))
        with model_server(ModelTurn("an answer")) as self.model:
            log_in(self.project, self.agent, self.model)
            yield

    def start(self, argv, *, env, timeout_s, on_line=None):
        own = {**self.project.environment, **env, "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"}
        return start_plainly(argv, env=own, timeout_s=timeout_s, on_line=on_line)

    def failing(self, tmp_path):
        self.model.turns = (ModelTurn(trouble=WireFault(500, SOON)),)
        return self.answering(tmp_path)


class TestClaude(_Real):
    agent = "claude"

    def answering(self, tmp_path):
        return ClaudeAgent("claude", AgentSettings())


class TestCodex(_Real):
    agent = "codex"

    def answering(self, tmp_path):
        return CodexAgent("codex", AgentSettings(), self.project.environment)


class TestGemini(_Real):
    agent = "gemini"

    def answering(self, tmp_path):
        return GeminiAgent("gemini", AgentSettings(), self.project.environment)


class TestOpencode(_Real):
    agent = "opencode"

    def answering(self, tmp_path):
        return OpencodeAgent("opencode", AgentSettings(), self.project.environment)
