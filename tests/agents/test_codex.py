"""How Codex is started: whose hooks it may run."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from loopwright.agents.codex import CodexAgent
from loopwright.agents.port import Ran, Role
from loopwright.testing.contracts import turn_for
from loopwright.workspace.settings_model import AgentSettings


@pytest.mark.parametrize(
    ("role", "is_confined", "runs_hooks"),
    [
        (Role.BUILDER, True, True),
        # Outside of a sandbox of ours they would run as the user.
        (Role.BUILDER, False, False),
        # It stands in the built tree, where the builder may have put some.
        (Role.REVIEWER, True, False),
    ],
)
def test_a_projects_hooks_run_where_a_confined_builder_works(tmp_path, role, is_confined, runs_hooks):
    started = []

    def start(argv, **more):
        started.append(argv)
        return Ran(1, False, 0.0)

    (tmp_path / "mailbox").mkdir()
    turn = replace(turn_for(tmp_path / "mailbox", role=role), is_confined=is_confined)
    CodexAgent("codex", AgentSettings(), {}).take(turn, start)
    (argv,) = started
    assert ("--dangerously-bypass-hook-trust" in argv) is runs_hooks
