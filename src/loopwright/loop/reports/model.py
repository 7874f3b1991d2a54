"""The values that reports are read into, and the errors that say why a file could not be read.

A report that breaks off keeps what it has and says so in `gaps`: half a report never looks like a whole one.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from loopwright.loop.reports.numbers import percentage

Status = Literal["passed", "failed", "skipped"]
Format = Literal["coverage.py", "lcov", "cobertura"]


class UnreadableReport(ValueError):
    """Why a file is no report that we can use, and at which line (1 is the first) where that is known."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message if line is None else f"line {line}: {message}")
        self.message = message
        self.line = line


class ForeignReport(UnreadableReport):
    """A sound file of another kind: where places are guessed, such a file is passed over."""


class TestResult(msgspec.Struct, frozen=True):
    """One test, as the state file of a loop holds it."""

    # pytest takes every class of this name for tests of its own.
    __test__: ClassVar[bool] = False

    test_name: str
    suite: str
    status: Status
    duration_ms: float | int = 0
    error_message: str = ""
    stack_trace: str = ""


class TestReport(msgspec.Struct, frozen=True):
    """All tests of a run, and what is known to be missing from them."""

    __test__: ClassVar[bool] = False

    results: tuple[TestResult, ...]
    gaps: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether nothing is known to be missing."""
        return not self.gaps

    @property
    def pass_rate(self) -> float:
        """Passed tests out of those that ran, 0 to 100; 0 where none ran, since nothing was shown."""
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
    """How much of the code ran. `total` is 0 where a report gives the rate alone."""

    percent: float
    covered: int
    total: int
    format: Format


LAST_LINE = 5_000_000
MOST_BYTES = 256 * 1024**2
_THERE, _RAN = 1, 2


class LineMarks:
    """The lines of all files of one report."""

    def __init__(self) -> None:
        self._files: dict[str, bytearray] = {}
        self._size = 0

    def mark(self, file: str, line: int, *, ran: bool, at: int | None = None) -> None:
        """A line that could run, and whether it did. `at` is where the report says so."""
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

    def totals(self, file: str) -> tuple[int, int]:
        """How many lines of a file ran, and how many could have."""
        marks = self._files.get(file, bytearray())
        ran = marks.count(_THERE | _RAN)
        return ran, ran + marks.count(_THERE)

    def all_totals(self) -> tuple[int, int]:
        """The same over all files."""
        each = [self.totals(file) for file in self._files]
        return sum(ran for ran, _ in each), sum(there for _, there in each)
