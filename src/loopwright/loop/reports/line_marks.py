"""Which lines of which files could run and did, in a byte a line: a line that is named twice counts once."""

from __future__ import annotations

from loopwright.loop.reports.model import UnreadableReport

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
