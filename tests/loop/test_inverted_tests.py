"""What a run with changed tests says about tests of Go, whose ids name a package."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from loopwright.judging.controls.model import ControlOutcome
from loopwright.judging.verdict import CommandVerdict, TreeResult
from loopwright.loop.inverted_tests import InvertedTests

TEST = 'package a\nimport "testing"\nfunc TestF(t *testing.T) { if F() != 1 { t.Fatal() } }\n'


@pytest.mark.parametrize(
    ("tests", "expected"),
    [
        ({"x/a::TestF": "failed"}, ControlOutcome.FAILED),
        ({"x/a::TestF": "passed"}, ControlOutcome.PASSED),
        # The package could not be built.
        ({"::x/a": "failed"}, ControlOutcome.UNALTERED),
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
