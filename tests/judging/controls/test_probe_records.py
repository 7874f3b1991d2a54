"""The work must leave the assertions of earlier tests their effect."""

from __future__ import annotations

import pytest

from loopwright.judging.controls.probe_records import (
    Assertions,
    as_results,
    cut_short,
    dead_proofs,
    read_records,
    swallowed_assertions,
    weakened_assertions,
    with_known_names,
)
from loopwright.judging.reports.model import TestReport

TEST = "t.py::test_a[x::y @ z]"
POSITION = "t.py:3:4"


def assertions(outcomes: str, *, ends: bool) -> Assertions:
    lines = [f'["3:4", "{TEST}", "{outcome}"]\n' for outcome in outcomes.split()]
    lines += [f'["end", "{TEST}", "failed"]\n'] if ends else []
    results = as_results(read_records("t.py", "".join(lines).encode()))
    return Assertions({name: result.status for name, result in TestReport(results).by_id.items()})


@pytest.mark.parametrize(
    ("base", "work", "is_weakened"),
    [
        (("failed", True), ("failed", True), False),
        (("failed", True), ("passed", True), True),
        (("failed", True), ("failed passed", True), True),
        (("failed passed", True), ("passed", True), False),
        (("passed", True), ("failed", True), False),
        (("failed", True), ("", True), True),
        (("passed", True), ("", True), False),
        (("sampled", True), ("", True), False),
        (("sampled", True), ("sampled passed", True), True),
        # Swallowed by the work, or never raised.
        (("raised", False), ("raised", True), True),
        (("raised", False), ("", True), True),
        (("raised", False), ("raised", False), False),
        (("raised", True), ("raised", True), False),
        # A test that ended early did not come to its later assertions.
        (("failed", False), ("", False), False),
        (("failed", True), ("", False), False),
        (("", True), ("passed", True), False),
    ],
)
def test_only_a_lost_effect_weakens_a_test(base, work, is_weakened):
    before, after = assertions(base[0], ends=base[1]), assertions(work[0], ends=work[1])
    assert weakened_assertions(before, after, {TEST}) == ({TEST: (POSITION,)} if is_weakened else {})


def test_other_tests_and_places_in_changed_files_do_not_count():
    before, after = assertions("failed", ends=True), assertions("", ends=True)
    assert weakened_assertions(before, after, {"t.py::test_b"}) == {}
    assert weakened_assertions(before, after, {TEST}, {"t.py"}) == {}


def test_an_assertion_is_a_result_of_the_run_with_its_place():
    record = b'["3:4", "t.py::A::test_a", "failed"]\n["3:4", "t.py::A::test_a", "raised"]\n["9:0", "", "passed"]\n'
    results = as_results(read_records("t.py", record))
    assert {result.id: result.status for result in results} == {
        "t.py::A::test_a @ t.py:3:4 raised": "failed",
        " @ t.py:9:0 passed": "passed",
    }


def test_results_of_tests_are_no_assertions():
    assert Assertions({"t.py::test_a": "passed", "t.py::test_a[1 @ 2]": "passed"}).outcomes == {}


def test_lines_that_are_no_records_are_left_out():
    content = b'["3:4", "t.py::a", "failed"]\n["3:4", "t.py::a", "perhaps"]\nnonsense\n\xff\n["3:4"'
    assert [record.test for record in read_records("t.py", content)] == ["t.py::a"]


SPANS = {"t.py": {"2:4": (2, 9), "3:4": (3, 5), "7:4": (7, 7)}}


def read(*records: str) -> Assertions:
    content = "".join(
        f'["{place}", "{TEST}", "{outcome}"]\n' for place, _, outcome in map(str.partition, records, " " * 9)
    )
    results = as_results(read_records("t.py", content.encode()))
    return Assertions({result.id: result.status for result in results})


