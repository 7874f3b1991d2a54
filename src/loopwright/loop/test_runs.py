"""The result of the test commands on one tree. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

import msgspec

from loopwright.evidence.model import Evidence, StepRecord
from loopwright.judging.flaky import only_passes
from loopwright.judging.reports.model import LineMarks, Status, TestReport, TestResult
from loopwright.judging.runners.table import SELECTING
from loopwright.judging.runners.trials import Trial
from loopwright.judging.verdict import FAILED, SILENT, TreeResult

COMMAND = "the test command"
SUITE = "tests"
NO_TEST = "the test command ran no test"
# The digests of two compared files, by their paths.
Pairs = Mapping[tuple[str, str], tuple[str, str]]
# The name of a run on the work without its doubtful changes.
WITHOUT_DOUBTFUL = "without-doubtful-changes"
# The name of a run of changed tests on the source of the base.
CHANGED_TESTS = "changed-tests-on-base"


class TestRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the test command: how it ended, and what its report says of each test."""

    # pytest would collect every class of this name.
    __test__: ClassVar[bool] = False

    run_id: str
    exited_with_0: bool
    # Whether the command came to its own end: it started, had time, and no signal ended it.
    ended: bool = True
    # Whether it was ended because its time was over.
    timed_out: bool = False
    # Whether its runners found no test, and the exit codes of its commands: see `as_without_tests`.
    ran_no_test: bool = False
    exit_codes: tuple[int, ...] = ()
    # Empty without a report.
    results: tuple[TestResult, ...] = ()
    # Why the report can't be trusted.
    gaps: tuple[str, ...] = ()
    # The runners that reported, with their versions, and the reporters that were left out.
    runners: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    # What the tests changed in the state of their processes; None if that is not known.
    state: tuple[str, ...] | None = None
    # Whether the run was made for other work, and counts here because nothing that its results depend on changed.
    is_of_other_work: bool = False
    # Whether another run may have disturbed this run: see `known_results`.
    ran_beside: bool = False
    coverage: float | None = None
    # Which lines ran, if a coverage report tells.
    lines: LineMarks | None = None
    duration_ms: float = 0
    message: str = ""
    # The end of the command's output.
    output: str = ""
    # Files of the project that the tests changed while they ran, and files they left that steer other programs.
    rewritten: tuple[str, ...] = ()
    # Files that the commands wrote and compared with each other.
    compared: Pairs = {}

    @property
    def findings(self) -> tuple[TestResult, ...]:
        """Each test; the command itself without a report. A reason to doubt the report is a failure with a name."""
        if self.ran_no_test and self.exited_with_0:
            return (TestResult(COMMAND, SUITE, "skipped", self.duration_ms, NO_TEST),)
        shown = tuple(result.stored() for result in self.results) or (self._command(),)
        doubts = [TestResult("the report", SUITE, "failed", 0, gap) for gap in self.gaps]
        if all(result.status == "skipped" for result in shown):
            doubts.append(TestResult("all tests were skipped", SUITE, "failed", 0, "nothing was shown by any test"))
        if not self.exited_with_0 and not any(result.status == "failed" for result in (*shown, *doubts)):
            doubts.append(TestResult(COMMAND, SUITE, "failed", 0, self.message))
        return (*shown, *doubts)

    def as_without_tests(self, base: TestRun) -> TestRun:
        """The same; a run that found no test and ended just as the base did has not failed.

        pytest exits with 5 then. Another program of the command may do so, too: for that the base is the control.
        """
        is_same = self.ran_no_test and base.ran_no_test and self.exit_codes == base.exit_codes
        return msgspec.structs.replace(self, exited_with_0=True) if is_same else self

    def as_trial(self) -> Trial:
        """The run as one that decides which reporters are left out."""
        return Trial(
            without=frozenset(self.without),
            exited_with_0=self.exited_with_0,
            has_report=bool(self.results or self.runners),
            has_failures=any(result.status == "failed" for result in self.results),
            output=self.output,
        )

    @property
    def passed(self) -> bool:
        """Whether the command exited with 0 and its report has no failure."""
        return self.exited_with_0 and not any(result.status == "failed" for result in self.findings)

    @property
    def tree_result(self) -> TreeResult:
        """The run as the judge reads it."""
        ended = self.ended and not self.gaps
        found = self.by_id
        tests = {name: result.status for name, result in found.items()}
        return TreeResult(
            run_id=self.run_id, exited_with_0=self.exited_with_0, ended=ended, timed_out=self.timed_out, tests=tests,
            state=self.state, nameless=frozenset(name for name, result in found.items() if _misses_name(result)),
        )  # fmt: skip

    @property
    def on_base(self) -> TreeResult:
        """The run on the base as it shows which tests are flaky."""
        return only_passes(self.tree_result) if self.ran_beside else self.tree_result

    @property
    def by_id(self) -> dict[str, TestResult]:
        """Each test by its id."""
        return TestReport(self.results).by_id

    @property
    def can_select(self) -> bool:
        """Whether all runners that reported can leave out test files."""
        return _can_select(self.runners)

    def reports_on(self, file: str) -> bool:
        """Whether the report has a test of this file, or the file itself because it could not be loaded."""
        return _reports_on(self.by_id, file)

    def fails_as(self, base: TestRun) -> bool:
        """Whether no test fails that passed on the base: then no other run caused a failure."""
        failed = [test for test, status in self.tree_result.tests.items() if status == FAILED]
        return self.passed or (bool(failed) and all(map(base.tree_result.is_failing, failed)))

    def _command(self) -> TestResult:
        if self.exited_with_0:
            return TestResult(COMMAND, SUITE, "passed", self.duration_ms)
        return TestResult(COMMAND, SUITE, "failed", self.duration_ms, self.message)


