"""A shell command as an agent: its port's contract, and each way to fail."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from loopwright.agents.command.adapter import CommandAgent
from loopwright.agents.port import Answer, NoAnswer, Reason
from loopwright.testing.contracts import AgentContract, start_plainly, turn_for


class TestCommand(AgentContract):
    def answering(self, tmp_path):
        return CommandAgent(
            "any", 'test "$(cat "$LOOPWRIGHT_PROMPT")" = "a prompt" && echo "an answer" > "$LOOPWRIGHT_ANSWER"'
        )

    def failing(self, tmp_path):
        return CommandAgent("any", "exit 3")


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
