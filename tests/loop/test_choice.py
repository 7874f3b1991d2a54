"""Interactive mode: the actions that a person may choose, and the hold if there is no choice."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from loopwright.judging.reports.model import TestResult
from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop.choice import CHOICE_REQUIRED, awaits_choice, legal_actions, next_action
from loopwright.loop.guidance import way_on
from loopwright.loop.model import Action, Held, Hold, Holder, Loop, Running, Task, Validation
from loopwright.loop.rules import Accepted, Refused, decide, evolve

NOW = "2026-01-01T00:00:00Z"
PASSED = Validation(results=(TestResult("t", "s", "passed"),), passed=True)
FAILED = Validation(results=(TestResult("t", "s", "failed"),))
BARE = Loop(
    loop_id="loop-v2-20260101-abcdef", title="t", description="d", max_iterations=10, created_at=NOW, updated_at=NOW,
    phase=Running(), revision=1, mode="interactive",
)  # fmt: skip
ADVANCE = c.Advance(action_id="a1", no_progress=3)


def loop(statuses=(), **fields):
    tasks = tuple(
        Task(id=f"T-{n}", description="d", tool="bash", mode="write", status=status, created_at=NOW)
        for n, status in enumerate(statuses, 1)
    )
    return replace(BARE, tasks=tasks, is_initialised=True, **fields)


def after(start, command):
    decision = decide(start, command)
    assert isinstance(decision, Accepted), decision
    for event in decision.events:
        start = evolve(start, event, NOW)
    return start


@pytest.mark.parametrize(
    ("state", "legal"),
    [
        (BARE, [Action.INIT]),
        (loop(["pending"]), [Action.DEVELOP, Action.VALIDATE]),
        (loop(["completed"]), [Action.VALIDATE]),
        (loop(["completed"], validation=FAILED, is_validated=True), [Action.DEBUG, Action.VALIDATE]),
        (loop(["pending"], validation=FAILED), [Action.DEVELOP, Action.VALIDATE, Action.DEBUG]),
        (loop(["completed"], validation=PASSED, is_validated=True), [Action.COMPLETE, Action.VALIDATE]),
        (loop(["completed"], validation=PASSED), [Action.VALIDATE]),
        (loop(["failed"], validation=PASSED, is_validated=True), [Action.VALIDATE]),
    ],
)
def test_allowed_actions_are_listed_with_the_rules_choice_first(state, legal):
    assert list(legal_actions(state)) == legal
    if next_action(state) in legal:
        assert legal[0] is next_action(state)
    for action in Action:
        decision = decide(state, c.Choose(action=action, action_id="a"))
        assert isinstance(decision, Accepted) is (action in legal)


def test_a_loop_without_a_choice_is_held_until_the_choice():
    held = after(loop(["pending"]), ADVANCE)
    assert [(hold.holder, hold.code) for hold in held.phase.holds] == [(Holder.DECISION, CHOICE_REQUIRED)]
    assert "develop (the rules' own choice), validate" in held.phase.holds[0].message
    assert awaits_choice(held)
    chosen = after(held, c.Choose(action=Action.VALIDATE, action_id="a2"))
    assert (chosen.phase, chosen.under_way.action) == (Running(), Action.VALIDATE)
    assert not awaits_choice(chosen)
    assert decide(chosen, ADVANCE).events == (), "the chosen action continues"


def test_a_choice_does_not_lift_other_holds():
    held = after(loop(["pending"]), ADVANCE)
    pause = Hold(holder=Holder.OPERATOR, code="paused", message="paused by ann", since=NOW)
    both = after(held, e.HoldPlaced(hold=pause))
    refused = decide(both, c.Choose(action=Action.DEVELOP, action_id="a2"))
    assert isinstance(refused, Refused)
    assert {blocker.code for blocker in refused.blockers} == {"held_operator"}, "the choice is possible after that hold"
    assert not any("loop choose" in way for way in way_on(both, has_worker=False)), (
        "a command that would be refused is not suggested"
    )


def test_the_rules_choose_again_in_auto_mode():
    held = after(loop(["pending"]), ADVANCE)
    going = after(held, e.ModeSet(mode="auto"))
    assert (going.phase, going.mode) == (Running(), "auto")
    assert after(going, ADVANCE).under_way.action is Action.DEVELOP
    assert decide(going, e.ModeSet(mode="auto")) == Accepted(()), "a repeated mode records nothing"
    still = after(replace(going, phase=Held(holds=(Hold(holder=Holder.BUDGET, code="x", message="m", since=NOW),))),
                  e.ModeSet(mode="interactive"))  # fmt: skip
    assert isinstance(still.phase, Held)


def test_a_choice_while_an_action_is_running_is_refused():
    busy = after(after(loop(["pending"]), ADVANCE), c.Choose(action=Action.DEVELOP, action_id="a2"))
    (blocker,) = decide(busy, c.Choose(action=Action.VALIDATE, action_id="a3")).blockers
    assert blocker.code == "busy"
