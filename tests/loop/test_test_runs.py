"""One run of the test command, as a person and as the judge read it."""

from __future__ import annotations

from loopwright.judging.reports.model import TestResult
from loopwright.loop.test_runs import COMMAND, TestRun


def run(ok=True, *results, **more):
    return TestRun(run_id="r", exited_with_0=ok, results=results, message="it failed", **more)


def names(found):
    return [result.test_name for result in found.findings if result.status == "failed"]


def test_without_a_report_the_command_is_the_only_test():
    assert run().passed
    assert names(run(False)) == [COMMAND]


def test_a_report_that_can_not_be_believed_is_a_failure_with_a_name():
    good = TestResult("a", "s", "passed")
    assert names(run(True, good, gaps=("it breaks off",))) == ["the report"]
    assert names(run(False, good)) == [COMMAND]
    assert names(run(True, TestResult("a", "s", "skipped"))) == ["all tests were skipped"]


def test_tests_with_the_same_name_are_told_apart():
    result = run(True, TestResult("a", "s", "passed"), TestResult("a", "s", "failed")).tree_result
    assert result.tests == {"s::a": "passed", "s::a #2": "failed"}


def test_an_incomplete_report_and_a_run_that_was_ended_did_not_come_to_their_end():
    assert run().tree_result.ended
    assert not run(gaps=("it breaks off",)).tree_result.ended
    assert not run(ended=False).tree_result.ended
