"""Reads test reports and coverage from files. A test in two files counts once, with the worse result."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from loopwright.judging.reports.coverage import add_up, read_coverage
from loopwright.judging.reports.find import FoundReports
from loopwright.judging.reports.junit import ReportSpace, read_junit
from loopwright.judging.reports.model import (
    TOO_MUCH_STATE,
    Coverage,
    ForeignReport,
    Status,
    TestReport,
    TestResult,
    UnreadableReport,
)
from loopwright.kernel.files import shown

# Names of changed state in one run.
_MOST_STATE = 10_000
# A shard skips tests that another shard runs: a result counts more than a skip.
_WEIGHT: dict[Status, int] = {"skipped": 0, "xfailed": 1, "xpassed": 2, "passed": 3, "failed": 4}


def limited_state(names: Iterable[str]) -> tuple[str, ...]:
    """Names of changed state in their order; a mark says if some are left out."""
    listed = sorted(set(names) - {TOO_MUCH_STATE})
    is_whole = len(listed) <= _MOST_STATE and TOO_MUCH_STATE not in names
    return tuple(listed) if is_whole else (*listed[:_MOST_STATE], TOO_MUCH_STATE)


def merge(reports: Iterable[TestReport]) -> TestReport:
    """All results. The same name twice in *one* file is two tests (parameters, reruns); in two files it is one."""
    results: dict[tuple[str, str, int], TestResult] = {}
    gaps: dict[str, None] = {}
    runners: dict[str, None] = {}
    state: set[str] | None = None
    for report in reports:
        if report.state is not None:
            state = (state or set()).union(report.state)
        gaps.update(dict.fromkeys(report.gaps))
        runners.update(dict.fromkeys(report.runners))
        seen: Counter[tuple[str, str]] = Counter()
        for result in report.results:
            name = (result.suite, result.test_name)
            key = (*name, seen[name])
            seen[name] += 1
            if key not in results or _WEIGHT[result.status] > _WEIGHT[results[key].status]:
                results[key] = result
    changed = limited_state(state) if state is not None else None
    return TestReport(tuple(results.values()), tuple(gaps), tuple(runners), changed)


_CHUNK = 256 * 1024
_NONE = TestReport(())
_TOO_MANY = "too many files to search; give a more precise path to the reports"


def read_test_reports(files: FoundReports, own: TestReport = _NONE) -> TestReport:
    """All files and our own report as one. A file that can't be read is a gap; `UnreadableReport` if none can be read.

    XML of other kinds next to a report is skipped: a coverage file in the same folder is not a gap. A file that only
    repeats our own report is skipped, too: its tests would count twice.
    """
    room = ReportSpace()
    known = _names_of(own)
    reports: list[TestReport] = []
    problems: list[UnreadableReport] = []
    for path in files.paths:
        try:
            reports.append(_named(read_junit(read_chunks(path), room), path))
        except UnreadableReport as problem:
            problems.append(_in_file(problem, path))
    if not reports and own == _NONE:
        raise problems[0] if problems else _none_of(files)
    reports = [report for report in reports if not _repeats(report, known)]
    gaps = [str(problem) for problem in problems if not isinstance(problem, ForeignReport)]
    if files.cut_short:
        gaps.append(_TOO_MANY)
    return merge((own, *reports, TestReport((), tuple(gaps))))


def _repeats(report: TestReport, known: set[tuple[str, Status]]) -> bool:
    """Whether each test of a file has a test of the same name and result in our own report."""
    return bool(report.results) and all((test.test_name, test.status) in known for test in report.results)


def _names_of(own: TestReport) -> set[tuple[str, Status]]:
    """The names that writers of JUnit files give to the tests of our own report."""
    known: set[tuple[str, Status]] = set()
    for test in own.results:
        file, _, group = test.suite.partition("::")
        groups = group.split(" > ") if group else []
        module = test.test_name.removesuffix(".py").replace("/", ".")
        names = {test.test_name, module, *(sign.join((*groups, test.test_name)) for sign in (" ", " > ", "."))}
        names.add(" > ".join((file, *groups, test.test_name)))
        known.update((name, test.stored().status) for name in names)
    return known


def read_coverage_reports(files: FoundReports) -> Coverage:
    """All files as one coverage. Each file must be readable, because a part would be a wrong number."""
    if not files.paths:
        raise _none_of(files)
    if files.cut_short:
        raise UnreadableReport(_TOO_MANY)
    parts = []
    for path in files.paths:
        try:
            parts.append(read_coverage(read_chunks(path)))
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


def read_chunks(path: Path, folder: int | None = None) -> Iterator[bytes]:
    """A file's bytes. A pipe or a device is refused instead of waited for. `folder` is an open folder."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        with os.fdopen(handle, "rb", buffering=0) as stream:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise UnreadableReport("not a file")
            while chunk := stream.read(_CHUNK):
                yield chunk
    except OSError as refusal:
        raise UnreadableReport(f"can't be read: {refusal.strerror or type(refusal).__name__}") from refusal
