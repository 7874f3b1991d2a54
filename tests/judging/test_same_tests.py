"""Tests that only moved or got another name."""

from __future__ import annotations

import pytest

from loopwright.judging.same_tests import moved_files, renamed_tests, with_new_names
from loopwright.judging.scope import FileChange, TreeEntry
from loopwright.judging.verdict import FAILED, PASSED, CommandResults, TreeResult, judge_command

OLD = (
    b"import a\n\n\ndef test_one():\n    assert a.f() == 1\n\n\n"
    b"class TestB:\n    def test_two(self):\n        assert a.g()\n"
)


@pytest.mark.parametrize(
    ("new", "names"),
    [
        (OLD.replace(b"test_one", b"test_first"), {"t.py::test_one": "t.py::test_first"}),
        (OLD.replace(b"test_two", b"test_2"), {"t.py::TestB::test_two": "t.py::TestB::test_2"}),
        (OLD.replace(b"import a\n", b"import a  # a comment\n"), {}),
        (OLD.replace(b"== 1", b"== 2"), None),
        (OLD.replace(b"test_one", b"one"), None),
        (OLD.replace(b"import a", b"import b as a"), None),
        (OLD.replace(b"def test_one", b"@skip\ndef test_one"), None),
        (OLD + b"\n\ndef test_three():\n    pass\n", None),
        (OLD.replace(b"class TestB", b"class B"), None),
        (b"def test_one(:", None),
    ],
)
def test_a_file_has_the_same_tests_if_only_their_names_differ(new, names):
    assert renamed_tests("t.py", OLD, new) == names


def test_a_second_test_of_one_name_hides_the_first():
    old = b"def test_a():\n    assert f(1)\n\n\ndef test_b():\n    assert f(2)\n"
    assert renamed_tests("t.py", old, old.replace(b"test_b", b"test_a")) is None


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
