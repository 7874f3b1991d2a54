"""The parts that `install` added, in a confined build: the stop gate, and our tools."""

from __future__ import annotations

import json

import pytest
from tests.real_agents.agent_kit import AGENTS, HOOKED, log_in, says, shell
from tests.real_agents.session_kit import WAITS, asked, our_tool
from tests.walks.workflow_kit import BUILT, REPLY, blockers, ok, plan, prepare

from loopwright.testing.model_server import model_server
from loopwright.testing.wire import ModelTurn

pytestmark = pytest.mark.needs("bwrap")


def built(project, agent, turns, *, what, scripts=None):
    """Plan, approve and build with one part installed; returns the requests to the builder's model."""
    ok(project, "install", "--agent", agent, "--what", what)
    plans = {"Plan this change. The project ": (says(agent, json.dumps(REPLY)),)}
    with model_server(*turns, scripts={**plans, **(scripts or {})}) as model:
        prepare(project, settings=f"[agents.codex]\nargs = {json.dumps(WAITS)}\n" if "mcp" in what else "")
        log_in(project, agent, model)
        project.environment["LOOPWRIGHT_SANDBOX_ISOLATION"] = "auto"
        plan(project, agent=agent)
        ok(project, "approve", "greet", "--from", "plan", "--to", "build")
        planned = len(asked(model))
        ok(project, "build", "greet", "--agent", agent)
        return asked(model)[planned:]


@pytest.mark.parametrize("agent", HOOKED)
@pytest.mark.shows("gate")
def test_the_gate_stops_an_agent_from_ending_only_once(project, agent):
    # Gemini does not report that a hook continued it, so the gate itself counts.
    does = (ModelTurn(tools=(shell(agent, BUILT),)), ModelTurn("now it is"))
    asked = built(project, agent, (ModelTurn("all done"),), what="hooks", scripts={"Make these checks pass": does})
    said = [("Make these checks pass" in one, "Before you end" in one) for one in asked]
    claims, fixes = ([nudged for fixing, nudged in said if fixing is which] for which in (False, True))
    assert claims == [False, True], "once, also where nothing is done"
    assert fixes == [False, False, True]
    assert blockers(project, "review") == {}


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.shows("MCP tool")
def test_a_confined_builder_uses_our_tools(project, agent):
    turns = (
        ModelTurn(tools=(shell(agent, BUILT),)),
        ModelTurn(tools=(our_tool(agent, "progress", {"text": "it greets"}),)),
        ModelTurn(tools=(our_tool(agent, "run_checks"),)),
        ModelTurn("built"),
    )
    *_, last = built(project, agent, turns, what="mcp,skills,instructions")
    (loop_id,) = [one["loop_id"] for one in ok(project, "loop", "list", "--json").json()["loops"]]
    assert "builder says: it greets" in ok(project, "loop", "logs", loop_id).stdout
    assert "Loopwright judges the work itself" in last, "a preview"
    assert blockers(project, "review") == {}
