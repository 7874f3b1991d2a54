"""Where each agent keeps what we can give it: hooks, skills, instructions and MCP servers. Data."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

import msgspec

from loopwright.agents.harness import HARNESSES, Harness, Scope
from loopwright.agents.mcp_entry import COMMAND_AND_ARGS, OPENCODE, Form


class What(StrEnum):
    """What can be installed."""

    HOOKS = "hooks"
    SKILLS = "skills"
    INSTRUCTIONS = "instructions"
    MCP = "mcp"


class Kit(msgspec.Struct, frozen=True, kw_only=True):
    """One agent's places. Paths in a project are below its top, those of a user below the agent's own folder."""

    agent: str
    harness: Harness | None
    # The agent's own folder: in a project, and in a home; and the variable that names another.
    folder: str
    home_folder: str
    home_variable: str = ""
    # Where it is below the folder that the variable names.
    below_variable: str = ""
    instructions: str
    mcp_file: str
    user_mcp_file: str
    # None is TOML.
    mcp_form: Form | None = COMMAND_AND_ARGS
    # Where a user's servers are when no variable says otherwise, below the home itself.
    user_mcp_in_home: bool = False

    def own_folder(self, scope: Scope, project: Path, environment: Mapping[str, str], home: Path) -> Path:
        """The agent's own folder."""
        if scope is Scope.PROJECT:
            return project / self.folder
        chosen = environment.get(self.home_variable) if self.home_variable else None
        return Path(chosen) / self.below_variable if chosen else home / self.home_folder

    def skills(self, scope: Scope, project: Path, environment: Mapping[str, str], home: Path) -> Path:
        """The folder of its skills."""
        return self.own_folder(scope, project, environment, home) / "skills"

    def instruction_file(self, scope: Scope, project: Path, environment: Mapping[str, str], home: Path) -> Path:
        """The file that every session reads."""
        if scope is Scope.PROJECT:
            return project / self.instructions
        return self.own_folder(scope, project, environment, home) / self.instructions

    def mcp(self, scope: Scope, project: Path, environment: Mapping[str, str], home: Path) -> Path:
        """The file that names its servers."""
        if scope is Scope.PROJECT:
            return project / self.mcp_file
        if self.user_mcp_in_home and not environment.get(self.home_variable):
            return home / self.user_mcp_file
        return self.own_folder(scope, project, environment, home) / self.user_mcp_file


KITS = {
    kit.agent: kit
    for kit in (
        Kit(
            agent="claude", harness=HARNESSES["claude"], folder=".claude", home_folder=".claude",
            home_variable="CLAUDE_CONFIG_DIR", instructions="CLAUDE.md", mcp_file=".mcp.json",
            user_mcp_file=".claude.json", user_mcp_in_home=True,
        ),
        Kit(
            agent="codex", harness=HARNESSES["codex"], folder=".codex", home_folder=".codex",
            home_variable="CODEX_HOME", instructions="AGENTS.md", mcp_file=".codex/config.toml",
            user_mcp_file="config.toml", mcp_form=None,
        ),
        Kit(
            agent="gemini", harness=HARNESSES["gemini"], folder=".gemini", home_folder=".gemini",
            home_variable="GEMINI_CLI_HOME", below_variable=".gemini", instructions="GEMINI.md",
            mcp_file=".gemini/settings.json", user_mcp_file="settings.json",
        ),
        Kit(
            agent="opencode", harness=None, folder=".opencode", home_folder=".config/opencode",
            home_variable="XDG_CONFIG_HOME", below_variable="opencode", instructions="AGENTS.md",
            mcp_file="opencode.json", user_mcp_file="opencode.json", mcp_form=OPENCODE,
        ),
    )
}  # fmt: skip
