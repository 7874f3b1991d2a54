"""Reads results from the text that `go test -v` and `cargo test` print: neither writes a report on request.

A line counts only inside the output of its runner. Lines that tests print themselves may look the same: as with every
report, only inverted tests reveal that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from loopwright.judging.reports.junit import LONGEST_MESSAGE, LONGEST_NAME, ReportSpace
from loopwright.judging.reports.model import Status, TestReport, TestResult
from loopwright.judging.reports.read import merge
from loopwright.judging.reports.safe_xml import cut

LONGEST_LINE = 64 * 1024
_GO_RUN = re.compile(r"=== RUN   (\S+)$")
# A test may print text without a line break before its result.
_GO_RESULT = re.compile(r"--- (PASS|FAIL|SKIP): (\S+) \((\d+\.\d+)s\)$")
_GO_PACKAGE = re.compile(r"(ok|FAIL|\?|---)\s*\t(\S+)(?:\t|\s\[|$)(.*)")
_GO_STATUS: dict[str, Status] = {"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}
_CARGO_BEGIN = re.compile(r"running (\d{1,9}) tests?$")
_CARGO_RESULT = re.compile(r"test (.+?) \.\.\. (?:.*\b)?(ok|FAILED|ignored)(?:, .*)?$")
# The line of a doctest changes with the code above it.
_CARGO_LINE = re.compile(r" \(line \d+\)")
_CARGO_END = re.compile(r"test result: (?:ok|FAILED)\. \d+ passed;")
_CARGO_STATUS: dict[str, Status] = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}


def read_output(lines: Iterable[str], space: ReportSpace) -> TestReport:
    """The results of go and cargo in the output of a command."""
    go, cargo = _Go(space), _Cargo(space)
    for line in lines:
        text = line.rstrip("\r\n")
        if len(text) <= LONGEST_LINE:
            go.take(text)
            cargo.take(text)
    return merge((go.report(), cargo.report()))


class _Go:
    """Packages report one after the other: the line of a package follows the lines of its tests."""

    def __init__(self, space: ReportSpace) -> None:
        self._space = space
        self._running: dict[str, None] = {}
        self._ended: list[tuple[str, Status, float]] = []
        self._said: list[str] = []
        self._results: list[TestResult] = []
        self._gaps: list[str] = []
        self._seen = False

    def take(self, line: str) -> None:
        if (started := _GO_RUN.match(line)) is not None:
            self._seen = True
            self._running[started[1]] = None
        elif (ended := _GO_RESULT.search(line)) is not None and ended[2] in self._running:
            del self._running[ended[2]]
            self._ended.append((ended[2], _GO_STATUS[ended[1]], 1000 * float(ended[3])))
        elif (package := _GO_PACKAGE.match(line)) is not None:
            self._close(package[1], package[2], package[3])
        elif self._running or self._ended:
            self._said = [*self._said[-40:], line]

    def _close(self, outcome: str, package: str, rest: str) -> None:
        for name, status, milliseconds in self._ended:
            message = cut("\n".join(self._said).strip(), LONGEST_MESSAGE) if status == "failed" else ""
            self._add(TestResult(cut(name, LONGEST_NAME), cut(package, LONGEST_NAME), status, milliseconds, message))
        failed = outcome == "FAIL"
        if failed and not any(status == "failed" for _, status, _ in self._ended):
            # It can't be built, or ended in the middle.
            self._seen = True
            message = rest.strip(" []") or "\n".join(self._said)
            self._add(TestResult(cut(package, LONGEST_NAME), "", "failed", 0, cut(message, LONGEST_MESSAGE)))
        if self._running:
            self._gaps.append(f"go: {cut(next(iter(self._running)), 200)} started and has no result")
        self._running, self._ended, self._said = {}, [], []

    def _add(self, result: TestResult) -> None:
        kept = self._space.fit(result)
        if kept is not None:
            self._results.append(kept)

    def report(self) -> TestReport:
        if not self._seen:
            return TestReport(())
        if self._running or self._ended:
            self._gaps.append("go ended before its output was complete")
        return TestReport(tuple(self._results), tuple(self._gaps[:20]), ("go",))


class _Cargo:
    """Each test program prints how many tests it runs, a line per test, and a result."""

    def __init__(self, space: ReportSpace) -> None:
        self._space = space
        self._expected: int | None = None
        self._count = 0
        self._results: list[TestResult] = []
        self._gaps: list[str] = []
        self._seen = False

    def take(self, line: str) -> None:
        if (begin := _CARGO_BEGIN.match(line)) is not None:
            self._close()
            self._expected, self._count, self._seen = int(begin[1]), 0, True
        elif self._expected is None:
            return
        elif (result := _CARGO_RESULT.match(line)) is not None:
            self._count += 1
            name = cut(_CARGO_LINE.sub("", result[1]), LONGEST_NAME)
            kept = self._space.fit(TestResult(name, "", _CARGO_STATUS[result[2]]))
            if kept is not None:
                self._results.append(kept)
        elif _CARGO_END.match(line) is not None:
            if self._count < self._expected:
                self._gaps.append(f"cargo: {self._expected - self._count} tests have no result")
            self._expected = None

    def _close(self) -> None:
        if self._expected is not None:
            self._gaps.append("cargo ended before its output was complete")

    def report(self) -> TestReport:
        self._close()
        return TestReport(tuple(self._results), tuple(self._gaps[:20]), ("cargo",) if self._seen else ())
