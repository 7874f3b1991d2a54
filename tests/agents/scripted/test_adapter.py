"""An agent that plays written turns: its port's contract, its turns file, and its usage."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from loopwright.agents.command.adapter import CommandAgent
from loopwright.agents.port import Answer, Ran, Reason, ReportsCost, Role, Usage
from loopwright.agents.scripted.adapter import ScriptedAgent, WrittenTurn, read_turns
from loopwright.errors import SettingsInvalid
from loopwright.testing.contracts import AgentContract, start_plainly, turn_for


class TestScripted(AgentContract):
    def answering(self, tmp_path):
        return ScriptedAgent("scripted", (WrittenTurn(Role.REPLANNER, "a prompt", "an answer", None),))

    def failing(self, tmp_path):
        return ScriptedAgent("scripted", ())


def test_written_turns_are_played_in_order_by_role(tmp_path):
    path = tmp_path / "turns.yaml"
    path.write_text(
        "turns:\n  - {role: planner, answer: other}\n  - {role: replanner, answer: one}\n"
        "  - {role: replanner, expect: magic, answer: two}\n  - {role: replanner, fail: rate_limited}\n"
    )
    agent = ScriptedAgent("s", read_turns(path))
    turn = turn_for(tmp_path, "a prompt", 1)
    taken = [agent.take(turn, start_plainly) for _ in range(4)]
    assert isinstance(taken[0], Answer)
    assert taken[0].text == "one"
    assert [answer.reason for answer in taken[1:]] == [Reason.REFUSED, Reason.RATE_LIMITED, Reason.CRASHED]


@pytest.mark.parametrize(
    "text",
    ["", "turns: 3", "turns: [x]", "turns: [{role: juggler}]", "turns: [{role: replanner, x: y}]",
     "turns: [{role: replanner, fail: tired}]", "other: []"],
)  # fmt: skip
def test_a_turns_file_is_read_strictly(tmp_path, text):
    path = tmp_path / "turns.yaml"
    path.write_text(text)
    with pytest.raises(SettingsInvalid, match=r"turns\.yaml:\d"):
        read_turns(path)


@pytest.mark.parametrize("kind", ["command", "scripted"])
def test_the_use_of_a_turn_is_readable_while_it_runs_and_the_next_turn_starts_at_zero(tmp_path, kind):
    script = 'printf \'{"usd": 1}\\n{"tokens": 5}\' > "$LOOPWRIGHT_USAGE"; echo > "${LOOPWRIGHT_ANSWER:-/dev/null}"'
    turns = tuple(WrittenTurn(Role.REPLANNER, "", "", None, run=run) for run in (script, "true"))
    agent = CommandAgent("any", script) if kind == "command" else ScriptedAgent("s", turns)
    assert isinstance(agent, ReportsCost)
    turn = turn_for(tmp_path, "p", 20)
    assert isinstance(agent.take(turn, start_plainly), Answer)
    assert agent.used(tmp_path, is_over=False) == Usage(1.0, None), "the last line may be on its way"
    assert agent.used(tmp_path, is_over=True) == Usage(1.0, 5)
    agent.take(turn, lambda argv, env, timeout_s: Ran(0, timed_out=False, duration_s=0.0))
    assert agent.used(tmp_path, is_over=True) == Usage()


def test_a_rate_limit_may_say_when_it_ends(tmp_path):
    path = tmp_path / "turns.yaml"
    path.write_text("turns:\n  - {role: replanner, fail: rate_limited, reset_in_s: 60}\n")
    now = datetime(2026, 1, 1, tzinfo=UTC)
    agent = ScriptedAgent("s", read_turns(path), lambda: now)
    answer = agent.take(turn_for(tmp_path, "p", 1), start_plainly)
    assert answer.reset_at == now + timedelta(seconds=60)
