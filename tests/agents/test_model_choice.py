"""Which agents are the same reviewer under another name."""

from __future__ import annotations

import pytest

from loopwright.agents.model_choice import identity_of, matching_builder, model_in
from loopwright.agents.port import HasModel
from loopwright.wiring.agents import PROGRAM_AGENTS
from loopwright.workspace.settings_model import AgentSettings

NAMED = {
    "a": AgentSettings(kind="claude"),
    "b": AgentSettings(kind="claude", args=["--effort", "high"], timeout_s=5, env=["X"], hosts=["x.example"]),
    "sonnet": AgentSettings(kind="claude", model="sonnet"),
    "by-args": AgentSettings(kind="claude", model="opus", args=["--model", "sonnet"]),
    "codex": AgentSettings(model="gpt-6-sol"),
    "by-setting": AgentSettings(kind="codex", args=["-c", 'model="gpt-6-sol"']),
    **{
        f"spelled-{number}": AgentSettings(kind="codex", args=args)
        for number, args in enumerate(
            (
                ["-mgpt-6-sol"],
                ["-m=gpt-6-sol"],
                ["-cmodel=gpt-6-sol"],
                ["--config=model=gpt-6-sol"],
                ["-c", 'model = "gpt-6-sol"'],
                ["-c=model = 'gpt-6-sol'"],
                # The model of a profile is unknown.
                ["--profile", "other"],
                ["--profile=other"],
                ["-pother"],
                ["-c", "profile=other"],
            )
        )
    },
    "hidden": AgentSettings(kind="claude", args=["--settings", '{"model": "sonnet"}']),
    "printed": AgentSettings(kind="claude", args=["-p"]),
    "tool": AgentSettings(kind="command", command="./review.sh "),
    "played": AgentSettings(kind="scripted", turns="turns.yaml"),
    "at-desk-1": AgentSettings(kind="interactive"),
    "at-desk-2": AgentSettings(kind="interactive"),
    "friend-1": AgentSettings(kind="friend", args=["--mind", "1"]),
    "friend-2": AgentSettings(kind="friend", args=["--mind", "2"]),
    "friend-3": AgentSettings(kind="friend", args=["--mind", "2"], timeout_s=9),
}


@pytest.mark.parametrize(
    ("reviewer", "builder", "is_same"),
    [
        ("claude", "claude", True),
        ("a", "claude", True),
        ("b", "a", True),
        ("sonnet", "a", False),
        ("sonnet", "by-args", True),
        ("codex", "by-setting", True),
        ("codex", "claude", False),
        *((f"spelled-{number}", "codex", True) for number in range(10)),
        *(("codex", f"spelled-{number}", True) for number in range(10)),
        ("spelled-6", "claude", False),
        ("sonnet", "hidden", True),
        ("hidden", "a", True),
        ("hidden", "codex", False),
        ("printed", "sonnet", False),
        ("tool", "command:./review.sh", True),
        ("tool", "command:./other.sh", False),
        ("played", "scripted:turns.yaml", True),
        ("played", "scripted:./x/../turns.yaml", True),
        ("played", "scripted", False),
        ("at-desk-1", "at-desk-2", False),
        ("friend-1", "friend-2", False),
        ("friend-3", "friend-2", True),
        # A person, or an agent that is no longer in the settings.
        ("ann", "bob", False),
        ("ann", "unknown", False),
    ],
)
def test_the_same_program_with_the_same_model_is_the_same_reviewer(reviewer, builder, is_same):
    found = matching_builder(reviewer, ("bash", builder), lambda name: identity_of(name, NAMED))
    assert found == (builder if is_same else None)


def test_the_programs_own_model_counts_if_our_settings_name_none():
    assert identity_of("codex", {}, "gpt-6-sol") == identity_of("codex", NAMED)
    assert identity_of("a", NAMED, "opus") != identity_of("a", NAMED)


@pytest.mark.parametrize("kind", PROGRAM_AGENTS)
def test_each_agent_reports_its_model(tmp_path, kind):
    for settings in (
        AgentSettings(model="x/m"),
        AgentSettings(args=["-m", "x/m"]),
        AgentSettings(args=["--model=x/m"]),
    ):
        agent = PROGRAM_AGENTS[kind]("it", settings, {"HOME": str(tmp_path)})
        assert isinstance(agent, HasModel)
        assert agent.model == "x/m"
    assert PROGRAM_AGENTS[kind]("it", AgentSettings(), {"HOME": str(tmp_path)}).model == ""


def test_the_last_model_among_the_arguments_counts():
    assert model_in(["--model", "a", "-m=b", "--other", "--model"]) == ""
    assert model_in(["--model", "a", "-c", "x=1", "-m=b", "-c", "model=c"]) == "c"
    assert model_in(["-c", "model_provider=x"]) == ""
