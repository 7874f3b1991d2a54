"""One turn of the real agents, confined, against a model of our own: what they do, and every way that it can fail."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime

import pytest
from tests.real_agents.agent_kit import AGENTS, log_in, says, shell, turns

from loopwright.agents.port import Answer, NoAnswer, Reason, Role
from loopwright.agents.structured import schema_of
from loopwright.loop.answers import ProposedTasks
from loopwright.testing.model_server import model_server
from loopwright.testing.wire import ModelTurn, Trouble


@pytest.mark.parametrize("agent", AGENTS)
def test_a_turn_writes_a_file_and_says_what_it_took(project, agent):
    with model_server(ModelTurn(tools=(shell(agent, "echo hi > made.txt"),)), ModelTurn("all done")) as model:
        log_in(project, agent, model)
        with turns(project, agent) as booth:
            taken = booth.take()
            assert isinstance(taken.answer, Answer), taken.answer
            assert (booth.sandbox / "made.txt").read_text() == "hi\n"
    assert taken.answer.text == "all done"
    assert taken.answer.tokens == 240
    record = json.loads((booth.record / "turn.json").read_bytes())
    print(record)
