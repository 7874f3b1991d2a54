"""An autopilot's budget: one for all stages, counted from its first start."""

from __future__ import annotations

import pytest

from loopwright.workflow.flight import left_of, used_by, used_up
from loopwright.workflow.model import Amounts, Flight, SpendingLimits
from loopwright.workflow.stage import Stage


def flight(**limits):
    before = Amounts(usd=3.0, tokens=100, wall_s=10.0, turns=2)
    return Flight(by="ann", since="t", before=before, limits=SpendingLimits(**limits), phase=Stage.PLAN)


def test_spending_before_the_autopilot_started_does_not_count():
    spent = Amounts(usd=3.5, tokens=150, wall_s=11.0, turns=3)
    assert used_by(flight(), spent) == Amounts(usd=0.5, tokens=50, wall_s=1.0, turns=1)
    assert (left_of(flight(usd=2.0), spent, "usd"), left_of(flight(), spent, "usd")) == (1.5, None)
    assert left_of(flight(usd=0.1), spent, "usd") == 0.0
    assert used_by(flight(), Amounts()) == Amounts(), "a loop whose files are gone gives nothing back"


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ({}, None),
        ({"usd": 0.6}, None),
        ({"usd": 0.5}, "budget_usd"),
        ({"tokens": 50}, "budget_tokens"),
        ({"wall_s": 0.9}, "budget_wall_s"),
        ({"turns": 1}, "budget_turns"),
        ({"iterations": 1}, None),
    ],
)
def test_a_limit_that_is_reached_is_named(limits, code):
    found = used_up(flight(**limits), Amounts(usd=3.1 + 0.4, tokens=150, wall_s=11.0, turns=3))
    assert (found[0] if found is not None else None) == code
