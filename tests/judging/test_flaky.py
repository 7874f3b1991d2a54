"""Which tests are flaky, by all known runs on the base."""

from __future__ import annotations

import pytest

from loopwright.judging.flaky import (
    doubtful_on_base,
    flaky_sentence,
    flaky_tests,
    needs_another_run,
    only_passes,
    unstable_tests,
    with_known_runs,
)
from loopwright.judging.verdict import CommandResults, Problem, TreeResult, judge_command

P, F, S, X = "passed", "failed", "skipped", "xfailed"
A = frozenset({"t.py::a"})


def tree(ok=True, ended=True, **tests):
    return TreeResult(exited_with_0=ok, ended=ended, tests={f"t.py::{name}": status for name, status in tests.items()})


NOT_LOADED = TreeResult(exited_with_0=False, tests={"t.py": F})


@pytest.mark.parametrize(
    ("runs", "flaky"),
    [
        ([tree(False, a=F, b=P), tree(a=P, b=P)], A),
        ([tree(a=P), tree(a=P), tree(False, a=F)], A),
        ([tree(False, a=F), tree(a=S)], A),
        ([tree(False, a=F), tree(a=X)], A),
        ([tree(a=P), NOT_LOADED], A),
        ([tree(False, a=F), tree(False, a=F)], frozenset()),
        ([tree(a=P), tree(a=S)], frozenset()),
        ([tree(False, a=F), tree(b=P)], frozenset()),
        ([tree(False, a=F), tree(ended=False, a=P)], frozenset()),
        ([tree(a=P), only_passes(tree(False, a=F))], frozenset()),
        ([tree(False, a=F), only_passes(tree(False, a=P, b=F))], A),
        ([tree(), tree(False)], frozenset({""})),
        ([tree(), only_passes(tree(False))], frozenset()),
        ([tree(False), only_passes(tree())], frozenset({""})),
    ],
)
def test_a_test_is_flaky_if_it_failed_on_the_base_and_did_not_fail_in_each_run(runs, flaky):
    assert flaky_tests(runs) == flaky
    assert flaky_tests(reversed(runs)) == flaky


class CountedTests(dict[str, str]):
    """Tests that count how often all of them are looked at."""

    looks = 0

    def items(self):
        self.looks += 1
        return super().items()


def test_tests_that_a_run_lacks_are_not_compared_with_each_other():
    missing, failing = ({f"t{n}.py::test_{name}": F for n in range(30)} for name in "ab")
    runs = [TreeResult(exited_with_0=False, tests=CountedTests(tests)) for tests in (missing, failing)]
    assert flaky_tests(runs) == frozenset()
    assert all(run.tests.looks <= 1 for run in runs)


@pytest.mark.parametrize(
    ("failed", "tests"),
    [
        ("a/t.py", ["a/t.py::x", "a/t.py::A::x[b/c.d]"]),
        ("a", ["a/t.py::x", "a.t.A::x"]),
        ("a.t", ["a/t.py::x", "a.t.A::x", "a.t::x", "top/a/t.py::x"]),
        ("t", ["a/t.py::x", "t.A::x"]),
        ("a/t.py::A", ["a/t.py::A::x"]),
    ],
)
def test_a_test_fails_if_its_file_or_module_could_not_be_loaded(failed, tests):
    tree = TreeResult(exited_with_0=False, tests={failed: F, "b.py::y": P})
    assert [test for test in tests if not tree.is_failing(test)] == []
    others = ["b.py::y", "aa/t.py::x", "b/tt.py::x", "a_t.A::x", "x::a/t.py", "b.py::a.t"]
    assert [test for test in others if tree.is_failing(test)] == (["aa/t.py::x"] if failed == "t" else [])


