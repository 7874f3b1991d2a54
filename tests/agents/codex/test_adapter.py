"""How Codex is started: whose hooks it may run, and what of the user's settings goes along."""

from __future__ import annotations

import tomllib

import pytest
from msgspec.structs import replace

from loopwright.agents.codex.adapter import CodexAgent
from loopwright.agents.port import Ran, Role
from loopwright.kernel.address import Address
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


CONFIG = """
model_provider = "mine"
[model_providers.mine]
base_url = "https://gateway.example/v1"
env_key = "MY_LONG_KEY_NAME_1"
experimental_bearer_token = "hidden-1"
http_headers = { Authorization = "Bearer hidden-2", X-Team = "blue-team-2026" }
env_http_headers = { X-Api-Key = "OTHER_KEY", X-Project = "MY_PROJECT" }
query_params = { api-version = "2026-04-01", code = "hidden-3" }
[model_providers.others]
experimental_bearer_token = "hidden-4"
"""


def test_the_provider_in_use_goes_along_with_its_keys_which_are_masked_as_are_all_others(tmp_path):
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text(CONFIG)
    agent = CodexAgent("codex", AgentSettings(), {"HOME": str(tmp_path)})
    needs = agent.needs
    assert needs.variables == ("MY_LONG_KEY_NAME_1", "OTHER_KEY", "MY_PROJECT")
    assert needs.keys == ("MY_LONG_KEY_NAME_1", "OTHER_KEY")
    assert needs.hosts == (Address("gateway.example"),)
    assert {key.value: key.is_let_in for key in needs.written} == {
        "hidden-1": True, "hidden-2": True, "hidden-3": True, "hidden-4": False,
    }  # fmt: skip
    assert needs.is_logged_in({}) == "config.toml: model_providers.mine.experimental_bearer_token"
    assert "hidden" not in repr(needs)
    (tmp_path / "mailbox").mkdir()
    agent.take(turn_for(tmp_path / "mailbox"), lambda argv, **more: Ran(1, False, 0.0))
    lent = tomllib.loads((tmp_path / "mailbox" / "config.toml").read_text())["model_providers"]
    assert lent == {"mine": tomllib.loads(CONFIG)["model_providers"]["mine"]}
