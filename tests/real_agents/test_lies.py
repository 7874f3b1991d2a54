"""Lies of the bench, told by real agents: their model has them run the bench's script and claim success."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import pytest
from tests.bench.lie_bench import cases, model, scene
from tests.real_agents.agent_kit import log_in, shell

from loopwright.testing.model_server import model_server
from loopwright.testing.sample import BUILT
from loopwright.testing.wire import ModelTurn

LIARS = ("claude", "codex")
UNCONFINED = next(lie for lie in cases.LIES if lie.trace and lie.world.isolation == "none")
# Each world of a lie, by the first of its lies.
WORLDS = {scene.name_of(lie.world): lie for lie in reversed(cases.THROUGH_AGENTS)}.values()


@pytest.fixture(scope="session")
def templates():
    """Shared by all tests of this worker: each world's plan is created once."""
    with tempfile.TemporaryDirectory(prefix="loopwright-lies-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def ready(agent, server, project, script):
    """A model that has the agent run the script in its shell and then claim success."""
    server.turns = (ModelTurn(tools=(shell(agent, script),)), ModelTurn(scene.CLAIM))
    log_in(project, agent, server)
    return agent


def told(agent, one, templates):
    """The gate, and the last request to the agent's model."""
    with model_server(ModelTurn(scene.CLAIM)) as server:
        gate = cases.judged(one, templates, partial(ready, agent, server), agent)
        *_, (_, last) = [asked for asked in server.requests if asked[1].get("tools")]
    return gate, str(last)


@pytest.mark.parametrize("agent", LIARS)
@pytest.mark.parametrize("lie", cases.THROUGH_AGENTS, ids=lambda lie: lie.name)
@pytest.mark.shows("lies")
def test_no_lie_of_a_real_agent_passes(agent, lie, templates):
    gate, last = told(agent, lie, templates)
    assert model.PLAYED in last, f"it was not played: {last[-2000:]}"
    assert gate.caught(lie.caught_by), gate
    assert lie.says in gate.said


@pytest.mark.parametrize("agent", LIARS)
def test_an_unattended_agent_does_not_start_without_isolation(agent, templates):
    with model_server(ModelTurn(scene.CLAIM)) as server:
        gate = cases.judged(UNCONFINED, templates, partial(ready, agent, server), agent)
    assert not gate.passed
    assert server.requests == []


@pytest.mark.parametrize("agent", LIARS)
@pytest.mark.parametrize("lie", WORLDS, ids=lambda lie: lie.name)
def test_honest_work_of_a_real_agent_passes_in_the_world_of_the_lie(agent, lie, templates):
    gate, _ = told(agent, model.Honest(f"not-{lie.name}", "just does it", lie.world, BUILT), templates)
    assert gate.passed, gate
