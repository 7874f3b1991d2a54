"""The lanes of an iteration: what ends them, and which results keep the gate closed."""

from __future__ import annotations

import pytest

from loopwright.workflow.lanes import after_checks, against, incomplete

CHECKED = {"execution": "completed", "verification": "passed", "evidence": "collected"}


@pytest.mark.parametrize(
    ("facts", "ended", "begins"),
    [
        ("passed", {**CHECKED}, True),
        ("", {**CHECKED, "verification": "failed"}, True),
        ("passed same_work", {"verification": "passed", "evidence": "collected"}, False),
        ("passed after_deslop can_drop", {"deslop": "done", "regression": "passed"}, False),
        ("passed after_deslop", {"deslop": "done", "regression": "passed"}, False),
        ("passed after_deslop was_dropped", {"deslop": "dropped", "regression": "passed"}, False),
        # A worker recorded the drop and died before it: the tidied work still exists, and passes now.
        ("passed after_deslop can_drop was_dropped", {"deslop": "done", "regression": "passed"}, False),
        ("after_deslop can_drop", {"deslop": "dropped", "regression": "failed"}, False),
        # There is no earlier work, or the earlier work fails too: the next iteration fixes it.
        ("after_deslop", {**CHECKED, "verification": "failed"}, True),
    ],
)
def test_a_run_of_the_checks_ends_these_lanes(facts, ended, begins):
    named = ("passed", "same_work", "after_deslop", "can_drop", "was_dropped")
    found, is_new = after_checks(**{name: name in facts.split() for name in named})
    assert (dict(found), is_new) == (ended, begins)


@pytest.mark.parametrize(
    ("lanes", "blocked"),
    [
        ({"architect": "approve", "deslop": "done", "regression": "passed"}, []),
        ({"architect": "approve", "deslop": "dropped", "regression": "passed"}, []),
        ({"architect": "approve", "deslop": "skipped", "regression": "skipped"}, []),
        ({"architect": "approve", "deslop": "done", "regression": "skipped"}, [("regression", "skipped")]),
        ({"architect": "iterate"}, [("architect", "iterate")]),
        ({"deslop": "crashed", "regression": "failed"}, [("deslop", "crashed"), ("regression", "failed")]),
        ({"architect": "APPROVE"}, [("architect", "APPROVE")]),
    ],
)
def test_these_results_keep_the_gate_closed(lanes, blocked):
    assert list(against(lanes)) == blocked


def test_a_lane_without_a_result_is_incomplete():
    assert list(incomplete(CHECKED, full=False)) == []
    assert list(incomplete(CHECKED, full=True)) == ["architect", "deslop", "regression"]
