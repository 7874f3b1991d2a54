"""The content of reports, and the errors for files that can't be read.

An incomplete report keeps what it has, and names what is missing in `gaps`.
"""

from __future__ import annotations

from collections import Counter
from typing import ClassVar, Literal

import msgspec

from loopwright.judging.reports.numbers import percentage

# `xfailed`: failed as expected; `xpassed`: passed although a failure was expected. A loop stores only the first three.
Status = Literal["passed", "failed", "skipped", "xfailed", "xpassed"]
_ALL_OF_PYTEST = "pytest"
# Stands among changed state for what a process could not tell. The reporters write it.
UNKNOWN_STATE = "unknown"
# Replaces names that were left out. It counts against the work even if the base has it, too.
TOO_MUCH_STATE = "left-out"
Format = Literal["coverage.py", "lcov", "cobertura"]


class UnreadableReport(ValueError):
    """Why a file is not a usable report, with the line number if known."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message if line is None else f"line {line}: {message}")
        self.message = message
        self.line = line


class ForeignReport(UnreadableReport):
    """A valid file of another kind; it is skipped in places that are only searched."""


class TestResult(msgspec.Struct, frozen=True):
    """One test. `suite` and `test_name` identify the test on every tree.

    In results of our own reporters the suite begins with the test's file, relative to the project: `tests/a.py::Class`.
    """

    # pytest would collect every class of this name.
    __test__: ClassVar[bool] = False

    test_name: str
    suite: str
    status: Status
    duration_ms: float | int = 0
    error_message: str = ""
    stack_trace: str = ""

    @property
    def id(self) -> str:
        """The name of the test, with its suite if it has one."""
        # pytest's JUnit file has a file that could not be loaded without a class, in the suite of all tests.
        return self.test_name if self.suite in ("", _ALL_OF_PYTEST) else f"{self.suite}::{self.test_name}"

    def stored(self) -> TestResult:
        """The result with a status that state files of loops know."""
        status = _STORED.get(self.status, self.status)
        return self if status == self.status else msgspec.structs.replace(self, status=status)


_STORED: dict[Status, Status] = {"xfailed": "skipped", "xpassed": "passed"}


class TestReport(msgspec.Struct, frozen=True):
    """All tests of a run, and what is known to be missing from them."""

    __test__: ClassVar[bool] = False

    results: tuple[TestResult, ...]
    gaps: tuple[str, ...] = ()
    # The runners that wrote the report, with their versions: "pytest 9.2.0".
    runners: tuple[str, ...] = ()
    # What the tests changed in the state of their processes; None if no runner told.
    state: tuple[str, ...] | None = None

    @property
    def by_id(self) -> dict[str, TestResult]:
        """Each test by its id. An id may occur several times (a repeated test): the occurrences are numbered."""
        seen: Counter[str] = Counter()
        tests = {}
        for result in self.results:
            seen[result.id] += 1
            tests[result.id if seen[result.id] == 1 else f"{result.id} #{seen[result.id]}"] = result
        return tests

    @property
    def is_complete(self) -> bool:
        """Whether a runner reported, and nothing is known to be missing."""
        return bool(self.results or self.runners) and not self.gaps

    @property
    def pass_rate(self) -> float:
        """The percentage of passed tests of those that ran; 0 if none ran."""
        passed, failed = self.count("passed"), self.count("failed")
        return percentage(passed, passed + failed) if passed + failed else 0.0

    @property
    def failed_tests(self) -> tuple[str, ...]:
        """The names of the failed tests, in the order of the report."""
        return tuple(result.test_name for result in self.results if result.status == "failed")

    def count(self, status: Status) -> int:
        """How many tests ended like this."""
        return sum(result.status == status for result in self.results)


class Coverage(msgspec.Struct, frozen=True):
    """How much of the code ran. `total` is 0 if the report states only the rate."""

    percent: float
    covered: int
    total: int
    format: Format
    # Which lines ran; None if the report does not tell.
    lines: LineMarks | None = None


LAST_LINE = 5_000_000
MOST_BYTES = 256 * 1024**2
_THERE, _RAN = 1, 2


class LineMarks:
    """The lines of all files of one report."""

    def __init__(self) -> None:
        self._files: dict[str, bytearray] = {}
        self._size = 0

    def mark(self, file: str, line: int, *, ran: bool, at: int | None = None) -> None:
        """Add a line, and whether it ran. `at` is its place in the report."""
        if not 0 <= line <= LAST_LINE:
            raise UnreadableReport(f"a source file has no line {line}", at)
        marks = self._files.setdefault(file, bytearray())
        missing = line + 1 - len(marks)
        if missing > 0:
            self._size += missing
            if self._size > MOST_BYTES:
                raise UnreadableReport("covers more lines than can be kept", at)
            marks.extend(bytes(missing))
        marks[line] |= _THERE | (_RAN if ran else 0)

    def add(self, other: LineMarks) -> None:
        """Add the lines of another report."""
        for file, marks in other._files.items():
            for line, mark in enumerate(marks):
                if mark:
                    self.mark(file, line, ran=bool(mark & _RAN))

    def ran_between(self, path: str, first: int, last: int) -> bool | None:
        """Whether a line of a file ran, from the first to the last; None if the report knows no line there.

        A report may name files from another folder, so one name is the end of the other.
        """
        files = [name for name in self._files if f"/{name}".endswith(f"/{path}") or f"/{path}".endswith(f"/{name}")]
        known = [mark for name in files for mark in self._files[name][first : last + 1] if mark]
        return any(mark & _RAN for mark in known) if known else None

    def totals(self, file: str) -> tuple[int, int]:
        """How many lines of a file ran, and how many there are."""
        marks = self._files.get(file, bytearray())
        ran = marks.count(_THERE | _RAN)
        return ran, ran + marks.count(_THERE)

    def all_totals(self) -> tuple[int, int]:
        """The same over all files."""
        each = [self.totals(file) for file in self._files]
        return sum(ran for ran, _ in each), sum(there for _, there in each)
