"""What a command proves, by its results on base and work."""

from __future__ import annotations

import pytest

from loopwright.judging.flaky import flaky_tests, unstable_tests
from loopwright.judging.verdict import (
    CommandResults,
    Grade,
    Problem,
    TreeResult,
    doubtful_tests,
    judge_command,
)

P, F, S, X = "passed", "failed", "skipped", "xfailed"


def tree(ok=True, ended=True, **tests):
    return TreeResult(exited_with_0=ok, ended=ended, tests={f"t.py::{name}": status for name, status in tests.items()})


def judged(base, work, **more):
    return judge_command(CommandResults(base=base, work=work, **more))


def names(*tests):
    return tuple(f"t.py::{test}" for test in tests)


def test_a_test_that_failed_and_passes_now_proves_the_work():
    verdict = judged(tree(False, a=P, b=F), tree(a=P, b=P))
    assert verdict.proves
    assert (verdict.grade, verdict.proving, verdict.kept, verdict.before) == (Grade.TESTS, names("b"), 1, 1)


def test_work_that_changes_no_result_is_accepted_and_proves_nothing():
    verdict = judged(tree(a=P), tree(a=P))
    assert verdict.accepts
    assert not verdict.proves


@pytest.mark.parametrize("now", [F, S, X, None])
def test_a_test_that_passed_must_pass_not_be_skipped_or_missing(now):
    verdict = judged(tree(a=P, b=P), tree(a=P, **({"b": now} if now else {})))
    assert verdict.problems == {Problem.TESTS_BROKEN: names("b")}


@pytest.mark.parametrize("now", [F, S, X, None])
def test_every_test_that_failed_must_pass(now):
    verdict = judged(tree(False, a=F, b=F), tree(False, a=P, **({"b": now} if now else {})))
    assert verdict.problems == {Problem.TESTS_FAILING: names("b")}


def test_named_tests_and_known_failures_narrow_what_must_pass():
    base, work = tree(False, a=F, b=F), tree(False, a=P, b=F)
    assert judged(base, work, named=names("a")).proves
    assert judged(base, work, known_failures=frozenset(names("b"))).proves
    assert not judged(tree(False, a=P), tree(a=P), named=names("a")).proves, "a named test must have failed"


def test_a_flaky_test_neither_proves_nor_breaks():
    flaky = frozenset(names("a"))
    assert not judged(tree(False, a=F, b=P), tree(a=P, b=P), flaky=flaky).proves
    broken = judged(tree(a=P, b=P), tree(False, a=F, b=P), flaky=flaky)
    assert broken.fails(flaky), "it never passes on the work"
    assert judged(tree(a=P, b=P), tree(False, a=F, b=P), flaky=flaky, repeated=(tree(a=P, b=P),)).accepts
    steady = judged(tree(a=P, b=P), tree(False, a=F, b=P), repeated=(tree(a=P, b=P),))
    assert not steady.accepts, "a test that flips on the work only is broken"


def test_flaky_is_what_flips_on_the_base():
    assert flaky_tests([tree(False, a=F, b=P), tree(a=P, b=P)]) == frozenset(names("a"))
    assert flaky_tests([tree(False, a=F), tree(ended=False, a=P)]) == frozenset()
    command = flaky_tests([tree(), tree(False)])
    assert not judged(tree(False), tree(), flaky=command).proves
    assert judged(tree(), tree(False), flaky=command, repeated=(tree(),)).accepts
    assert not judged(tree(), tree(False), flaky=command, repeated=(tree(False),)).accepts


def test_a_report_that_is_missing_or_incomplete_is_a_failure_whatever_the_exit_code():
    assert Problem.REPORT_MISSING in judged(tree(a=P), tree()).problems
    assert Problem.REPORT_INCOMPLETE in judged(tree(a=P), tree(ended=False, a=P)).problems


def test_a_base_that_did_not_come_to_its_end_counts_as_no_tests():
    verdict = judged(tree(False, ended=False, a=F), tree(a=P))
    assert verdict.accepts
    assert not verdict.proves
    assert not verdict.is_base_judged
    assert not judged(TreeResult(exited_with_0=False, ended=False), tree()).proves