@pytest.mark.parametrize(
    ("stop", "work", "is_dead"),
    [
        ("stop:4 failed", ["3:4 failed"], False),
        ("stop:4 failed", ["3:4 raised"], False),
        # Swallowed: the test went on to its end.
        ("stop:4 failed", ["3:4 raised", "end failed"], True),
        ("stop:4 failed", ["3:4 passed"], True),
        ("stop:4 failed", ["3:4 failed", "3:4:handled passed"], True),
        ("stop:4 failed", ["7:4 failed"], True),
        # There was no time for the assertion.
        ("stop:4 failed", ["7:4 failed", "stop:2 failed"], False),
        ("stop:4 failed", ["3:4 passed", "stop:9 failed"], True),
        ("stop:8 failed", ["2:4 failed"], False),
        # It failed outside all assertions.
        ("stop:12 failed", [], False),
        ("end failed", [], False),
    ],
)
def test_the_assertion_that_failed_before_must_be_reached_and_able_to_fail(stop, work, is_dead):
    found = dead_proofs(read(stop), read(*work), [TEST], SPANS)
    assert bool(found) == is_dead
    assert not is_dead or found == {TEST: ("t.py:3:4",)}


@pytest.mark.parametrize(
    ("base", "work", "is_cut_short"),
    [
        (["end failed"], ["end failed"], False),
        (["end failed"], [], True),
        (["end failed"], ["stop:4 failed"], True),
        (["end failed"], ["3:4 raised", "stop:4 failed"], False),
        (["stop:4 failed"], [], False),
    ],
)
def test_a_test_that_comes_to_its_end_on_the_base_only_says_nothing(base, work, is_cut_short):
    assert bool(cut_short(read(*base), read(*work), [TEST])) == is_cut_short


def test_a_subtest_of_go_may_have_another_name_in_each_run():
    tests = ["x/a.js::b > c/d", "t.py::test_a[x/y]", "example.org/x::TestA", "example.org/x::TestA/0xc00", "x::TestA/b"]
    assert with_known_names(tests, {"x::TestA/b"}) == (*tests[:3], "x::TestA/b")


@pytest.mark.parametrize(
    ("base", "work", "is_weakened"),
    [
        (["3:4 failed", "soft failed"], ["end failed"], True),
        (["3:4 failed", "soft failed"], [], False),
        (["3:4 failed", "soft failed"], ["3:4 failed", "end failed"], False),
        (["3:4 failed", "soft failed"], ["3:4 passed", "end failed"], True),
        (["3:4 raised", "soft failed"], ["3:4 raised", "end failed"], True),
        # Right work may leave out what is in a branch.
        (["3:4 branched", "soft failed"], ["end failed"], False),
        (["3:4 branched", "soft failed"], ["3:4 passed", "end failed"], True),
        (["3:4 branched", "3:4 failed", "soft failed"], ["end failed"], False),
    ],
)
def test_a_test_that_failed_before_keeps_its_later_assertions(base, work, is_weakened):
    found = weakened_assertions(read(*base), read(*work), {TEST})
    assert found == ({TEST: (POSITION,)} if is_weakened else {})


def test_the_assertion_by_which_a_test_ended_at_last_must_be_able_to_fail_too():
    base = read("stop:4 failed", "3:4 failed", "later:7 failed", "soft failed")
    assert dead_proofs(base, read("3:4 failed", "end failed"), [TEST], SPANS) == {TEST: ("t.py:7:4",)}
    assert dead_proofs(base, read("3:4 failed", "7:4 failed", "end failed"), [TEST], SPANS) == {}


@pytest.mark.parametrize(
    ("base", "work", "is_swallowed"),
    [
        ([], ["3:4 raised", "end failed"], True),
        ([], ["3:4 raised"], False),
        ([], ["3:4 failed", "end failed"], False),
        # It had no effect before, either, or another rule compares it.
        (["3:4 raised", "end failed"], ["3:4 raised", "end failed"], False),
    ],
)
def test_a_failure_that_does_not_fail_the_test_is_swallowed(base, work, is_swallowed):
    found = swallowed_assertions(read(*base), read(*work), [TEST])
    assert found == ({TEST: (POSITION,)} if is_swallowed else {})


def test_a_probe_of_javascript_may_catch_what_another_one_raises():
    records = b'["3:4", "a.test.js::greets", "raised"]\n["end", "a.test.js::greets", "failed"]\n'
    work = Assertions({result.id: result.status for result in as_results(read_records("a.test.js", records))})
    assert swallowed_assertions(read(), work, ["a.test.js::greets"]) == {}
