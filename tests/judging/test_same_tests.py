"""Tests that only moved or got another name."""

from __future__ import annotations

import pytest

from loopwright.judging.same_tests import moved_files, new_name, old_name, with_new_names
from loopwright.judging.scope import FileChange, TreeEntry
from loopwright.judging.verdict import FAILED, PASSED, CommandResults, TreeResult, judge_command


def test_a_file_moved_if_an_added_file_has_its_content():
    entry = TreeEntry("100644", "blob")
    deleted = [FileChange("tests/a.py", entry, None), FileChange("tests/b.py", entry, None)]
    assert moved_files(deleted, [FileChange("tests/c.py", None, entry)]) == {"tests/a.py": "tests/c.py"}


@pytest.mark.parametrize("form", ["tests/{}.py::TestA::test_x[1]", "tests.{}.TestA::test_x", "tests/{}.py"])
@pytest.mark.parametrize(("now", "accepts"), [(PASSED, True), (FAILED, False), (None, False)])
def test_the_same_test_must_pass_under_its_new_name(form, now, accepts):
    base = TreeResult(exited_with_0=True, tests={form.format("a"): PASSED, "tests/aa.py::test": PASSED})
    work = {"tests/aa.py::test": PASSED} | ({form.format("b"): now} if now else {})
    results = CommandResults(base=base, work=TreeResult(exited_with_0=accepts, tests=work))
    verdict = judge_command(with_new_names(results, {"tests/a.py": "tests/b.py"}))
    assert verdict.accepts is accepts


@pytest.mark.parametrize(
    ("names", "test", "now"),
    [
        ({"a.js::adds": "a.js::sums"}, "a.js::adds", "a.js::sums"),
        ({"a.js::adds": "a.js::sums"}, "a.js::adds/subtracts", "a.js::adds/subtracts"),
        ({"x::TestA": "x::TestB"}, "x::TestA/case_1", "x::TestB/case_1"),
        ({"x::TestA": "x::TestB"}, "x::TestAll", "x::TestAll"),
        ({"t.py::test_a": "u.py::test_b"}, "t.py::test_a[1]", "u.py::test_b[1]"),
    ],
)
def test_parts_of_a_renamed_test_have_its_new_name(names, test, now):
    assert (new_name(test, names), old_name(now, names)) == (now, test)
