"""A person's own agent session builds by hand in the checkout, and Loopwright judges the work."""

from __future__ import annotations

import json

import pytest
from tests.real_agents.agent_kit import shell
from tests.real_agents.session_kit import our_tool, session
from tests.walks.workflow_kit import BUILT, blockers, ok, plan, planner, prepare

from loopwright.testing.model_server import model_server
from loopwright.testing.wire import ModelTurn

TURN = "loopwright loop turn greet --wait --json"
FOLDER = f"""$({TURN} | python3 -c 'import json, sys; print(json.load(sys.stdin)["folder"])')"""


def results(model):
    """The results of the session's tools, in order."""
    last = model.requests[-1][1]["messages"]
    parts = [part for message in last if isinstance(message["content"], list) for part in message["content"]]
    return [part["content"] for part in parts if part["type"] == "tool_result"]


@pytest.fixture(autouse=True)
def _no_process_stays(project):
    yield
    for one in project.run("loop", "list", "--json").json()["loops"]:
        project.run("loop", "stop", one["loop_id"])


@pytest.mark.parametrize("agent", ["claude"])
def test_a_session_in_the_checkout_takes_the_turns_of_a_build(project, agent):
    """The session claims success too early: its next turn shows the results of the checks."""
    prepare(project, [planner()])
    ok(project, "install", "--agent", agent)
    project.commit("installed")
    plan(project)
    ok(project, "approve", "greet", "--from", "plan", "--to", "build")
    calls = (
        shell(agent, "loopwright build greet --agent interactive --detach"),
        shell(agent, TURN),
        shell(agent, "loopwright loop turn greet --done"),
        shell(agent, f'cd "{FOLDER}" && {BUILT}'),
        our_tool(agent, "self_report", {"confidence": 0.8}),
        shell(agent, "loopwright loop turn greet --done"),
        shell(agent, "loopwright loop turn greet --wait"),
        shell(agent, "loopwright status greet"),
    )
    with model_server(*(ModelTurn(tools=(call,)) for call in calls), ModelTurn("done")) as model:
        session(project, agent, model, "build greet yourself", mode="off")
    _, first, _, _, _, _, over, stands = map(str, results(model))
    assert json.loads(first)["task_id"] == "VS-1"
    assert "all tasks are worked on" in over, results(model)
    assert "1 of 1 checks passed" in stands
    assert blockers(project, "review") == {}
    (loop,) = ok(project, "loop", "list", "--json").json()["loops"]
    turns = sorted((project.own / "loops" / f"{loop['loop_id']}.progress" / "turns").glob("*/turn.json"))
    assert [json.loads(path.read_bytes())["isolation"][:18] for path in turns] == ["none: done by hand"] * 2
    reports = [path for one in turns if (path := one.with_name("self-report.json")).exists()]
    assert [json.loads(path.read_bytes())["confidence"] for path in reports] == [0.8]
    assert (project.root / "hello.py").read_text() == "def greet(name):\n    return 'hi'\n", "the checkout is as it was"
