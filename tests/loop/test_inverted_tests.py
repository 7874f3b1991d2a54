"""What runs with changed tests say: tests of Go, whose ids name a package, and commands with many expectations."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from loopwright.judging.controls.model import ControlOutcome
from loopwright.judging.verdict import CommandVerdict, TreeResult
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
