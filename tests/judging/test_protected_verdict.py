"""What tests prove that the work added to existing files."""

from __future__ import annotations

import pytest

from loopwright.judging.protected_verdict import with_changed_tests
from loopwright.judging.verdict import CommandResults, TreeResult

P, F = "passed", "failed"
FILES = frozenset({"t.py"})


def tree(**tests):
    return TreeResult(
        exited_with_0=F not in tests.values(), tests={f"t.py::{name}": row for name, row in tests.items()}
    )


@pytest.mark.parametrize(
    ("whole", "runs", "added"),
    [
        (tree(a=P), [], None),
        (tree(a=P, b=F), [], None),
        # Only a failure must repeat.
        (tree(a=P, b=P), [P], P),
        (tree(a=P, b=P), [F, F, F], F),
        (tree(a=P, b=P), [F, F, P], P),
    ],
)
def test_an_added_test_fails_on_the_base_if_it_fails_in_each_of_three_runs(whole, runs, added):
    left = [{"C": tree(a=P, b=status), "D": tree()} for status in runs]
    results = {"C": CommandResults(base=tree(a=P), work=tree(a=P)), "D": CommandResults(base=tree(), work=tree())}
    found = with_changed_tests(results, {"C": whole, "D": tree()}, FILES, lambda: left.pop(0))
    on_base = found["C"].changed_on_base
    assert (on_base and on_base.tests["t.py::b"]) == added
    assert found["D"].changed_on_base is None
    assert left == []
