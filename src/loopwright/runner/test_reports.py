"""Observes a run of tests: makes the runners report, reads what they wrote in the sandbox, and masks its secrets."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec

from loopwright.evidence.model import StepRecord, TestRecord
from loopwright.judging.reports.find import FoundReports, find_coverage_reports, find_test_reports
from loopwright.judging.reports.junit import ReportSpace
from loopwright.judging.reports.model import LineMarks, TestReport, TestResult, UnreadableReport
from loopwright.judging.reports.numbers import moment_before_run
from loopwright.judging.reports.read import merge, read_coverage_reports, read_test_reports
from loopwright.judging.runners.output import read_output
from loopwright.judging.runners.sessions import read_report
from loopwright.judging.runners.support_files import install_support
from loopwright.judging.runners.table import FALLBACKS, SELECTION, reporting_variables
from loopwright.kernel.files import clear_path, restore_access
from loopwright.redaction.redactor import Redactor
from loopwright.runner.request import Observer
from loopwright.sandbox.port import Changes, Sandbox

# In the temporary folder: outside the project, and at the same path in every sandbox that has mounts.
_SUPPORT = "loopwright-support"
_REPORTS = "loopwright-reports-"
_LONGEST_LINE = 64 * 1024


def prepare_reporting(sandbox: Sandbox) -> None:
    """Put the support files into a sandbox in which nothing runs."""
    support = sandbox.place.tmp / _SUPPORT
    # An earlier turn may have put a link there: nothing is ever written through it.
    clear_path(support)
    support.mkdir()
    install_support(support)


def new_reports_folder(sandbox: Sandbox, only: tuple[str, ...] = ()) -> Path:
    """A folder for the reports of one step or turn. Its name is random: it tells nothing about its purpose.

    `only` are the test files to run: runners that know how leave the others out.
    """
    folder = sandbox.place.tmp / f"{_REPORTS}{secrets.token_hex(6)}"
    restore_access(folder.parent)
    folder.mkdir()
    if only:
        (folder / SELECTION).write_text(json.dumps(only), encoding="utf-8")
    return folder


def variables_inside(
    folder: Path, environment: Mapping[str, str], without: frozenset[str] = FALLBACKS
) -> dict[str, str]:
    """The variables that make test runners report to this folder, for a process with this environment."""
    tmp = Path(environment["TMPDIR"])
    return reporting_variables(tmp / _SUPPORT, tmp / folder.name, environment, without)


class RunReports(Observer):
    """Observes a run: asks each step for reports, and reads those that are newer than its start."""

    def __init__(
        self,
        reports: str,
        coverage: str,
        redactor: Redactor,
        without: frozenset[str] | Mapping[str, frozenset[str]] = FALLBACKS,
        inside: Observer | None = None,
        only: tuple[str, ...] = (),
    ) -> None:
        self._reports = reports
        self._coverage = coverage
        self._redactor = redactor
        # Reporters to leave out: the same for all steps, or by the id of the step.
        self._without = without
        # Looks at the same sandbox.
        self._inside = inside
        self._only = only
        self._since = self._began = 0
        self._new_folder: Callable[[], Path] | None = None
        self._folders: dict[str, Path] = {}
        # By the id of the step.
        self.steps: dict[str, TestReport] = {}
        self.coverage: float | None = None
        # Which lines ran, if a coverage report tells.
        self.lines: LineMarks | None = None

    @property
    def report(self) -> TestReport:
        """The reports of all steps as one."""
        return merge(self.steps.values())

    def before_steps(self, sandbox: Sandbox) -> None:
        """Note the time: a report that exists already is not of this run."""
        prepare_reporting(sandbox)
        if self._inside is not None:
            self._inside.before_steps(sandbox)
        self._new_folder = partial(new_reports_folder, sandbox, self._only)
        self._since = self._began = moment_before_run(sandbox.place.repo)

    def before_step(self, sandbox: Sandbox, step: str) -> None:
        """Prepare the step as for every run."""
        if self._inside is not None:
            self._inside.before_step(sandbox, step)

    def variables(self, step: str, environment: Mapping[str, str]) -> Mapping[str, str]:
        """The variables that make test runners report to the folder of the step."""
        if self._new_folder is None:
            raise LookupError(step)  # no sandbox is open
        if step not in self._folders:
            self._folders[step] = self._new_folder()
        return variables_inside(self._folders[step], environment, self._left_out(step))

    def _left_out(self, step: str) -> frozenset[str]:
        return self._without.get(step, FALLBACKS) if isinstance(self._without, Mapping) else self._without

    def after_step(self, sandbox: Sandbox, record: StepRecord, folder: Path) -> StepRecord:
        """Read the reports of the step, its JUnit files, and results in its output."""
        repo = sandbox.place.repo
        reports = self._folders.get(record.id)
        own = self.masked(read_report(reports, (repo, sandbox.view.project))) if reports is not None else TestReport(())
        more = self._inside.results_of_step(sandbox) if self._inside is not None else ()
        report = merge(
            (
                self._with_junit(own, find_test_reports(repo, self._reports, self._since)),
                *(_printed(folder / str(command.log)) for command in record.commands),
                self.masked(TestReport(more)),
            )
        )
        self.steps[record.id] = report
        self._since = moment_before_run(repo)
        clean = self._redactor.clean
        return msgspec.structs.replace(
            record,
            tests=[TestRecord(id=clean(name), status=result.status) for name, result in report.by_id.items()],
            gaps=[clean(gap) for gap in report.gaps],
            runners=[clean(runner) for runner in report.runners],
            state=[clean(name) for name in report.state] if report.state is not None else None,
            left_out=sorted(left_out) if (left_out := self._left_out(record.id)) != FALLBACKS else [],
        )

    def after_steps(self, sandbox: Sandbox) -> Changes | None:
        """Read the coverage."""
        covered = find_coverage_reports(sandbox.place.repo, self._coverage, self._began)
        if covered.paths:
            with suppress(UnreadableReport):  # the coverage decides nothing
                coverage = read_coverage_reports(covered)
                self.coverage, self.lines = coverage.percent, coverage.lines
        return self._inside.after_steps(sandbox) if self._inside is not None else None

    def _with_junit(self, own: TestReport, files: FoundReports) -> TestReport:
        if not files.paths:
            return own
        try:
            return self.masked(read_test_reports(files, own))
        except UnreadableReport as problem:
            return TestReport((), (self._clean(str(problem)),))

    def masked(self, report: TestReport) -> TestReport:
        """The report without secrets."""
        results = tuple(map(self._masked, report.results))
        state = tuple(map(self._clean, report.state)) if report.state is not None else None
        return TestReport(results, tuple(map(self._clean, report.gaps)), tuple(map(self._clean, report.runners)), state)

    def _masked(self, result: TestResult) -> TestResult:
        return TestResult(
            self._clean(result.test_name), self._clean(result.suite), result.status, result.duration_ms,
            self._clean(result.error_message), self._clean(result.stack_trace),
        )  # fmt: skip

    def _clean(self, text: str) -> str:
        return self._redactor.clean(text).text


def _printed(log: Path) -> TestReport:
    """The results in the output of a command, which is masked already."""
    with log.open(encoding="utf-8", errors="replace") as lines:
        return read_output(iter(partial(lines.readline, _LONGEST_LINE), ""), ReportSpace())