def test_a_failed_command_whose_tests_all_pass_is_a_failure_unless_it_failed_before():
    assert Problem.COMMAND_FAILED in judged(tree(a=P), tree(False, a=P)).problems
    assert judged(tree(False, a=P), tree(False, a=P)).accepts
    assert judged(tree(False, a=F, b=F), tree(False, a=P, b=F), known_failures=frozenset(names("b"))).proves


def test_a_new_test_proves_only_if_it_fails_on_the_base():
    base, work = tree(a=P), tree(a=P)
    proves = judged(base, work, new_on_base=tree(False, a=P, n=F), new_on_work=tree(a=P, n=P))
    assert proves.proving == names("n")
    assert not judged(base, work, new_on_base=tree(a=P, n=P), new_on_work=tree(a=P, n=P)).proves
    assert not judged(base, work, new_on_base=tree(a=P), new_on_work=tree(a=P, n=P)).proves, "missing is not failing"
    failing = judged(base, work, new_on_base=tree(False, n=F), new_on_work=tree(False, a=P, n=F))
    assert failing.problems == {Problem.NEW_TESTS_FAILING: names("n")}
    skipped = judged(base, work, new_on_base=tree(n=S), new_on_work=tree(a=P, n=S))
    assert not skipped.proves


def test_a_new_test_whose_file_cannot_be_loaded_on_the_base_fails_there():
    not_loaded = TreeResult(exited_with_0=False, tests={"t.py": F})
    verdict = judged(tree(a=P), tree(a=P), new_on_base=not_loaded, new_on_work=tree(a=P, n=P))
    assert verdict.proving == names("n")


@pytest.mark.parametrize("name", ["t.py", "t"], ids=["its file", "the last part of its module"])
def test_a_file_that_could_not_be_loaded_stands_for_its_tests(name):
    base = TreeResult(exited_with_0=False, tests={name: F})
    assert judged(base, tree(a=P)).proving == names("a")
    assert judged(base, tree(False, a=P, b=F)).problems == {Problem.TESTS_FAILING: names("b")}
    assert judged(base, tree(False)).problems == {Problem.REPORT_MISSING: (), Problem.TESTS_FAILING: (name,)}


@pytest.mark.parametrize(
    ("name", "is_there"),
    [
        ("tests.unit.test_a", True), ("unit.test_a", True), ("test_a", True), ("tests", True), ("tests.unit", True),
        ("tests.unit.test_ab", False), ("it.test_a", False), ("unit", False), ("test", False), ("a", False),
    ],
)  # fmt: skip
def test_a_module_that_unittest_could_not_load_has_the_tests_of_its_file(name, is_there):
    on_base = TreeResult(exited_with_0=False, tests={name: F})
    test = "tests/unit/test_a.py::TestA::test_a"
    assert on_base.is_failing(test) is is_there


def test_new_tests_do_not_speak_for_the_old_tests():
    verdict = judged(tree(a=P), tree(False, a=F), new_on_base=tree(False, a=P, n=F), new_on_work=tree(a=P, n=P))
    assert verdict.problems == {Problem.TESTS_BROKEN: names("a")}


@pytest.mark.parametrize(
    ("base", "work", "accepts", "proves"),
    [(False, True, True, True), (True, True, True, False), (True, False, False, False), (False, False, False, False)],
)
def test_a_command_without_a_report_must_fail_before_and_pass_now(base, work, accepts, proves):
    verdict = judged(tree(base), tree(work))
    assert (verdict.accepts, verdict.proves) == (accepts, proves)


def test_a_command_without_a_report_that_passes_on_the_base_with_the_new_tests_proves_nothing():
    named = {"names_new_tests": True}
    assert judged(tree(False), tree(False), new_on_base=tree(False), new_on_work=tree(), **named).proves
    assert not judged(tree(False), tree(False), new_on_base=tree(), new_on_work=tree(), **named).proves


def test_a_command_without_a_report_may_need_new_tests_only_if_it_names_them():
    verdict = judged(tree(False), tree(False), new_on_base=tree(False), new_on_work=tree())
    assert verdict.problems == {Problem.COMMAND_FAILED: ()}
    assert judged(tree(False), tree(), new_on_base=tree(False), new_on_work=tree()).proves


