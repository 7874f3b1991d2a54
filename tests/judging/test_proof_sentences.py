"""What proves the work is named, and what can't fail is told apart; hidden checks are only counted."""

from __future__ import annotations

import pytest

from loopwright.judging.proof_sentences import ControlledProof, hidden_proof_sentence, proof_sentence
from loopwright.judging.reports.model import TestResult
from loopwright.judging.verdict import CommandResults, CommandVerdict, Grade, judge_command
from loopwright.loop.test_runs import TestRun


def proven(*tests, nameless=()):
    return CommandVerdict(proving=tests, grade=Grade.TESTS, kept=3, before=3, nameless=nameless)


@pytest.mark.parametrize(
    ("verdict", "controlled", "sentence"),
    [
        (proven("a"), ControlledProof(), "1 test failed before and passes now: a"),
        (proven(*"abcde"), ControlledProof(), "5 tests failed before and pass now: a, b, c and 2 more"),
        (
            proven(*"abcd"),
            ControlledProof(vacuous=("d",)),
            "3 tests failed before and pass now: a, b, c; 1 more test passes whatever it expects: d",
        ),
        (
            proven(*"abcd"),
            ControlledProof(vacuous=("c",), unaltered=("d",)),
            (
                "2 tests failed before and pass now: a, b; 1 more test passes whatever it expects: c; "
                "1 more test has no expectation that could be changed: d"
            ),
        ),
        (proven("a"), ControlledProof(vacuous=("a",)), "1 test passes whatever it expects: a"),
        # Another sentence says that nothing could be changed.
        (proven("a"), ControlledProof(unaltered=("a",)), "1 test failed before and passes now: a"),
        (
            proven("a", "b", nameless=("a",)),
            ControlledProof(),
            "2 tests failed before and pass now: a, b; 1 of 2 failed before only because a name or module was missing",
        ),
    ],
)
def test_the_tests_that_prove_are_named_and_told_from_those_that_can_not_fail(verdict, controlled, sentence):
    assert proof_sentence(verdict, controlled) == f"{sentence}; 3 of 3 earlier tests still pass"


def test_the_tests_of_a_hidden_check_are_only_counted():
    said = hidden_proof_sentence(proven("tests/secret.py::test_a", nameless=("tests/secret.py::test_a",)))
    assert said == "1 test failed before and passes now; 3 of 3 earlier tests still pass"


@pytest.mark.parametrize(
    ("message", "is_missing"),
    [
        ("AttributeError: module 'calc' has no attribute 'triple'", True),
        ("ImportError while importing test module 'a.py'.\nE   ImportError: cannot import name 'triple'", True),
        ("NameError: name 'triple' is not defined", True),
        ("TypeError: calc.triple is not a function", True),
        ("./calc_test.go:7:5: undefined: Triple", True),
        ("AttributeError: 'NoneType' object has no attribute 'upper'", False),
        ("AssertionError: NameError not raised", False),
        ("assert 5 == 4", False),
    ],
)
def test_a_report_tells_whether_a_test_failed_only_because_a_name_was_missing(message, is_missing):
    def run(status, said=""):
        return TestRun(run_id="r", exited_with_0=not said, results=(TestResult("t", "t.py", status, 0, said),))

    base, work = run("failed", message).tree_result, run("passed").tree_result
    verdict = judge_command(CommandResults(base=base, work=work))
    assert verdict.nameless == (("t.py::t",) if is_missing else ())
