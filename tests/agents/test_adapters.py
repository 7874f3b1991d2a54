"""The agent adapters keep their port's contract."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from loopwright.agents.command import CommandAgent
from loopwright.agents.port import Answer, NoAnswer, Ran, Reason, ReportsCost, Role, Usage
from loopwright.agents.scripted import ScriptedAgent, WrittenTurn, read_turns
from loopwright.errors import SettingsInvalid
from loopwright.testing.contracts import AgentContract, start_plainly, turn_for


class TestCommand(AgentContract):
    def answering(self, tmp_path):
        return CommandAgent(
            "any", 'test "$(cat "$LOOPWRIGHT_PROMPT")" = "a prompt" && echo "an answer" > "$LOOPWRIGHT_ANSWER"'
        )

    def failing(self, tmp_path):
        return CommandAgent("any", "exit 3")


class TestScripted(AgentContract):
    def answering(self, tmp_path):
        return ScriptedAgent("scripted", (WrittenTurn(Role.REPLANNER, "a prompt", "an answer", None),))

    def failing(self, tmp_path):
        return ScriptedAgent("scripted", ())


@pytest.mark.parametrize(
    ("command", "timeout_s", "reason"),
    [
        ("no-such-agent-program", 20, Reason.AGENT_MISSING),
        ("sleep 60", 0.3, Reason.HUNG),
        ("true", 20, Reason.INVALID_ANSWER),
        ('ln -s /etc/passwd "$LOOPWRIGHT_ANSWER"', 20, Reason.INVALID_ANSWER),
        ('mkfifo "$LOOPWRIGHT_ANSWER"', 20, Reason.INVALID_ANSWER),
        ('mkdir "$LOOPWRIGHT_ANSWER"', 20, Reason.INVALID_ANSWER),
        ('printf "\\377" > "$LOOPWRIGHT_ANSWER"', 20, Reason.INVALID_ANSWER),
        ('truncate -s 100M "$LOOPWRIGHT_ANSWER"', 20, Reason.INVALID_ANSWER),
    ],
)
def test_each_way_a_command_can_fail_has_its_reason(tmp_path, command, timeout_s, reason):
    turn = turn_for(tmp_path, "p", timeout_s)
    answer = CommandAgent("any", command).take(turn, start_plainly)
    assert isinstance(answer, NoAnswer)
    assert answer.reason is reason


def test_a_command_finds_the_schema_of_the_answer_in_a_file_and_in_the_prompt(tmp_path):
    schema = {"type": "object", "properties": {"é": {"type": "string"}}}
    script = 'cat "$LOOPWRIGHT_SCHEMA" > "$LOOPWRIGHT_ANSWER"; cp "$LOOPWRIGHT_PROMPT" "$LOOPWRIGHT_ANSWER.asked"'
    turn = replace(turn_for(tmp_path, "a prompt", 20), schema=schema)
    answer = CommandAgent("any", script).take(turn, start_plainly)
    assert isinstance(answer, Answer)
    assert json.loads(answer.text) == schema
    assert json.dumps(schema, ensure_ascii=False) in (turn.mailbox / "answer.asked").read_text()
    text = CommandAgent("any", 'echo "${LOOPWRIGHT_SCHEMA:-none}" > "$LOOPWRIGHT_ANSWER"')
    answer = text.take(turn_for(tmp_path, "a prompt", 20), start_plainly)
    assert isinstance(answer, Answer)
    assert answer.text == "none\n"


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
    ["", "turns: 3", "turns: [x]", "turns: [{role: nobody}]", "turns: [{role: replanner, x: y}]",
     "turns: [{role: replanner, fail: tired}]", "other: []"],
)  # fmt: skip
def test_a_turns_file_is_read_strictly(tmp_path, text):
    path = tmp_path / "turns.yaml"
    path.write_text(text)
    with pytest.raises(SettingsInvalid, match=r"turns\.yaml:\d"):
        read_turns(path)


@pytest.mark.parametrize("kind", ["command", "scripted"])
def test_what_a_turn_uses_can_be_read_while_it_runs_and_the_next_begins_with_nothing(tmp_path, kind):
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
