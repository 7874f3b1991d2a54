"""Lcov's tracefiles: `SF` opens a record, `end_of_record` closes it; `LH` of `LF` lines ran, `DA` names each line.

A file that breaks off is refused: part of a coverage would be a wrong number, not a smaller one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from loopwright.loop.reports.model import Coverage, LineMarks, UnreadableReport
from loopwright.loop.reports.numbers import percentage
from loopwright.loop.reports.xml_text import cut

LONGEST_LINE = 1024**2
MOST_SOURCES = 200_000
_FIELD = re.compile(r"[A-Z]{2,6}:")
_WHOLE = re.compile(r"[0-9]{1,15}")
_HITS = re.compile(r"-?[0-9]{1,30}(?:\.[0-9]*)?(?:[eE]\+?[0-9]{1,3})?")


def read_lcov(chunks: Iterable[bytes]) -> Coverage:
    """The line coverage of a tracefile."""
    reader = _Reader()
    for number, line in enumerate(_lines(chunks), 1):
        if line and not line.startswith("#"):
            reader.take(line, number)
    covered, total = reader.totals()
    if not total:
        raise UnreadableReport("names no line that could be covered")
    return Coverage(percentage(covered, total), covered, total, "lcov")


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.decode("utf-8", "replace").strip()
        if len(rest) > LONGEST_LINE:
            raise UnreadableReport(f"a line of more than {LONGEST_LINE:,} bytes")
    yield rest.decode("utf-8", "replace").strip()


class _Reader:
    def __init__(self) -> None:
        self._marks = LineMarks()
        # The totals that the records of a file state; None if they only list lines.
        self._stated: dict[str, tuple[int, int] | None] = {}
        self._source: str | None = None
        self._found: int | None = None
        self._hit: int | None = None

    def take(self, line: str, number: int) -> None:
        if line == "end_of_record":
            self._close(number)
            return
        if _FIELD.match(line) is None:
            raise UnreadableReport(f"'{cut(line, 60)}' is not a line of lcov", number)
        field, _, value = line.partition(":")
        if field == "SF":
            self._open(value, number)
        elif field == "LF":
            self._found = _count(value, line, number)
        elif field == "LH":
            self._hit = _count(value, line, number)
        elif field == "DA":
            self._mark(value, line, number)

    def _open(self, source: str, number: int) -> None:
        if self._source is not None:
            raise UnreadableReport("a record begins before the last one ended", number)
        if len(self._stated) >= MOST_SOURCES:
            raise UnreadableReport(f"more than {MOST_SOURCES:,} source files", number)
        self._source, self._found, self._hit = source, None, None

    def _mark(self, value: str, line: str, number: int) -> None:
        where, _, hits = value.partition(",")
        hits = hits.partition(",")[0]
        if self._source is None or not _WHOLE.fullmatch(where) or not _HITS.fullmatch(hits):
            raise UnreadableReport(f"'{cut(line, 60)}' is not a line of lcov", number)
        # gcov's counters can overflow and become negative; like geninfo, count such a line as not run.
        self._marks.mark(self._source, int(where), ran=float(hits) > 0, at=number)

    def _close(self, number: int) -> None:
        if self._source is None:
            raise UnreadableReport("a record ends that never began", number)
        stated = None if self._found is None or self._hit is None else (self._hit, self._found)
        if stated and stated[0] > stated[1]:
            raise UnreadableReport(f"{stated[0]:,} of {stated[1]:,} lines were hit, which can't be", number)
        if self._source in self._stated:
            stated = self._with_earlier(self._stated[self._source], stated)
        self._stated[self._source] = stated
        self._source = None

    def _with_earlier(self, earlier: tuple[int, int] | None, now: tuple[int, int] | None) -> tuple[int, int] | None:
        """Two records of one file (two tests): the union of their lines; without lines, the better record."""
        lines = self._marks.totals(self._source or "")
        return lines if lines[1] else max(earlier or (0, 0), now or (0, 0))

    def totals(self) -> tuple[int, int]:
        if self._source is not None:
            raise UnreadableReport("the last record does not end: its writer was stopped, or had no space left")
        each = [stated or self._marks.totals(source) for source, stated in self._stated.items()]
        return sum(hit for hit, _ in each), sum(found for _, found in each)


def _count(value: str, line: str, number: int) -> int:
    if not _WHOLE.fullmatch(value):
        raise UnreadableReport(f"'{cut(line, 60)}' has no whole number", number)
    return int(value)
