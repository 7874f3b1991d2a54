"""What happened to the tests of a changed file, by its syntax tree and by results."""

from __future__ import annotations

import pytest

from loopwright.judging.changed_tests import ChangedTestFile, changed_tests, with_control
from loopwright.judging.defined_tests.moved import TestFileChange, moves_of
from loopwright.judging.defined_tests.read import read_tests
from loopwright.judging.verdict import TreeResult

P, F, S = "passed", "failed", "skipped"
OLD = """\
import pytest


def test_a():
    assert a == 1


@pytest.mark.parametrize("n", [1, 2])
def test_b(n):
    assert b == n


class TestC:
    def test_c(self):
        assert c
"""


def moves(*files):
    return moves_of(
        TestFileChange(
            file.path,
            *(read_tests(file.path, side, file.package) if side else None for side in (file.before, file.after)),
        )
        for file in files
    )


def told(path, before, after, base, work, package=""):
    file = ChangedTestFile(path, before, after, package)
    return changed_tests(file, base, work, moves(file))


def tree(*, ended=True, **tests):
    ids = {"t_c": "TestC::test_c", "b1": "test_b[1]", "b2": "test_b[2]", "b3": "test_b[3]", "b4": "test_b[4]"}
    return TreeResult(
        exited_with_0=True,
        ended=ended,
        tests={f"tests/t.py::{ids.get(name, name)}": row for name, row in tests.items()},
    )


BASE = tree(test_a=P, b1=P, b2=P, t_c=P)
NOTHING = TreeResult(exited_with_0=False, ended=False)


@pytest.mark.parametrize(
    ("after", "work", "lines"),
    [
        (None, tree(), ["deleted 4 tests: test_a, test_b[1], test_b[2], TestC::test_c"]),
        (OLD.replace("a == 1", "True"), BASE, ["changed the body of 1 test: test_a"]),
        (OLD.replace("[1, 2]", "[1]"), tree(test_a=P, b1=P, t_c=P), [
            "deleted 1 test: test_b[2]", "changed the body of 1 test: test_b",
        ]),
        (OLD.replace("[1, 2]", "[1, 3, 4]"), tree(test_a=P, b1=P, b3=P, b4=P, t_c=P), [
            "changed the body of 1 test: test_b", "changed the rows of test_b: 1 gone, 2 new",
        ]),
        (
            OLD.replace("def test_a", "@pytest.mark.skip\ndef test_a"), tree(test_a=S, b1=P, b2=P, t_c=P),
            ["skips 1 test: test_a"],
        ),
        (OLD.replace("assert c", "pytest.skip()"), tree(test_a=P, b1=P, b2=P, t_c=S), ["skips 1 test: TestC::test_c"]),
        (OLD.replace("test_a", "test_z"), tree(test_z=P, b1=P, b2=P, t_c=P), ["renamed 1 test: test_a → test_z"]),
        (OLD.replace("test_b", "test_y"), TreeResult(exited_with_0=True, tests={
            "tests/t.py::test_a": P, "tests/t.py::test_y[1]": P, "tests/t.py::test_y[2]": P,
            "tests/t.py::TestC::test_c": P,
        }), ["renamed 1 test: test_b → test_y"]),
        (
            f"{OLD}\n\ndef test_new():\n    assert 1\n", tree(test_a=P, b1=P, b2=P, t_c=P, test_new=P),
            ["added 1 test: test_new"],
        ),
        (f"# a comment\n{OLD}", BASE, []),
        # A file that can't be loaded on the work lost no test.
        (
            f"import missing\n{OLD}",
            TreeResult(exited_with_0=False, tests={"tests/t.py": F}),
            ["changed code outside the test functions"],
        ),
        (OLD.replace("def test_a", "def other_a"), NOTHING, [
            "deleted 1 test: test_a", "changed code outside the test functions",
        ]),
    ],
)  # fmt: skip
def test_what_happened_to_the_tests_of_a_file(after, work, lines):
    found = told("tests/t.py", OLD.encode(), after.encode() if after is not None else None, BASE, work)
    assert list(found.lines) == lines


def test_results_tell_about_a_file_in_another_language():
    base = TreeResult(exited_with_0=True, tests={"a.spec.rb::adds": P, "a.spec.rb::divides": P})
    work = TreeResult(exited_with_0=True, tests={"a.spec.rb::adds": S, "a.spec.rb::is new": P})
    found = told("a.spec.rb", b"old", b"new", base, work)
    assert found.lines == ("missing 1 test: divides", "skips 1 test: adds", "added 1 test: is new")


