"""What only the work changes in the state of its processes counts, if one more run shows it."""

from __future__ import annotations

import pytest

from loopwright.judging.process_state import changed_state_sentence, confirmed, newly_changed
from loopwright.judging.verdict import TreeResult


def tree(*names, is_known=True):
    return TreeResult(exited_with_0=True, state=names if is_known else None)


UNKNOWN = tree(is_known=False)


@pytest.mark.parametrize(
    ("base", "work", "expected"),
    [
        (tree(), tree(), set()),
        (tree(), tree("env:A"), {"env:A"}),
        (tree("env:A"), tree("env:A", "env:B"), {"env:B"}),
        (tree("env:A"), tree(), set()),
        (UNKNOWN, tree("env:A"), set()),
        (tree("env:A"), UNKNOWN, {"unknown"}),
        (tree("env:A"), tree("env:A", "unknown"), {"unknown"}),
        (tree("env:A", "unknown"), tree("env:B", "unknown"), set()),
        (UNKNOWN, UNKNOWN, set()),
        (tree("env:A"), tree("env:A", "left-out"), {"left-out"}),
        (tree("env:A", "left-out"), tree("env:A", "left-out"), {"left-out"}),
        (tree("env:A", "left-out"), tree(), {"left-out"}),
    ],
)
def test_work_that_does_not_tell_its_state_differs_from_a_base_that_does(base, work, expected):
    assert newly_changed(base, work) == expected


@pytest.mark.parametrize(
    ("runs", "again", "expected"),
    [
        ([tree("env:A")], tree("env:A", "env:C"), ("env:A",)),
        ([tree("env:A")], tree(), ()),
        ([tree("env:A")], UNKNOWN, ("unknown",)),
        ([tree("env:A", "unknown")], tree("env:A"), ("env:A", "unknown")),
        ([UNKNOWN], tree(), ()),
        ([tree(), tree("env:A")], tree("env:A"), ("env:A",)),
        ([tree("env:USUAL")], None, ()),
        ([tree("env:A", "left-out")], tree("env:A", "left-out"), ("env:A", "left-out")),
    ],
)
def test_one_more_run_confirms_a_change_and_is_not_needed_without_one(runs, again, expected):
    results = tuple({"C": run} for run in runs)
    assert confirmed({"C": tree("env:USUAL")}, results, lambda: {"C": again}) == expected


def test_the_sentence_tells_what_changed_and_whether_something_is_hidden():
    changed, hidden = changed_state_sentence(("env:A", "unknown")).split("; ")
    assert changed == changed_state_sentence(("env:A",))
    assert hidden == changed_state_sentence(("unknown",))
    assert "not all of it is compared" in changed_state_sentence(("left-out",))


def test_a_change_of_one_command_is_not_excused_by_another():
    base, work = {"C": tree("env:A"), "D": tree()}, {"C": tree("env:A"), "D": tree("env:A")}
    names = confirmed(base, (work,), lambda: work)
    assert changed_state_sentence(names).endswith("did not change before: env:A")
