"""What a command proves with changes to protected files, and what the changes may do to tests."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from loopwright.judging.changed_tests import with_missing_tests
from loopwright.judging.protected_verdict import ProtectedFiles, added_tests, judge_with_protected, with_changed_tests
from loopwright.judging.verdict import CommandResults, Problem, TreeResult

P, F, S = "passed", "failed", "skipped"
CHANGED = ProtectedFiles(paths=frozenset(["t.py"]), tests=frozenset(["t.py"]))


def ids(ok=True, ended=True, **tests):
    return TreeResult(
        exited_with_0=ok, ended=ended, tests={name.replace("_", "::"): row for name, row in tests.items()}
    )


def tree(ok=True, ended=True, **tests):
    return TreeResult(exited_with_0=ok, ended=ended, tests={f"t.py::{name}": status for name, status in tests.items()})


def names(*tests):
    return tuple(f"t.py::{test}" for test in tests)


@pytest.mark.parametrize("before", [S, P])
def test_a_test_that_is_skipped_in_a_changed_test_file_is_neither_new_nor_broken(before):
    base, work, whole = tree(False, a=F, old=before), tree(False, a=F, old=S), tree(a=P, old=S)
    verdict = judge_with_protected(CommandResults(base=base, work=work), whole, CHANGED, work)
    assert verdict.accepts
    assert verdict.proving == names("a")


def test_a_failing_test_that_is_skipped_in_a_changed_test_file_does_not_pass():
    base, whole = tree(False, a=F, b=P), tree(a=S, b=P)
    verdict = judge_with_protected(CommandResults(base=base, work=base), whole, CHANGED, base)
    assert Problem.TESTS_FAILING in verdict.problems


BASE = ids(x_TestA=P, x_TestB=P, x_TestC=F)
NOT_BUILT = ids(ok=False, x=F, y_TestD=P)
SILENT = TreeResult(exited_with_0=False)
GO = ProtectedFiles(paths=frozenset(["a_test.go"]), tests=frozenset(["a_test.go"]))
NO_TEST = ProtectedFiles(paths=frozenset(["Makefile"]))


@pytest.mark.parametrize(
    ("without", "files", "is_by_changes"),
    [
        (ids(x_TestA=P, x_TestB=P, x_TestC=P), GO, True),
        (ids(ok=False, x_TestA=P, x_TestB=F, x_TestC=P), GO, True),
        # The work alone removes or skips the test.
        (ids(x_TestA=P, x_TestC=P), GO, False),
        (ids(x_TestA=P, x_TestB=S, x_TestC=P), GO, False),
        # The work can't be built without the changed tests.
        (NOT_BUILT, GO, True),
        (SILENT, GO, True),
        (ids(ok=False, ended=False, x_TestA=P), GO, True),
        (None, GO, True),
        # No test changed: a file of settings leaves tests out.
        (ids(x_TestA=P, x_TestB=P, x_TestC=P), NO_TEST, False),
    ],
)
@pytest.mark.parametrize("now", [None, S])
def test_a_test_that_runs_without_the_changes_only_was_removed_or_skipped_by_them(without, files, is_by_changes, now):
    whole = ids(x_TestA=P, x_TestC=P, **({"x_TestB": now} if now else {}))
    verdict = judge_with_protected(CommandResults(base=BASE, work=without or whole), whole, files, without)
    assert verdict.accepts is is_by_changes
    assert (*verdict.deleted, *verdict.skipped) == (("x::TestB",) if is_by_changes else ())
    assert verdict.before == 2


def test_a_run_without_any_result_does_not_count_as_deleted_tests():
    verdict = judge_with_protected(CommandResults(base=BASE, work=BASE), SILENT, GO, BASE)
    assert Problem.REPORT_MISSING in verdict.problems


def test_a_failing_test_that_changes_remove_is_named_too():
    whole = ids(x_TestA=P, x_TestB=P, x_TestNew=P)
    verdict = judge_with_protected(CommandResults(base=BASE, work=BASE, new_on_work=BASE), whole, GO, BASE)
    assert (verdict.removed, verdict.deleted, verdict.appeared) == (("x::TestC",), (), ("x::TestNew",))
    lines = with_missing_tests({"b_test.go": "skips 1 test: TestS"}, ["b_test.go", "a_test.go"], [], [verdict])
    assert lines == {
        "b_test.go": "skips 1 test: TestS",
        "a_test.go": "tests that are missing with the changes of tests: x::TestC; "
        "tests that only these changes have: x::TestNew",
    }


def test_tests_that_changes_skip_are_named():
    verdict = judge_with_protected(CommandResults(base=BASE, work=BASE), ids(x_TestA=S, x_TestB=P), GO, BASE)
    lines = with_missing_tests({"a_test.go": "known"}, ["a_test.go"], [], [verdict])
    assert "known; " in lines["a_test.go"]
    assert "tests that are skipped with the changes of tests: x::TestA" in lines["a_test.go"]
    assert with_missing_tests({}, [], [], [verdict]) == {}


@pytest.mark.parametrize(
    ("test", "without", "is_needed"),
    [
        ("x::TestNew", BASE, True),
        ("x::TestNew", ids(x_TestNew=P), False),
        ("x::TestNew", None, True),
        ("t.py::test_new", None, True),
        # A new file of tests, which a person need not sign.
        ("other.py::test_new", None, False),
        ("x::TestA", BASE, False),
    ],
)
def test_an_added_test_needs_a_run_on_the_source_of_the_base(test, without, is_needed):
    whole = TreeResult(exited_with_0=True, tests={test: P})
    added = added_tests(CommandResults(base=BASE, work=BASE), whole, CHANGED.tests, without)
    assert added == ((test,) if is_needed else ())


@pytest.mark.parametrize(
    ("whole", "runs", "added"),
    [
        (tree(a=P), [], None),
        (tree(a=P, b=F), [], None),
        # Only a failure must repeat.
        (tree(a=P, b=P), [P], P),
        (tree(a=P, b=P), [F, F, F], F),
        (tree(a=P, b=P), [F, F, P], P),
    ],
)
def test_an_added_test_fails_on_the_base_if_it_fails_in_each_of_three_runs(whole, runs, added):
    left = [{"C": tree(a=P, b=status), "D": tree()} for status in runs]
    results = {"C": CommandResults(base=tree(a=P), work=tree(a=P)), "D": CommandResults(base=tree(), work=tree())}
    found = with_changed_tests(results, {"C": whole, "D": tree()}, CHANGED.tests, lambda: left.pop(0))
    on_base = found["C"].changed_on_base
    assert (on_base and on_base.tests["t.py::b"]) == added
    assert found["D"].changed_on_base is None
    assert left == []


@pytest.mark.parametrize(
    ("test", "sources", "is_signed"),
    [
        ("x::TestB", (b"func TestB(t", b""), True),
        ("x::TestB/case_1", (b"func TestB(t",), True),
        ("byes", (b"fn byes()",), True),
        ("x::TestB", (b"func TestA(t",), False),
        ("x::TestB", None, True),
        # A test of another file, which later work may have removed.
        ("other.py::test_b", (b"def test_b(): ...",), False),
        ("a.test.js::b", None, False),
    ],
)
def test_signed_changes_stand_for_missing_tests_that_they_had_only(test, sources, is_signed):
    base = TreeResult(exited_with_0=True, tests={"x::TestA": P, test: P})
    files = replace(CHANGED, sources=sources)
    verdict = judge_with_protected(CommandResults(base=base, work=BASE), ids(x_TestA=P), files, None)
    assert verdict.accepts is is_signed
