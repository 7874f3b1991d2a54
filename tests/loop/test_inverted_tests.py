"""What runs with changed tests say: tests of Go, whose ids name a package, and commands with many expectations."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from loopwright.judging.controls.model import ControlOutcome
from loopwright.judging.verdict import CommandVerdict, Grade, TreeResult
from loopwright.loop import silent_commands
from loopwright.loop.inverted_tests import InvertedTests

TEST = 'package a\nimport "testing"\nfunc TestF(t *testing.T) { if F() != 1 { t.Fatal() } }\n'


@pytest.mark.parametrize(
    ("tests", "expected"),
    [
        ({"x/a::TestF": "failed"}, ControlOutcome.FAILED),
        ({"x/a::TestF": "passed"}, ControlOutcome.PASSED),
        # The package could not be built.
        ({"x/a": "failed"}, ControlOutcome.UNALTERED),
    ],
)
def test_a_go_test_counts_if_it_ran(tmp_path, tests, expected):
    (tmp_path / "a_test.go").write_text(TEST)
    verdict = CommandVerdict(proving=("x/a::TestF",))
    inverted = InvertedTests()
    assert inverted.add("check", "go test ./...", verdict, ("a_test.go",)) == "go test ./..."
    inverted.before_steps(SimpleNamespace(place=SimpleNamespace(repo=tmp_path)))
    assert "F() != 1 {" not in (tmp_path / "a_test.go").read_text()
    assert inverted.outcome("check", TreeResult(exited_with_0=False, tests=tests), verdict) is expected


@pytest.mark.parametrize(
    ("tests", "timed_out", "expected"),
    [
        ({"test_a.py::test_f": "failed"}, False, ControlOutcome.FAILED),
        ({"test_a.py::test_f": "passed"}, False, ControlOutcome.PASSED),
        # The file could not be loaded.
        ({"test_a.py": "failed"}, False, ControlOutcome.FAILED),
        # The runner crashed before the test, or has no report at all.
        ({"test_a.py::test_g": "failed"}, False, ControlOutcome.UNALTERED),
        ({}, False, ControlOutcome.UNALTERED),
        ({}, True, ControlOutcome.FAILED),
    ],
)
def test_a_test_without_a_result_did_not_fail(tmp_path, tests, timed_out, expected):
    (tmp_path / "test_a.py").write_text("from a import f\n\ndef test_f():\n    assert f() == 1\n")
    verdict = CommandVerdict(proving=("test_a.py::test_f",), grade=Grade.TESTS)
    inverted = InvertedTests()
    assert inverted.add("check", "python3 -m pytest", verdict, ("test_a.py",)) == "python3 -m pytest"
    inverted.before_steps(SimpleNamespace(place=SimpleNamespace(repo=tmp_path)))
    result = TreeResult(exited_with_0=False, ended=bool(tests), timed_out=timed_out, tests=tests)
    assert inverted.outcome("check", result, verdict) is expected
    assert inverted.controlled(verdict.proving).unaltered == (
        verdict.proving if expected is ControlOutcome.UNALTERED else ()
    )


@pytest.mark.parametrize(("seconds", "runs", "untried"), [(60.0, 24, {}), (-1.0, 1, {"check": 11})])
def test_each_expectation_of_a_command_changes_unless_there_is_no_time(tmp_path, monkeypatch, seconds, runs, untried):
    monkeypatch.setattr(silent_commands, "_SHORTEST_S", seconds)
    names = [f"check_{number:02}.py" for number in range(12)]
    for name in names:
        (tmp_path / name).write_text("from app import one\nassert one() == 1\n")
    inverted, verdict = InvertedTests(), CommandVerdict()
    texts = {"check": inverted.add("check", " && ".join(f"python3 {name}" for name in names), verdict, tuple(names))}
    ran = 0
    while texts:
        inverted.before_steps(SimpleNamespace(place=SimpleNamespace(repo=tmp_path)))
        outcome = inverted.outcome("check", TreeResult(exited_with_0=False), verdict)
        texts, ran = inverted.again(), ran + 1
    assert (outcome, ran, inverted.untried) == (ControlOutcome.FAILED, runs, untried)
