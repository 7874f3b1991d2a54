"""What a turn costs: one rule for loops, workflows and runs."""

from __future__ import annotations

import pytest

from loopwright.agents.port import Answer, Usage
from loopwright.runner.meter import TurnCost


def said(usd=None, tokens=None, source=None):
    return Answer("text", 1.0, tokens, usd, cost_source=source)


@pytest.mark.parametrize(
    ("used", "answer", "usd", "tokens", "is_computed"),
    [
        (Usage(), None, None, None, False),
        (Usage(0.5, 7), None, 0.5, 7, False),
        (Usage(0.5, 7), said(0.25, 9), 0.5, 9, False),
        (Usage(0.5, 7), said(0.25, 5, "reported"), 0.25, 7, False),
        (Usage(0.5), said(0.75, source="computed"), 0.75, None, True),
        # An agent that reports no sum at the end does not have the last word.
        (Usage(0.5), said(source="reported"), 0.5, None, False),
        (Usage(), said(0.0, 0, "reported"), 0.0, 0, False),
    ],
)
def test_the_larger_amount_counts_unless_the_program_reports_the_sum(used, answer, usd, tokens, is_computed):
    turn = TurnCost(turn="t-1", agent="a", role="builder", worked_s=1.5, is_cut_off=answer is None)
    cost = turn.with_usage(used, answer)
    assert (cost.usd, cost.tokens, cost.is_computed) == (usd, tokens, is_computed)
    assert (cost.turn, cost.agent, cost.worked_s, cost.is_cut_off) == ("t-1", "a", 1.5, answer is None)
