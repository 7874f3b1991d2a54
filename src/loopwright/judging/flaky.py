"""Which tests are flaky, by all known runs on the base, and what more runs could tell. Pure.

Only the base makes a test flaky. A run on the work never does.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from loopwright.judging.verdict import (
    FAILED,
    PASSED,
    WHOLE_COMMAND,
    CommandResults,
    CommandVerdict,
    Problem,
    TreeResult,
    file_of,
)
from loopwright.wording.catalogue import few

# Further runs that show which tests are flaky: on the base, and on the work for a test that fails there.
REPEATS = 2
# The status of a test whose failure says nothing.
_DISTURBED = "disturbed"


def with_known_runs(results: CommandResults, runs: Iterable[TreeResult]) -> CommandResults:
    """The results with the flaky tests by these runs on the base; their names are those of the base."""
    runs = tuple(runs)
    flaky = flaky_tests(runs)
    return replace(results, flaky=flaky, unstable=unstable_tests(runs) - flaky)


def flaky_tests(runs: Iterable[TreeResult]) -> frozenset[str]:
    """The tests that failed in a run on the same tree, the base, and did not fail in each run that has them."""
    ended = [run for run in runs if run.ended]
    failed, others = set[str](), set[str]()
    for test in frozenset[str]().union(*(run.tests for run in ended)):
        for run in ended:
            if run.has(test) and run.tests.get(test) != _DISTURBED:
                (failed if run.is_failing(test) else others).add(test)
    flaky = failed & others
    if not failed | others and len({run.exited_with_0 for run in ended}) > 1:
        flaky.add(WHOLE_COMMAND)
    return frozenset(flaky)


def unstable_tests(runs: Iterable[TreeResult]) -> frozenset[str]:
    """The tests that a run on the base lacks, although it has other tests of the same file."""
    ended = [run.tests for run in runs if run.ended]
    files = [{file_of(test) for test in tests} for tests in ended]
    return frozenset(
        test
        for test in frozenset[str]().union(*ended)
        if any(file_of(test) in known and test not in tests for known, tests in zip(files, ended, strict=True))
    )


def only_passes(run: TreeResult) -> TreeResult:
    """A run that other runs may have disturbed: its failures do not count, but the run has these tests.

    A file that could not be loaded says nothing about its tests.
    """
    kept = {test: status for test, status in run.tests.items() if status != FAILED or "::" in test}
    tests = {test: _DISTURBED if status == FAILED else status for test, status in kept.items()}
    return replace(run, tests=tests, ended=run.ended and (bool(tests) or run.exited_with_0))


def without(run: TreeResult, tests: frozenset[str]) -> TreeResult:
    """The run without these tests."""
    return replace(run, tests={test: status for test, status in run.tests.items() if test not in tests})


def may_be_flaky(results: CommandResults, verdict: CommandVerdict) -> bool:
    """Whether more runs on the base could change the verdict: tests that prove or refute the work may be flaky."""
    if not results.base.ended:
        return False
    if {Problem.TESTS_BROKEN, Problem.TESTS_FAILING} & verdict.problems.keys():
        return True
    if Problem.COMMAND_FAILED in verdict.problems:
        return results.base.exited_with_0 and not results.base.tests
    return verdict.proves and any(results.base.is_failing(test) for test in verdict.proving)


def doubtful_on_base(results: CommandResults, verdict: CommandVerdict) -> frozenset[str]:
    """The tests of the base that may be flaky; the whole command without a report. Empty: more runs tell nothing."""
    if not may_be_flaky(results, verdict):
        return frozenset()
    # New tests are not on the base.
    known = {test for test in (*verdict.doubtful, *verdict.proving) if results.base.has(test)}
    return frozenset(known or {WHOLE_COMMAND}) - results.flaky


def needs_another_run(results: CommandResults, verdict: CommandVerdict) -> bool:
    """Whether one more run on the work may excuse a flaky test that fails there.

    The run with the new tests does not excuse a test: they may influence it. But if the test passes in that run and
    fails without them, more runs tell whether that is chance.
    """
    if not verdict.fails(results.flaky):
        return False
    failing = results.flaky.intersection(verdict.doubtful)
    with_new = results.new_on_work
    is_mixed = with_new is not None and any(with_new.tests.get(test) == PASSED for test in failing)
    return len(results.repeated) < (2 * REPEATS if is_mixed else REPEATS)


def flaky_sentence(tests: Iterable[str]) -> str:
    """Names the flaky tests; empty without any."""
    names = few(tuple(test or "the test command" for test in tests))
    return f"flaky: {names} (both results on the base)" if names else ""
