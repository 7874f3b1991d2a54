"""Where each agent's own files are: the same place that its program, and our adapter, looks in."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopwright.agents.harness import HARNESSES
from loopwright.install.model import InstallTarget, Part, Scope
from loopwright.install.part_files import part_files


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
    for environment, folder in (({variable: "/other"}, Path(named)), ({variable: ""}, Path(usual))):
        target = InstallTarget(HARNESSES[agent], Scope.USER, Path("/project"), environment, Path("/home/me"))
        assert target.folder == folder
        assert target.instructions.parent == folder
        assert target.skills == folder / "skills"
        assert [file.path.parent for file in part_files(target, [Part.HOOKS])] == [folder] * (agent != "opencode")
        if environment[variable] or agent != "claude":
            assert target.mcp.parent == folder