# How runners of Python, JavaScript and Go say that a name or a module is missing. None in place of an object says more.
_MISSING = re.compile(
    r"^(?:E\s+)?(?:ImportError|ModuleNotFoundError|NameError|ReferenceError)\b"
    r"|^(?:E\s+)?AttributeError: (?!'NoneType').*has no attribute"
    r"|\bCannot find module\b|\bdoes not provide an export named\b|\bis not a function\b|\bundefined: \w",
    re.MULTILINE,
)


def _misses_name(result: TestResult) -> bool:
    return result.status == FAILED and _MISSING.search(result.error_message) is not None


def _can_select(runners: tuple[str, ...]) -> bool:
    return bool(runners) and {runner.partition(" ")[0] for runner in runners} <= SELECTING


def _reports_on(tests: Iterable[str], file: str) -> bool:
    module = file.removesuffix(".py").replace("/", ".")
    return bool({name.partition("::")[0] for name in tests} & {file, module})


def files_of(tests: Iterable[str]) -> tuple[str, ...]:
    """The files of tests; empty if a test does not name its file."""
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    return tuple(files) if all(file.endswith(".py") for file in files) else ()


def can_select(evidence: Evidence) -> bool:
    """Whether all steps of a run reported, by runners that can leave out test files."""
    return all(_can_select(tuple(runner.text for runner in step.runners)) for step in evidence.steps_of_plan)


def reported(evidence: Evidence, files: tuple[str, ...]) -> tuple[str, ...]:
    """The files of which a run reports a test, or that they could not be loaded."""
    tests = [test.id.text for step in evidence.steps for test in step.tests]
    return tuple(file for file in files if _reports_on(tests, file))


def report_of(steps: Iterable[StepRecord]) -> TestReport:
    """The report of recorded steps: the name and the status of each test, without traces."""
    steps = list(steps)
    known = [step.state for step in steps if step.state is not None]
    return TestReport(
        tuple(result for step in steps for result in _results(step)),
        tuple(gap.text for step in steps for gap in step.gaps),
        tuple(runner.text for step in steps for runner in step.runners),
        tuple(sorted({name.text for state in known for name in state})) if known else None,
    )


def with_silent_commands(report: TestReport, steps: list[StepRecord]) -> TestReport:
    """The report with a result for each command without a report, next to commands with one.

    Otherwise a failed test of one command would explain the failure of another.
    """
    silent = [step for step in steps if step.commands and not step.tests and not step.runners]
    if not report.results or not silent:
        return report
    results = tuple(
        TestResult(step.commands[0].command.text, SILENT, "passed" if step.outcome == "passed" else "failed")
        for step in silent
    )
    return msgspec.structs.replace(report, results=(*report.results, *results))


def _results(step: StepRecord) -> Iterator[TestResult]:
    names = {test.id.text for test in step.tests}
    for test in step.tests:
        # A repeated test has a number, which `by_id` gives again.
        first = test.id.text.rpartition(" #")[0]
        suite, _, name = (first if first in names else test.id.text).rpartition("::")
        yield TestResult(name, suite, msgspec.convert(test.status, Status))


def result_of_step(evidence: Evidence, step_id: str) -> TreeResult:
    """What a step of a recorded run said, as the judge reads it."""
    step = next((step for step in evidence.steps if step.id == step_id), None)
    if step is None:
        return TreeResult(run_id=evidence.run_id, exited_with_0=False, ended=False)
    return TreeResult(
        run_id=evidence.run_id,
        exited_with_0=step.outcome == "passed",
        ended=step.came_to_its_end and not step.gaps,
        timed_out=step.timed_out,
        tests={test.id.text: test.status for test in step.tests},
        state=tuple(name.text for name in step.state) if step.state is not None else None,
    )
