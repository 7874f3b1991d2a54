"""Where each agent's program keeps hooks, skills, instructions and MCP servers. Data."""

from __future__ import annotations

import msgspec


class HookSettings(msgspec.Struct, frozen=True):
    """A program's hooks: their file, and the names of the two events that we register for.

    All programs with hooks write them in the same shape; only names differ.
    """

    file: str
    stop_event: str
    start_event: str
    caveat: str = ""
    # A setting that turns all hooks off; `local_file`, next to the project's file, may contain it as well.
    off_switch: str = ""
    local_file: str = ""


class Harness(msgspec.Struct, frozen=True, kw_only=True):
    """The files of one agent's program. A project's paths start at its top, a user's at the agent's own folder."""

    agent: str
    # The agent's own folder: in a project, and in a home.
    folder: str
    home_folder: str
    # The variable that moves a user's folder, and where the folder is below the path in that variable.
    home_variable: str
    below_variable: str = ""
    instructions: str
    mcp_file: str
    user_mcp_file: str
    # The key of the MCP servers in that file.
    mcp_key: str = "mcpServers"
    # Whether a user's servers are directly in the home, unless the variable is set.
    user_mcp_in_home: bool = False
    hooks: HookSettings | None = None


HARNESSES = {
    harness.agent: harness
    for harness in (
        Harness(
            agent="claude", folder=".claude", home_folder=".claude", home_variable="CLAUDE_CONFIG_DIR",
            instructions="CLAUDE.md", mcp_file=".mcp.json", user_mcp_file=".claude.json", user_mcp_in_home=True,
            hooks=HookSettings(
                "settings.json", "Stop", "SessionStart",
                off_switch="disableAllHooks", local_file="settings.local.json",
            ),
        ),
        Harness(
            agent="codex", folder=".codex", home_folder=".codex", home_variable="CODEX_HOME",
            instructions="AGENTS.md", mcp_file=".codex/config.toml", user_mcp_file="config.toml",
            mcp_key="mcp_servers",
            hooks=HookSettings(
                "hooks.json", "Stop", "SessionStart",
                "codex runs hooks only when you trust them: accept them once in its terminal, or start `codex exec` "
                "with --dangerously-bypass-hook-trust",
            ),
        ),
        Harness(
            agent="gemini", folder=".gemini", home_folder=".gemini", home_variable="GEMINI_CLI_HOME",
            below_variable=".gemini", instructions="GEMINI.md", mcp_file=".gemini/settings.json",
            user_mcp_file="settings.json", hooks=HookSettings("settings.json", "AfterAgent", "SessionStart"),
        ),
        Harness(
            agent="opencode", folder=".opencode", home_folder=".config/opencode", home_variable="XDG_CONFIG_HOME",
            below_variable="opencode", instructions="AGENTS.md", mcp_file="opencode.json",
            user_mcp_file="opencode.json", mcp_key="mcp",
        ),
    )
}  # fmt: skip
