"""The work must leave the assertions of earlier tests their effect."""

from __future__ import annotations

import pytest

from loopwright.judging.controls.probe_records import (
    ProbedRun,
    Weakened,
    read_records,
    weakened_each_time,
    weakened_tests,
)

POSITION = "t.py:3:4"


def run(outcomes: str, result: str) -> ProbedRun:
    lines = [f'["3:4", "t.py::test_a", "{outcome}"]\n' for outcome in outcomes.split()]
    return ProbedRun(read_records("t.py", "".join(lines).encode()), {"t.py::test_a": result})


@pytest.mark.parametrize(
    ("base", "work", "weakened"),
    [
        (("failed", "passed"), ("failed", "passed"), ""),
        (("failed", "passed"), ("passed", "passed"), "passing"),
        (("failed", "passed"), ("failed passed", "passed"), "passing"),
        (("failed passed", "passed"), ("passed", "passed"), ""),
        (("failed", "passed"), ("", "passed"), "unreached"),
        (("passed", "passed"), ("", "passed"), ""),
        (("sampled", "passed"), ("", "passed"), ""),
        (("sampled", "passed"), ("sampled passed", "passed"), "passing"),
        # Swallowed by the work, or never raised.
        (("raised", "failed"), ("raised", "passed"), "passing"),
        (("raised", "failed"), ("", "passed"), "unreached"),
        (("raised", "failed"), ("raised", "failed"), ""),
        (("raised", "passed"), ("raised", "passed"), ""),
        # A test that ended early did not come to its later assertions.
        (("failed", "failed"), ("", "failed"), ""),
        (("failed", "passed"), ("", "failed"), "not_comparable"),
        (("", "passed"), ("passed", "passed"), ""),
    ],
)
def test_only_a_lost_effect_weakens_a_test(base, work, weakened):
    found = weakened_tests(run(*base), run(*work))
    test = "t.py::test_a"
    expected = {
        "": Weakened(),
        "passing": Weakened(passing={test: (POSITION,)}),
        "unreached": Weakened(unreached={test: (POSITION,)}),
        "not_comparable": Weakened(not_comparable=(test,)),
    }
    assert found == expected[weakened]


def test_what_a_second_comparison_does_not_find_is_left_out():
    first = Weakened(passing={"a": ("1:0", "1:4"), "b": ("2:0",)}, unreached={"c": ("3:0",), "d": ("4:0",)})
    second = Weakened(passing={"a": ("1:4",)}, unreached={"c": ("3:4",), "d": ("4:0",)})
    assert weakened_each_time([first, second]) == Weakened(passing={"a": ("1:4",)}, unreached={"d": ("4:0",)})


def test_lines_that_are_no_records_are_left_out():
    content = b'["3:4", "t.py::a", "failed"]\n["3:4", "t.py::a", "perhaps"]\nnonsense\n\xff\n["3:4"'
    assert [record.test for record in read_records("t.py", content)] == ["t.py::a"]
