"""What a turn is counted as: one rule for loops and workflows."""

from __future__ import annotations

import pytest

from loopwright.agents.port import Answer, Usage
from loopwright.runner.meter import Counted, counted


def said(usd=None, tokens=None, source=None):
    return Answer("text", 1.0, tokens, usd, cost_source=source)


@pytest.mark.parametrize(
    ("used", "answer", "cost"),
    [
        (Usage(), None, Counted(None, None, False)),
        (Usage(0.5, 7), None, Counted(0.5, 7, False)),
        (Usage(0.5, 7), said(0.25, 9), Counted(0.5, 9, False)),
        (Usage(0.5, 7), said(0.25, 5, "reported"), Counted(0.25, 7, False)),
        (Usage(0.5), said(0.75, source="computed"), Counted(0.75, None, True)),
        # Who reports no sum after all has not the last word.
        (Usage(0.5), said(source="reported"), Counted(0.5, None, False)),
        (Usage(), said(0.0, 0, "reported"), Counted(0.0, 0, False)),
    ],
)
def test_the_larger_counts_unless_the_program_reports_the_sum(used, answer, cost):
    assert counted(used, answer) == cost
