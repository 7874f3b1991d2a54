"""What the test command said about one tree, and what differs between two trees. Pure."""

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

    # pytest takes every class of this name for tests of its own.
    __test__: ClassVar[bool] = False

    run_id: str
    exited_with_0: bool
    # Empty without a report.
    results: tuple[TestResult, ...] = ()
    # What keeps the report from being believed.
    gaps: tuple[str, ...] = ()
    coverage: float | None = None
    duration_ms: float = 0
    message: str = ""
    # The end of what the command printed.
    output: str = ""

    @property
    def findings(self) -> tuple[TestResult, ...]:
        """Each test; the command itself without a report. A reason to doubt the report is a failure with a name."""
        shown = self.results or (self._command(),)
        doubts = [TestResult("the report", SUITE, "failed", 0, gap) for gap in self.gaps]
        if all(one.status == "skipped" for one in shown):
            doubts.append(TestResult("all tests were skipped", SUITE, "failed", 0, "nothing was shown by any test"))
        if not self.exited_with_0 and not any(one.status == "failed" for one in (*shown, *doubts)):
            doubts.append(TestResult(COMMAND, SUITE, "failed", 0, self.message))
        return (*shown, *doubts)

    @property
    def passed(self) -> bool:
        """The command decides, and an exit code of 0 does not outweigh a failure in its report."""
        return self.exited_with_0 and not any(one.status == "failed" for one in self.findings)

    def _command(self) -> TestResult:
        if self.exited_with_0:
            return TestResult(COMMAND, SUITE, "passed", self.duration_ms)
        return TestResult(COMMAND, SUITE, "failed", self.duration_ms, self.message)


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The project's tests on the base and on the work; `broken` are those that passed before the work only."""

    base: TestRun
    work: TestRun
    broken: tuple[TestResult, ...] = ()

    @property
    def decides(self) -> bool:
        """Whether anything passed on the base: what failed there already can't be broken by the work."""
        return self.base.passed or any(one.status == "passed" for one in self.base.results)


def compare(base: TestRun, work: TestRun) -> Comparison:
    """What the work broke: tests by their names where both runs have a report, else the command as a whole."""
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
    """Tests that ran on the base, whatever they said there, and are missing or skipped on the work."""
    ran_now = {_key(one) for one in work if one.status != "skipped"}
    suites = {one.suite for one in work}
    lost = (
        one for one in base if one.status != "skipped" and _key(one) not in ran_now and not _names_a_file(one, suites)
    )
    return tuple(dict.fromkeys(name_of(one) for one in lost))


def name_of(test: TestResult) -> str:
    """A test as people find it: with its suite, where that says more."""
    return f"{test.suite}::{test.test_name}" if test.suite else test.test_name


def _broken(base: tuple[TestResult, ...], work: tuple[TestResult, ...]) -> tuple[TestResult, ...]:
    """A name may be there several times (a test that is repeated): then each of its passes counts."""
    before = Counter(_key(one) for one in base if one.status == "passed")
    now = Counter(_key(one) for one in work if one.status == "passed")
    others = {_key(one): one for one in work if one.status != "passed"}
    return tuple(_now(key, others.get(key)) for key, passes in before.items() if now[key] < passes)


def _now(key: tuple[str, str], found: TestResult | None) -> TestResult:
    suite, name = key
    if found is None:
        return TestResult(name, suite, "failed", 0, "passed before your work and is missing now")
    if found.status == "skipped":
        return TestResult(name, suite, "failed", 0, "passed before your work and is skipped now")
    return replace(found, error_message=f"passed before your work and fails now: {found.error_message}")


def _failures(run: TestRun) -> str:
    named = [f"{name_of(one)}: {one.error_message}" for one in run.results if one.status == "failed"]
    return "\n".join(named[:10]) or run.output or run.message


def _names_a_file(test: TestResult, suites: set[str]) -> bool:
    """A failure on the base that is no test: a file that could not be loaded, and has tests of its own now."""
    name = test.test_name
    return test.status == "failed" and any(suite == name or suite.startswith(f"{name}.") for suite in suites)


def _key(test: TestResult) -> tuple[str, str]:
    return test.suite, test.test_name
