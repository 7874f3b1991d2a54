"""Every command that an error or a loop's page suggests is accepted in that state."""

from __future__ import annotations

import re
import shlex

import pytest

from loopwright.agents.mailbox import DecisionRequest
from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop.choice import choice_hold
from loopwright.loop.model import Budget, Hold, Holder, Spent
from loopwright.stages.context import loops_of
from loopwright.verbs.loop.control import LoopRequest, new_loop
from loopwright.wiring.build import build_context

NOW = "2026-01-01T00:00:00Z"
NAMED = re.compile(r"`(loopwright [^`]+)`|(?:→ |^)(loopwright [^`;,\n]+)", re.MULTILINE)
# Placeholders in a suggested command, and a value for each.
SAID = {"--usd …": "--usd 99", "D-1 …": "D-1 'this one'", " …": " more"}


def held(holder, code="x"):
    return e.HoldPlaced(hold=Hold(holder=holder, code=code, message="because", since=NOW))


def asks(loop):
    del loop
    return c.AskDecisions(requests=(DecisionRequest(question="which?"),), at=NOW)


def awaits(loop):
    return e.HoldPlaced(hold=choice_hold(loop))


PAUSED, BUDGET = held(Holder.OPERATOR), held(Holder.BUDGET, "budget_usd")
STATES = {
    "created": (),
    "running": (e.LoopStarted(),),
    "paused": (e.LoopStarted(), PAUSED),
    "blocked": (e.LoopStarted(), held(Holder.BLOCKER)),
    "broken down": (e.LoopStarted(), held(Holder.BLOCKER, "execution_crashed")),
    "at a limit": (e.LoopStarted(), held(Holder.QUOTA)),
    "out of budget": (e.LoopStarted(), BUDGET),
    "at its agent's own limit": (e.LoopStarted(), held(Holder.BUDGET, "budget_used")),
    "asked": (e.LoopStarted(), asks),
    "asked and paused": (e.LoopStarted(), asks, PAUSED),
    "asked and out of budget": (e.LoopStarted(), asks, BUDGET),
    "awaits a choice": (e.ModeSet(mode="interactive"), e.LoopStarted(), awaits),
    "awaits a choice and paused": (e.ModeSet(mode="interactive"), e.LoopStarted(), awaits, PAUSED),
    "done": (e.LoopStarted(), c.Finish(forced="enough")),
    "stopped": (e.LoopStarted(), e.LoopStopped(by="me")),
    "stopped before": (e.LoopStopped(by="me"),),
    "out of iterations": (e.LoopStarted(), e.LoopFailed(code="iterations_used", reason="all are used")),
}
VERBS = (
    "start LOOP", "resume LOOP --no-start", "pause LOOP", "stop LOOP", "retry LOOP", "complete LOOP --reason enough",
    "choose LOOP validate --no-start", "answer LOOP D-1 this", "task generate LOOP", "task done LOOP T-9",
)  # fmt: skip


class States:
    """One loop in each of the states, each with a used budget."""

    def __init__(self, project):
        self.project = project
        self.context = build_context(project.root, {}, environment=project.environment)

    def a_loop(self, state):
        request = LoopRequest(title="a goal", description="do it", tasks=("one",), budget=Budget(usd=5.0))
        store, loop_id = loops_of(self.context), new_loop(self.context, request).loop_id
        for command in (*STATES[state], e.CostCounted(spent=Spent(usd=6.0))):
            with store.changing(loop_id) as opened:
                opened.apply(command(opened.loop) if callable(command) else command, "tool")
        return loop_id

    def typed(self, state, line):
        """A verb on a fresh loop of that state, `LOOP` being its name."""
        loop_id = self.a_loop(state)
        done = self.project.run(*shlex.split(line.replace("LOOP", loop_id)))
        assert "Traceback" not in done.stderr
        return re.sub(loop_id, "LOOP", done.stderr), re.sub(loop_id, "LOOP", done.stdout)


def commands_in(text):
    """The suggested commands with values; a loop is driven only if necessary."""
    for quoted, plain in NAMED.findall(text):
        line = (quoted or plain).strip().removeprefix("loopwright ")
        for words, said in SAID.items():
            line = line.replace(words, said)
        is_said_only = "--no-start" in line or line.split()[1] not in ("resume", "choose")
        yield line if is_said_only else f"{line} --no-start"


@pytest.mark.parametrize("state", STATES)
def test_a_named_command_is_not_refused(loops, state):
    loops.configure(turns=[{"role": "builder", "run": "touch done"}] * 3)
    states = States(loops.project)
    _, page = states.typed(state, "loop show LOOP")
    named = dict.fromkeys(commands_in(page), "show")
    for verb in VERBS:
        error, _ = states.typed(state, f"loop {verb}")
        named |= dict.fromkeys(commands_in(error), verb)
    assert named, "something is named in every state"
    refused = {}
    for line, by in named.items():
        error, _ = states.typed(state, line)
        if "REFUSED" in error or "Usage" in error:
            refused[line] = (by, error)
    assert refused == {}


def test_a_raised_budget_below_the_used_amount_is_refused(loops):
    loops.configure()
    states = States(loops.project)
    error, _ = states.typed("done", "loop resume LOOP --no-start --usd 5.5")
    assert "LOOP_REFUSED: the loop has used 6 of 5.5 US dollars" in error
