"""Where each agent's own files are: the same place that its program, and our adapter, looks in."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.agents.harness import Scope
from loopwright.agents.kit import KITS


@pytest.mark.parametrize(
    ("agent", "variable", "named", "usual"),
    [
        ("claude", "CLAUDE_CONFIG_DIR", "/other", "/home/me/.claude"),
        ("codex", "CODEX_HOME", "/other", "/home/me/.codex"),
        ("gemini", "GEMINI_CLI_HOME", "/other/.gemini", "/home/me/.gemini"),
        ("opencode", "XDG_CONFIG_HOME", "/other/opencode", "/home/me/.config/opencode"),
    ],
)
def test_a_users_files_are_where_the_agents_own_variable_says(agent, variable, named, usual):
    kit, project, home = KITS[agent], Path("/project"), Path("/home/me")
    for environment, folder in (({variable: "/other"}, named), ({variable: ""}, usual)):
        place = (Scope.USER, project, environment, home)
        assert kit.own_folder(*place) == Path(folder)
        assert kit.instruction_file(*place).parent == Path(folder)
        assert kit.skills(*place) == Path(folder) / "skills"
        if kit.harness is not None:
            assert kit.harness.path(*place).parent == Path(folder)
        if environment[variable] or agent != "claude":
            assert kit.mcp(*place).parent == Path(folder)
