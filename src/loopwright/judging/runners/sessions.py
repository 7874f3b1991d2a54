"""Reads the reports that our support files wrote: NDJSON, one file per session of a runner.

The files come from the code under test and are not trusted: links, pipes, endless files and endless lines are refused.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Literal

import msgspec

from loopwright.judging.reports.find import FoundReports
from loopwright.judging.reports.junit import LONGEST_MESSAGE, LONGEST_NAME, LONGEST_TRACE, ReportSpace
from loopwright.judging.reports.model import UNKNOWN_STATE, Status, TestReport, TestResult, UnreadableReport
from loopwright.judging.reports.read import limited_state, merge, read_chunks, read_test_reports
from loopwright.judging.reports.safe_xml import cut, picture

MOST_FILES = 5_000
LONGEST_LINE = 1024**2
_LONGEST_MS = 1e9
# Names of changed state.
_LONGEST_STATE = 120
# Runners that run tests in processes of their own tell nothing.
_TELL_STATE = frozenset({"pytest", "unittest", "node", "mocha"})
_ENDING = ".ndjson"
_FALLBACK = "pytest.xml"
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_IN_NAMES = re.compile("[\x00-\x1f\x7f]")


class _Start(msgspec.Struct, frozen=True, tag_field="kind", tag="start"):
    runner: Literal["pytest", "unittest", "node", "mocha", "jest", "vitest"]
    version: str = ""
    root: str = ""
    # Whether the session reports results, and not only the state of its process.
    has_tests: bool = True


class _Test(msgspec.Struct, frozen=True, tag_field="kind", tag="test"):
    file: str
    group: str
    name: str
    status: Status
    ms: float = 0
    message: str = ""
    trace: str = ""


class _State(msgspec.Struct, frozen=True, tag_field="kind", tag="state"):
    changed: list[str]


class _End(msgspec.Struct, frozen=True, tag_field="kind", tag="end"):
    early: str = ""


_LINE = msgspec.json.Decoder(_Start | _Test | _State | _End)


def read_report(reports: Path, roots: tuple[Path, ...]) -> TestReport:
    """The results per test that runners left in a folder. `roots` are the paths of the project inside the sandbox."""
    own = _read_sessions(reports, roots, ReportSpace())
    fallback = reports / _FALLBACK
    if reports.is_symlink() or not fallback.is_file():
        return own
    try:
        return read_test_reports(FoundReports((fallback,)), own)
    except UnreadableReport as problem:
        return merge((own, TestReport((), (str(problem),))))


def _read_sessions(folder: Path, roots: tuple[Path, ...], space: ReportSpace) -> TestReport:
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return TestReport(())
    try:
        names = sorted(name for name in os.listdir(handle) if name.endswith(_ENDING))
        reports = [_Session(roots, space).read(name, handle) for name in names[:MOST_FILES]]
    finally:
        os.close(handle)
    if len(names) > MOST_FILES:
        reports.append(TestReport((), (f"more than {MOST_FILES:,} reports",)))
    return merge(reports)


class _Session:
    """Reads one file."""

    def __init__(self, roots: tuple[Path, ...], space: ReportSpace) -> None:
        self._roots = roots
        self._space = space
        self._start: _Start | None = None
        self._end: _End | None = None
        self._results: list[TestResult] = []
        self._state: tuple[str, ...] | None = None
        self._left_out = 0

    def read(self, name: str, folder: int) -> TestReport:
        try:
            for number, line in enumerate(_lines(read_chunks(Path(name), folder), self._space), 1):
                self._take(line, number)
        except UnreadableReport as problem:
            return self._report(f"the report of {self._runner} can't be read: {problem}")
        return self._report(self._gap())

    def _take(self, line: bytes, number: int) -> None:
        try:
            entry: _Start | _Test | _State | _End = _LINE.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as problem:
            raise UnreadableReport("not a line of a report", number) from problem
        if isinstance(entry, _Start) == (self._start is not None) or self._end is not None:
            raise UnreadableReport("a report has one start line, then results, then one end line", number)
        match entry:
            case _Start():
                self._start = entry
            case _Test():
                self._add(entry, self._start.root if self._start is not None else "")
            case _State(changed):
                self._state = limited_state({*(self._state or ()), *map(_short, changed)})
            case _End():
                self._end = entry

    def _add(self, test: _Test, root: str) -> None:
        result = self._space.fit(_result(test, root, self._roots))
        if result is None:
            self._left_out += 1
        else:
            self._results.append(result)

    @property
    def _runner(self) -> str:
        return self._start.runner if self._start is not None else "a test runner"

    def _gap(self) -> str:
        if self._start is not None and not self._start.has_tests:
            return ""
        if self._end is None:
            return f"{self._runner} ended before its report was complete"
        if self._end.early:
            return f"{self._runner} ended early: {cut(_named(self._end.early), LONGEST_NAME)}"
        return f"tests left out: {self._left_out:,}; there are too many to keep" if self._left_out else ""

    def _report(self, gap: str) -> TestReport:
        start = self._start
        seen = (f"{start.runner} {_named(start.version)[:40]}".strip(),) if start is not None else ()
        # A process that was killed, or could not look, does not tell its state.
        is_silent = start is not None and start.runner in _TELL_STATE and self._state is None
        return TestReport(
            tuple(self._results), (gap,) if gap else (), seen, (UNKNOWN_STATE,) if is_silent else self._state
        )


def _lines(chunks: Iterator[bytes], space: ReportSpace) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        space.bytes -= len(chunk)
        if space.bytes < 0:
            raise UnreadableReport("the reports are too large")
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole
        if len(rest) > LONGEST_LINE:
            raise UnreadableReport(f"a line of more than {LONGEST_LINE:,} bytes")
    if rest:
        yield rest


def _result(test: _Test, root: str, roots: tuple[Path, ...]) -> TestResult:
    file = _relative(test.file, root, roots) if test.file else ""
    group, name = (_named(_without_roots(text, roots)) for text in (test.group, test.name))
    suite = "::".join(part for part in (_named(file), group) if part)
    # A file that can't be loaded, and the set-up of a class, have no test of their own.
    return TestResult(
        test_name=cut(name or suite or "(unnamed)", LONGEST_NAME),
        suite=cut(suite, LONGEST_NAME) if name else "",
        status=test.status,
        duration_ms=round(min(max(test.ms, 0.0), _LONGEST_MS), 3),
        error_message=cut(_shown(test.message), LONGEST_MESSAGE),
        stack_trace=cut(_shown(test.trace), LONGEST_TRACE),
    )


def _relative(file: str, root: str, roots: tuple[Path, ...]) -> str:
    """The path below the project; a file elsewhere keeps its path."""
    path = PurePosixPath(os.path.normpath(PurePosixPath(root, file)))
    for top in roots:
        if path.is_relative_to(top):
            return str(path.relative_to(top))
    return str(path)


def _without_roots(text: str, roots: tuple[Path, ...]) -> str:
    """A name with paths of the project (parameters are often files) that are equal in every sandbox."""
    for top in roots:
        text = text.replace(f"{top}/", "")
    return text


def _short(name: str) -> str:
    """A name of changed state; a long one is cut, and stays different from all others."""
    shown = _named(name)
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:16]
    return shown if len(shown) <= _LONGEST_STATE else f"{shown[: _LONGEST_STATE - 20]}… {digest}"


def _shown(text: str) -> str:
    return _CONTROL.sub(lambda match: picture(ord(match[0])), text)


def _named(text: str) -> str:
    return _IN_NAMES.sub(lambda match: picture(ord(match[0])), text)
