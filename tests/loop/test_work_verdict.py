"""What the results of a validation count and name."""

from __future__ import annotations

from typing import cast

from loopwright.judging.reports.model import TestResult
from loopwright.judging.verdict import CommandResults, TreeResult, judge_command
from loopwright.loop.split_work import SplitWork
from loopwright.loop.test_runs import TestRun
from loopwright.loop.work_verdict import WorkVerdict

P, F = "passed", "failed"


def run(run_id, **tests):
    results = tuple(TestResult(name, "t.py", status) for name, status in tests.items())
    return TestRun(run_id=run_id, exited_with_0=F not in tests.values(), results=results, runners=("pytest 9",))


def judged(base, verified, earlier, flaky=()):
    work = TreeResult(run_id="earlier", exited_with_0=False, tests={f"t.py::{name}": s for name, s in earlier.items()})
    results = CommandResults(
        base=base.tree_result, work=work, new_on_base=run("new", n=F).tree_result, new_on_work=verified.tree_result,
        flaky=frozenset(flaky), repeated=(work, work) if flaky else (),
    )  # fmt: skip
    split = cast("SplitWork", None)  # no file matters here
    return WorkVerdict(split=split, base=base, verified=verified, verdict=judge_command(results))


def test_a_test_that_fails_only_without_the_new_tests_is_counted_once_and_names_that_run():
    seen = judged(run("base", a=P, b=P), run("validate", a=P, b=P, n=P), {"a": F, "b": P})
    assert [(result.test_name, result.status) for result in seen.results] == [("b", P), ("n", P), ("a", F)]
    assert seen.results[-1].error_message == "passed before your work and does not pass now: see run earlier"
    assert seen.about_flaky == ()


def test_a_flaky_test_that_never_passes_on_the_work_is_named_as_flaky():
    seen = judged(run("base", a=P, b=P), run("validate", a=P, b=P, n=P), {"a": F, "b": P}, flaky=["t.py::a"])
    assert seen.results[-1].error_message == "passed and failed before your work, and never passes now: see run earlier"
    assert seen.about_flaky == ("flaky: t.py::a (both results on the base)",)