def test_tests_that_are_all_skipped_say_nothing():
    assert judged(tree(a=S), tree(a=S)).problems == {Problem.NOTHING_RAN: ()}


def test_a_command_that_failed_before_is_not_broken_by_the_work_if_no_test_is_named():
    assert judged(tree(False), tree(False), named=()).accepts
    assert not judged(tree(), tree(False), named=()).accepts


def test_a_command_that_names_a_new_test_is_judged_with_that_test():
    missing = tree(False, ended=False)
    on_base = TreeResult(exited_with_0=False, tests={"t.py": F})
    verdict = judged(missing, missing, new_on_base=on_base, new_on_work=tree(a=P), names_new_tests=True)
    assert verdict.proves
    assert (verdict.proving, verdict.is_base_judged) == (names("a"), True)


def test_a_name_without_parameters_stands_for_the_test_with_each_of_them():
    base, work = tree(False, **{"a[1]": F, "a[2]": P, "b": F}), tree(False, **{"a[1]": P, "a[2]": P, "b": F})
    verdict = judged(base, work, named=names("a"))
    assert verdict.accepts
    assert verdict.proving == names("a[1]")


def test_a_report_that_appears_with_the_work_does_not_excuse_a_failed_command():
    assert judged(tree(False), tree(False, a=P)).problems == {Problem.COMMAND_FAILED: ()}


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([tree(a=P, b=P)], ()),
        ([tree(a=F, b=P), tree(a=P, b=P)], ()),
        ([tree(a=F, b=P), tree(a=F, b=F)], ("a",)),
        ([tree(ok=False), tree(ok=False)], ("a", "b")),
    ],
    ids=["none", "by chance", "one", "no report without them"],
)
def test_a_test_that_fails_twice_without_doubtful_changes_needs_them(runs, expected):
    silent = TreeResult(exited_with_0=True, tests={"commands::grep x README.md": P})
    base, work = tree(a=F, b=P), tree(a=P, b=P, new=P)
    left = iter(runs)
    found = doubtful_tests(
        {"1": base, "2": silent}, {"1": work, "2": silent}, lambda: {"1": next(left), "2": tree(ok=False)}
    )
    assert found == names(*expected)
    assert next(left, None) is None, "each run was needed"


@pytest.mark.parametrize(("counts_silent", "expected"), [(False, ()), (True, ("C",))])
def test_a_command_without_a_report_needs_doubtful_changes_only_if_tests_moved(counts_silent, expected):
    base, work = tree(ok=False), tree()
    assert doubtful_tests({"C": base}, {"C": work}, lambda: {"C": base}, counts_silent=counts_silent) == expected


def test_a_skipped_test_of_a_file_that_could_not_be_loaded_does_not_have_to_pass():
    base = TreeResult(exited_with_0=False, tests={"t.py": F})
    assert judged(base, tree(a=P, b=S)).proving == names("a")
    assert judged(base, tree(a=P, b=F)).problems == {Problem.TESTS_FAILING: names("b")}
    assert Problem.TESTS_FAILING in judged(base, tree(a=S)).problems


def test_a_test_that_not_every_run_on_the_base_has_does_not_count():
    base, again = tree(a=F, b1=P), tree(a=F, b2=P)
    assert unstable_tests((base, again)) == frozenset(names("b1", "b2"))
    assert unstable_tests((base, tree(a=F, b1=P))) == frozenset()
    assert unstable_tests((base, TreeResult(exited_with_0=False, tests={"u.py::a": P}))) == frozenset(), "other files"
    work = tree(a=P, b3=P)
    assert judged(base, work).problems == {Problem.TESTS_BROKEN: names("b1")}
    assert judged(base, work, unstable=unstable_tests((base, again))).proves


def test_a_new_test_that_is_skipped_does_not_block_and_proves_nothing():
    base, work = tree(ok=False, a=F), tree(a=P)
    seen = judged(base, work, new_on_base=tree(ok=False, a=F, n=S), new_on_work=tree(a=P, n=S))
    assert seen.accepts
    assert seen.proving == names("a")
