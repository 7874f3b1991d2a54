"""Reads the test reports and the coverage of a run. A test in two files counts once, with the worse result."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from loopwright.kernel.files import shown
from loopwright.loop.reports.coverage import add_up, read_coverage
from loopwright.loop.reports.find import FoundReports, find_coverage_reports, find_test_reports
from loopwright.loop.reports.junit import ReportSpace, read_junit
from loopwright.loop.reports.model import Coverage, ForeignReport, Status, TestReport, TestResult, UnreadableReport
from loopwright.loop.reports.numbers import moment_before_run
from loopwright.redaction.redactor import Redactor
from loopwright.sandbox.port import Sandbox


class RunReports:
    """Observes a run: finds the reports that are newer than its start, and masks their secrets."""

    def __init__(self, reports: str, coverage: str, redactor: Redactor) -> None:
        self._reports = reports
        self._coverage = coverage
        self._redactor = redactor
        self._since = 0
        self.results: tuple[TestResult, ...] = ()
        # Why the reports can't be trusted.
        self.gaps: tuple[str, ...] = ()
        self.coverage: float | None = None

    def before_steps(self, sandbox: Sandbox) -> None:
        """Note the time: a report that exists already is not of this run."""
        self._since = moment_before_run(sandbox.place.repo)

    def after_steps(self, sandbox: Sandbox) -> None:
        """Read the reports that are newer."""
        repo = sandbox.place.repo
        tests = find_test_reports(repo, self._reports, self._since)
        if tests.paths:
            try:
                report = read_test_reports(tests)
            except UnreadableReport as problem:
                self.gaps = (self._clean(str(problem)),)
            else:
                self.gaps, self.results = report.gaps, tuple(map(self._masked, report.results))
        covered = find_coverage_reports(repo, self._coverage, self._since)
        if covered.paths:
            with suppress(UnreadableReport):  # the coverage decides nothing
                self.coverage = read_coverage_reports(covered).percent

    def _masked(self, result: TestResult) -> TestResult:
        return TestResult(
            self._clean(result.test_name), self._clean(result.suite), result.status, result.duration_ms,
            self._clean(result.error_message), self._clean(result.stack_trace),
        )  # fmt: skip

    def _clean(self, text: str) -> str:
        return self._redactor.clean(text).text


# A shard skips tests that another shard runs: a result counts more than a skip.
_WEIGHT: dict[Status, int] = {"skipped": 0, "passed": 1, "failed": 2}


def merge(reports: Iterable[TestReport]) -> TestReport:
    """All results. The same name twice in *one* file is two tests (parameters, reruns); in two files it is one."""
    results: dict[tuple[str, str, int], TestResult] = {}
    gaps: dict[str, None] = {}
    for report in reports:
        gaps.update(dict.fromkeys(report.gaps))
        seen: Counter[tuple[str, str]] = Counter()
        for result in report.results:
            name = (result.suite, result.test_name)
            key = (*name, seen[name])
            seen[name] += 1
            if key not in results or _WEIGHT[result.status] > _WEIGHT[results[key].status]:
                results[key] = result
    return TestReport(tuple(results.values()), tuple(gaps))


_CHUNK = 256 * 1024
_TOO_MANY = "too many files to search; give a more precise path to the reports"


def read_test_reports(files: FoundReports) -> TestReport:
    """All files as one report. A file that can't be read is a gap; `UnreadableReport` if none can be read.

    XML of other kinds next to a report is skipped: a coverage file in the same folder is not a gap.
    """
    room = ReportSpace()
    reports: list[TestReport] = []
    problems: list[UnreadableReport] = []
    for path in files.paths:
        try:
            reports.append(_named(read_junit(_chunks(path), room), path))
        except UnreadableReport as problem:
            problems.append(_in_file(problem, path))
    if not reports:
        raise problems[0] if problems else _none_of(files)
    gaps = [str(problem) for problem in problems if not isinstance(problem, ForeignReport)]
    if files.cut_short:
        gaps.append(_TOO_MANY)
    return merge((*reports, TestReport((), tuple(gaps))))


def read_coverage_reports(files: FoundReports) -> Coverage:
    """All files as one coverage. Each file must be readable, because a part would be a wrong number."""
    if not files.paths:
        raise _none_of(files)
    if files.cut_short:
        raise UnreadableReport(_TOO_MANY)
    parts = []
    for path in files.paths:
        try:
            parts.append(read_coverage(_chunks(path)))
        except UnreadableReport as problem:
            raise _in_file(problem, path) from problem
    return add_up(parts)


def _none_of(files: FoundReports) -> UnreadableReport:
    if not files.stale:
        return UnreadableReport("there is no report")
    return UnreadableReport(f"no report is from this run; {shown(files.stale[0].name)} is from an earlier run")


def _named(report: TestReport, path: Path) -> TestReport:
    return TestReport(report.results, tuple(f"{shown(path.name)}: {gap}" for gap in report.gaps))


def _in_file(problem: UnreadableReport, path: Path) -> UnreadableReport:
    return type(problem)(f"{shown(path.name)}: {problem}")


def _chunks(path: Path) -> Iterator[bytes]:
    """A file's bytes. A pipe or a device is refused instead of waited for."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb", buffering=0) as stream:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise UnreadableReport("not a file")
            while chunk := stream.read(_CHUNK):
                yield chunk
    except OSError as refusal:
        raise UnreadableReport(f"can't be read: {refusal.strerror or type(refusal).__name__}") from refusal
