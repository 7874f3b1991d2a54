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
    "a test fails now": (run(a="p", b="p"), run(False, a="p", b="f"), ["b"]),
    "a test is missing, and the command passes": (run(a="p", b="p"), run(a="p"), ["b"]),
    "a test is skipped, and the command passes": (run(a="p", b="p"), run(a="p", b="s"), ["b"]),
    "a test failed before": (run(False, a="f", b="p"), run(False, a="f", b="p"), []),
    "a test that failed before is gone": (run(False, a="f", b="p"), run(b="p"), []),
    "a test failed before, and another test fails now": (run(False, a="f", b="p"), run(False, a="f", b="f"), ["b"]),
    "one of two tests with the same name fails now": (run(a="pp"), run(False, a="pf"), ["a"]),
    "a new test fails": (run(a="p"), run(False, a="p", new="f"), ["the test command"]),
    "a new test fails, and others failed before": (run(False, a="f", b="p"), run(False, a="f", b="p", new="f"), []),
    "the report is gone": (run(a="p"), run(), ["the test command"]),
    "the report is incomplete": (run(a="p"), run(a="p", gaps=("it breaks off",)), ["the test command"]),
    "no report, and the command passes": (run(), run(), []),
    "no report, and the command fails now": (run(), run(False), ["the test command"]),
    "no report, and the command failed before": (run(False), run(False), []),
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
    "no test is lost": (results(a="p", b="f"), results(a="p", b="p"), ()),
    "a failed test is gone": (results(a="p", b="f"), results(a="p"), ("suite::b",)),
    "a failed test is skipped": (results(a="p", b="f"), results(a="p", b="s"), ("suite::b",)),
    "a passed test is gone": (results(a="p", b="p"), results(b="p"), ("suite::a",)),
    "a skipped test is gone": (results(a="p", b="s"), results(a="p"), ()),
    "the report is missing": (results(a="p"), (), ("suite::a",)),
    "a file that could not be loaded has tests now": (
        (TestResult("tests.test_x", "pytest", "failed"),), (TestResult("test_a", "tests.test_x", "passed"),), ()
    ),
    "a file that could not be loaded has classes with tests now": (
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
