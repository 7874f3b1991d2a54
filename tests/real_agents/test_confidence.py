"""Real agents rate their confidence: in the session of their work, without write tools, and on record."""

from __future__ import annotations

import json

import pytest
from tests.real_agents.agent_kit import AGENTS, log_in, says, shell
from tests.walks.workflow_kit import ok

from loopwright.testing.model_server import model_server
from loopwright.testing.wire import ModelTurn

WRITES = "echo hi > made.txt"


def rating(agent, confidence):
    wrong = {"surface": "test", "description": "not tried"}
    said = {"confidence": confidence, "most_likely_wrong": wrong, "known_not_in_diff": None}
    return (says(agent, json.dumps(said)),) * 9


@pytest.mark.parametrize("agent", AGENTS)
def test_three_answers_of_a_real_agent(project, agent):
    # The conversation of the last question also contains the earlier questions.
    scripts = {
        "Argue against the work below": rating(agent, 0.4),
        "You did the work below": rating(agent, 0.9),
        "You will be asked to do the work": rating(agent, 0.7),
    }
    builds = (ModelTurn(tools=(shell(agent, WRITES),)), ModelTurn("built"))
    with model_server(*builds, scripts=scripts) as model:
        log_in(project, agent, model)
        project.environment |= {
            "REFLECTION_MODE": "solo",
            "LOOPWRIGHT_PROJECT_SOURCE": "made.txt",
            "LOOPWRIGHT_PROJECT_TEST_COMMAND": "test -f made.txt",
        }
        made = ok(project, "loop", "new", "a file", "--task", "make it", "--agent", agent, "--json").json()
        ok(project, "loop", "start", made["loop_id"])
    corpus = [json.loads(line) for line in ok(project, "reflect", "export", "--form", "corpus").stdout.splitlines()]
    assert [(one["point"], one["confidence"], one["correct"]) for one in corpus] == [
        ("before", 0.7, True), ("after", 0.9, True), ("adversarial", 0.4, True),
    ]  # fmt: skip
    records = {path.parent.name.partition("-builder")[2]: json.loads(path.read_bytes()) for path in turns(project)}
    assert records.keys() == {"-before", "", "-after", "-adversarial"}
    assert records["-before"]["resumed"] is None
    # In the session of the work: the agent must remember, and is not told that its work is gone.
    assert records["-after"]["resumed"] == records[""]["session"]
    assert records["-adversarial"]["resumed"] == records["-after"]["session"]
    asked = json.dumps(next(body for _, body in model.requests if "You did the work below" in json.dumps(body)))
    assert WRITES in asked
    assert "You were interrupted" not in json.dumps(model.requests)
    spent = ok(project, "loop", "show", made["loop_id"], "--json").json()["loopwright"]["spent"]
    assert spent["turns"] == 4
    assert not list(project.sandboxes.iterdir())


def turns(project):
    return sorted((project.own / "loops").glob("*.progress/turns/*/turn.json"))
