"""The result of the test command on one tree, and the difference between two trees. Pure."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

import msgspec
from msgspec.structs import replace

from loopwright.loop.reports.model import TestResult

COMMAND = "the test command"
SUITE = "tests"


class TestRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the test command: how it ended, and what its report says of each test."""

    # pytest would collect every class of this name.
    __test__: ClassVar[bool] = False

    run_id: str
    exited_with_0: bool
    # Empty without a report.
    results: tuple[TestResult, ...] = ()
    # Why the report can't be trusted.
    gaps: tuple[str, ...] = ()
    coverage: float | None = None
    duration_ms: float = 0
    message: str = ""
    # The end of the command's output.
    output: str = ""

    @property
    def findings(self) -> tuple[TestResult, ...]:
        """Each test; the command itself without a report. A reason to doubt the report is a failure with a name."""
        shown = self.results or (self._command(),)
        doubts = [TestResult("the report", SUITE, "failed", 0, gap) for gap in self.gaps]
        if all(result.status == "skipped" for result in shown):
            doubts.append(TestResult("all tests were skipped", SUITE, "failed", 0, "nothing was shown by any test"))
        if not self.exited_with_0 and not any(result.status == "failed" for result in (*shown, *doubts)):
            doubts.append(TestResult(COMMAND, SUITE, "failed", 0, self.message))
        return (*shown, *doubts)

    @property
    def passed(self) -> bool:
        """Whether the command exited with 0 and its report has no failure."""
        return self.exited_with_0 and not any(result.status == "failed" for result in self.findings)

    def _command(self) -> TestResult:
        if self.exited_with_0:
            return TestResult(COMMAND, SUITE, "passed", self.duration_ms)
        return TestResult(COMMAND, SUITE, "failed", self.duration_ms, self.message)


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The project's tests on the base and on the work; `broken` tests passed only before the work."""

    base: TestRun
    work: TestRun
    broken: tuple[TestResult, ...] = ()

    @property
    def decides(self) -> bool:
        """Whether a test passed on the base: the work can't break a test that failed there."""
        return self.base.passed or any(result.status == "passed" for result in self.base.results)


def compare(base: TestRun, work: TestRun) -> Comparison:
    """What the work broke: tests by name if both runs have a report, else the command as a whole."""
    broken: tuple[TestResult, ...] = ()
    if base.results and not work.results:
        why = f"the test command wrote a report before your work, and none now: {work.output or work.message}"
        broken = (TestResult(COMMAND, SUITE, "failed", 0, why),)
    elif base.results:
        broken = _broken(base.results, work.results)
    if not broken and base.passed and not work.passed:
        why = f"the test command passed before your work and fails now: {_failures(work)}"
        broken = (TestResult(COMMAND, SUITE, "failed", 0, why),)
    return Comparison(base=base, work=work, broken=broken)


def lost_tests(base: tuple[TestResult, ...], work: tuple[TestResult, ...]) -> tuple[str, ...]:
    """Tests that ran on the base, with any result, and are missing or skipped on the work."""
    ran_now = {_key(test) for test in work if test.status != "skipped"}
    suites = {test.suite for test in work}
    lost = (
        test
        for test in base
        if test.status != "skipped" and _key(test) not in ran_now and not _names_a_file(test, suites)
    )
    return tuple(dict.fromkeys(name_of(test) for test in lost))


def name_of(test: TestResult) -> str:
    """The name of a test, with its suite if it has one."""
    return f"{test.suite}::{test.test_name}" if test.suite else test.test_name


def _broken(base: tuple[TestResult, ...], work: tuple[TestResult, ...]) -> tuple[TestResult, ...]:
    """A name may occur several times (a repeated test). Then each pass counts."""
    before = Counter(_key(test) for test in base if test.status == "passed")
    now = Counter(_key(test) for test in work if test.status == "passed")
    others = {_key(test): test for test in work if test.status != "passed"}
    return tuple(_now(key, others.get(key)) for key, passes in before.items() if now[key] < passes)


def _now(key: tuple[str, str], result: TestResult | None) -> TestResult:
    suite, name = key
    if result is None:
        return TestResult(name, suite, "failed", 0, "passed before your work and is missing now")
    if result.status == "skipped":
        return TestResult(name, suite, "failed", 0, "passed before your work and is skipped now")
    return replace(result, error_message=f"passed before your work and fails now: {result.error_message}")


def _failures(run: TestRun) -> str:
    named = [f"{name_of(test)}: {test.error_message}" for test in run.results if test.status == "failed"]
    return "\n".join(named[:10]) or run.output or run.message


def _names_a_file(test: TestResult, suites: set[str]) -> bool:
    """Whether a failure on the base is a file that could not be loaded, and that has tests now."""
    name = test.test_name
    return test.status == "failed" and any(suite == name or suite.startswith(f"{name}.") for suite in suites)


def _key(test: TestResult) -> tuple[str, str]:
    return test.suite, test.test_name