NEW = f"{OLD}\n\ndef test_x():\n    assert 1\n\n\ndef test_y():\n    assert 2\n"


@pytest.mark.parametrize(
    ("on_base", "lines"),
    [
        (None, []),
        (tree(test_x=F, test_y=P, ended=False), []),
        (tree(test_x=F, test_y=P), [
            "added tests that fail on the source of the base and pass on the work: test_x",
            "added tests that pass on the source of the base, too, and prove nothing: test_y",
        ]),
        # The changed file can't be loaded on the base, because it imports what the work adds.
        (TreeResult(exited_with_0=False, tests={"tests/t.py": F}), [
            "added tests that fail on the source of the base and pass on the work: test_x, test_y",
        ]),
    ],
)  # fmt: skip
def test_only_a_run_on_the_base_tells_what_an_added_test_shows(on_base, lines):
    work = tree(test_a=P, b1=P, b2=P, t_c=P, test_x=P, test_y=P)
    file = ChangedTestFile("tests/t.py", OLD.encode(), NEW.encode())
    found = changed_tests(file, BASE, work, moves(file))
    assert list(with_control(file, found, on_base, work).lines) == ["added 2 tests: test_x, test_y", *lines]


def test_a_report_may_name_a_module_and_a_class_in_place_of_the_file():
    ids = ["tests.t.One::test_c", "tests.t.Two::test_c", "tests.t::test_a"]
    base = TreeResult(exited_with_0=True, tests=dict.fromkeys([*ids, "tests.to.One::test_c"], P))
    other = TreeResult(exited_with_0=True, tests={"tests.to.One::test_c": P})
    found = told("tests/t.py", OLD.encode(), None, base, other)
    assert found.lines == ("deleted 3 tests: One::test_c, Two::test_c, test_a",)


def test_words_about_tests_in_other_files_and_of_other_languages():
    moved = "import pytest\n\n\nclass TestC:\n    def test_c(self):\n        assert c\n"
    before = OLD.partition("class TestC")[0].encode()
    files = [ChangedTestFile("tests/t.py", OLD.encode(), before), ChangedTestFile("tests/u.py", None, moved.encode())]
    work = TreeResult(exited_with_0=True, tests={
        "tests/t.py::test_a": P, "tests/t.py::test_b[1]": P, "tests/t.py::test_b[2]": P, "tests/u.py::TestC::test_c": P,
    })  # fmt: skip
    lines = [changed_tests(file, BASE, work, moves(*files)).lines for file in files]
    assert lines == [("moved 1 test: TestC::test_c → tests/u.py::TestC::test_c",), ()]
    other = ChangedTestFile("tests/u.py", None, moved.replace("assert c", "assert 1").encode())
    (line,) = changed_tests(files[0], BASE, work, moves(files[0], other)).lines
    assert line == "moved and changed tests: TestC::test_c → tests/u.py::TestC::test_c"

    js = "test('adds', () => { ok(1) })\ntest('divides', () => { ok(2) })\n"
    base = TreeResult(exited_with_0=True, tests={"a.js::adds": P, "a.js::divides": P, "a.js::row 1": P})
    now = TreeResult(exited_with_0=True, tests={"a.js::sums": P})
    after = "beforeEach(() => {})\ntest('sums', () => { ok(1) })\n"
    assert told("a.js", js.encode(), after.encode(), base, now).lines == (
        "deleted 1 test: divides", "missing 1 test: row 1", "renamed 1 test: adds → sums",
        "changed code outside the test functions",
    )  # fmt: skip

    go = "package x\n\nfunc TestA(t *testing.T) { a() }\n\nfunc TestB(t *testing.T) { b() }\n"
    base = TreeResult(exited_with_0=True, tests={"x::TestA": P, "x::TestB": P, "x::TestB/one": P, "x::TestC": P})
    now = TreeResult(exited_with_0=True, tests={"x::TestNew": P, "x::TestB": S, "x::TestB/two": P})
    after = go.replace("TestA", "TestNew").replace("a()", "n()").replace("b()", "t.Skip()")
    assert told("a_test.go", go.encode(), after.encode(), base, now, "x").lines == (
        "deleted 2 tests: TestA, TestB/one", "skips 1 test: TestB", "added 2 tests: TestNew, TestB/two",
    )  # fmt: skip