def test_a_test_that_not_every_run_on_the_base_has_is_unstable_and_never_new():
    runs = [tree(a=P, at_noon=P), tree(a=P)]
    assert unstable_tests(runs) == {"t.py::at_noon"}
    assert unstable_tests([tree(False, a=F, b=P), only_passes(tree(False, a=F, b=P))]) == frozenset()
    assert unstable_tests([tree(a=P), only_passes(NOT_LOADED)]) == frozenset()
    noon = tree(False, at_noon=F)
    results = CommandResults(base=runs[0], work=runs[1], new_on_base=noon, new_on_work=tree(a=P, at_noon=P))
    assert judge_command(with_known_runs(results, runs)).proving == ()


BASES = {
    "passed, then failed": (tree(a=P, b=P), tree(False, a=F, b=P)),
    "failed, then passed": (tree(False, a=F, b=P), tree(a=P, b=P)),
}


@pytest.mark.parametrize("runs", BASES.values(), ids=BASES)
def test_a_flaky_test_proves_nothing_and_needs_one_pass_in_three_runs_on_the_work(runs):
    passing = with_known_runs(CommandResults(base=runs[0], work=tree(a=P, b=P)), runs)
    assert judge_command(passing).proving == ()
    failing = with_known_runs(CommandResults(base=runs[0], work=tree(False, a=F, b=P)), runs)
    assert not judge_command(failing).accepts
    repeats = []
    for again in (F, F, P):
        results = CommandResults(base=runs[0], work=failing.work, flaky=failing.flaky, repeated=tuple(repeats))
        assert needs_another_run(results, judge_command(results)) == (len(repeats) < 2)
        repeats.append(tree(a=again))
    excused = CommandResults(base=runs[0], work=failing.work, flaky=failing.flaky, repeated=(tree(a=P),))
    assert judge_command(excused).accepts
    assert not needs_another_run(excused, judge_command(excused)), "one pass is enough"


def test_counts_leave_flaky_tests_out():
    runs = (tree(a=P, b=P), tree(False, a=F, b=P))
    verdict = judge_command(with_known_runs(CommandResults(base=runs[0], work=tree(a=P, b=P)), runs))
    assert (verdict.kept, verdict.before, verdict.flaky) == (1, 1, ("t.py::a",))


@pytest.mark.parametrize(("with_new", "most"), [(P, 4), (F, 2)])
def test_a_pass_with_the_new_tests_does_not_excuse_a_flaky_test_but_allows_two_more_runs(with_new, most):
    base, work = tree(a=P), tree(False, a=F)
    for count in range(most + 1):
        results = CommandResults(
            base=base, work=work, new_on_base=tree(a=P), new_on_work=tree(a=with_new, n=P), flaky=A,
            repeated=(tree(False, a=F),) * count,
        )  # fmt: skip
        verdict = judge_command(results)
        assert Problem.TESTS_BROKEN in verdict.problems
        assert needs_another_run(results, verdict) == (count < most)


def test_only_the_base_makes_a_test_flaky():
    steady = CommandResults(base=tree(a=P), work=tree(False, a=F), repeated=(tree(a=P),))
    assert not judge_command(steady).accepts
    assert not needs_another_run(steady, judge_command(steady))


@pytest.mark.parametrize(
    ("base", "work", "flaky", "doubtful"),
    [
        (tree(a=P, b=P), tree(False, a=F, b=P), frozenset(), {"t.py::a"}),
        (tree(False, a=F, b=P), tree(a=P, b=P), frozenset(), {"t.py::a"}),
        (tree(a=P, b=P), tree(False, a=F, b=P), A, set()),
        (tree(a=P, b=P), tree(a=P, b=P), frozenset(), set()),
        (tree(), tree(False), frozenset(), {""}),
        (tree(), tree(False), frozenset({""}), set()),
    ],
    ids=["broken", "proves", "known as flaky", "no doubt", "command", "flaky command"],
)
def test_the_base_runs_again_only_for_tests_in_doubt(base, work, flaky, doubtful):
    results = CommandResults(base=base, work=work, flaky=flaky)
    assert doubtful_on_base(results, judge_command(results)) == doubtful


def test_the_sentence_names_each_flaky_test():
    assert flaky_sentence(()) == ""
    assert flaky_sentence(("t.py::a", "")) == "flaky: t.py::a, the test command (both results on the base)"
