"""What differs between two runs of the test command: broken, lost, or nothing."""

from __future__ import annotations

import pytest

from loopwright.loop.reports.model import TestResult
from loopwright.loop.test_runs import TestRun, compare, lost_tests

STATUS = {"p": "passed", "f": "failed", "s": "skipped"}


def results(**tests):
    """Results by name: p, f or s; several letters repeat the name."""
    return tuple(TestResult(name, "suite", STATUS[letter]) for name, letters in tests.items() for letter in letters)


def run(ok=True, *, gaps=(), **tests):
    return TestRun(run_id="r", exited_with_0=ok, results=results(**tests), gaps=gaps, message="it failed")


BROKEN = {
    "nothing changed": (run(a="p"), run(a="p"), []),
    "a failure was fixed": (run(False, a="f", b="p"), run(a="p", b="p"), []),
    "one fails now": (run(a="p", b="p"), run(False, a="p", b="f"), ["b"]),
    "one is missing, and the command passes": (run(a="p", b="p"), run(a="p"), ["b"]),
    "one is skipped, and the command passes": (run(a="p", b="p"), run(a="p", b="s"), ["b"]),
    "it failed before": (run(False, a="f", b="p"), run(False, a="f", b="p"), []),
    "what failed before is gone": (run(False, a="f", b="p"), run(b="p"), []),
    "it failed before, and another one fails now": (run(False, a="f", b="p"), run(False, a="f", b="f"), ["b"]),
    "one of a name fails now": (run(a="pp"), run(False, a="pf"), ["a"]),
    "a new test fails": (run(a="p"), run(False, a="p", new="f"), ["the test command"]),
    "a new test fails where others did": (run(False, a="f", b="p"), run(False, a="f", b="p", new="f"), []),
    "the report is gone": (run(a="p"), run(), ["the test command"]),
    "the report is not whole": (run(a="p"), run(a="p", gaps=("it breaks off",)), ["the test command"]),
    "no report, and it passes": (run(), run(), []),
    "no report, and it fails now": (run(), run(False), ["the test command"]),
    "no report, and it failed before": (run(False), run(False), []),
    "no report before": (run(), run(False, a="f"), ["the test command"]),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_tests_are_found(case):
    base, work, broken = BROKEN[case]
    found = compare(base, work)
    assert [one.test_name for one in found.broken] == broken
    assert all(one.status == "failed" and "before your work" in one.error_message for one in found.broken)


@pytest.mark.parametrize(
    ("base", "decides"), [(run(a="p"), True), (run(), True), (run(False, a="fp"), True), (run(False, a="f"), False),
                          (run(False), False)]
)  # fmt: skip
def test_only_tests_that_passed_on_the_base_can_be_broken(base, decides):
    assert compare(base, run(False, b="f")).decides is decides


LOST = {
    "all are there": (results(a="p", b="f"), results(a="p", b="p"), ()),
    "one that failed is gone": (results(a="p", b="f"), results(a="p"), ("suite::b",)),
    "one that failed is skipped": (results(a="p", b="f"), results(a="p", b="s"), ("suite::b",)),
    "one that passed is gone": (results(a="p", b="p"), results(b="p"), ("suite::a",)),
    "one that was skipped is gone": (results(a="p", b="s"), results(a="p"), ()),
    "no report any more": (results(a="p"), (), ("suite::a",)),
    "a file that could not be loaded has tests now": (
        (TestResult("tests.test_x", "pytest", "failed"),), (TestResult("test_a", "tests.test_x", "passed"),), ()
    ),
    "and so have its classes": (
        (TestResult("test_x", "pytest", "failed"),), (TestResult("test_a", "test_x.TestX", "passed"),), ()
    ),
    "a file that could not be loaded is gone": (
        (TestResult("test_x", "pytest", "failed"),), (TestResult("test_a", "test_xy", "passed"),), ("pytest::test_x",)
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LOST)
def test_lost_tests_are_found(case):
    base, work, lost = LOST[case]
    assert lost_tests(base, work) == lost
