"""Coverage reports, recognized by content, not by name: coverage.py's JSON, lcov, or Cobertura XML.

Lcov: `SF` opens a record, `end_of_record` closes it; `LH` of `LF` lines ran, `DA` names each line.
Cobertura: the root's counts, else its `<line>` elements, else only its rate.
An incomplete file is refused: a part of a coverage would be a wrong number, not a smaller one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import msgspec

from loopwright.judging.reports.model import Coverage, ForeignReport, LineMarks, UnreadableReport
from loopwright.judging.reports.numbers import parse_count, parse_decimal, percentage, rounded
from loopwright.judging.reports.safe_xml import cut, parse_xml
from loopwright.kernel.codec import Undecodable, from_json

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
    return Coverage(percentage(covered, total), covered, total, "lcov", reader.marks)


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
        self.marks = LineMarks()
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
        self.marks.mark(self._source, int(where), ran=float(hits) > 0, at=number)

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
        lines = self.marks.totals(self._source or "")
        return lines if lines[1] else max(earlier or (0, 0), now or (0, 0))

    def totals(self) -> tuple[int, int]:
        if self._source is not None:
            raise UnreadableReport("the last record does not end: its writer was stopped, or had no space left")
        each = [stated or self.marks.totals(source) for source, stated in self._stated.items()]
        return sum(hit for hit, _ in each), sum(found for _, found in each)


def _count(value: str, line: str, number: int) -> int:
    if not _WHOLE.fullmatch(value):
        raise UnreadableReport(f"'{cut(line, 60)}' has no whole number", number)
    return int(value)


def read_cobertura(chunks: Iterable[bytes]) -> Coverage:
    """The line coverage of a Cobertura file."""
    gatherer = _Gatherer()
    damage = parse_xml(chunks, gatherer)
    if damage is not None:
        # Unlike test results, a part of a coverage is a wrong number.
        what = "the report breaks off" if damage.broke_off else f"not XML: {damage.message}"
        raise UnreadableReport(what, damage.line)
    return gatherer.coverage()


class _Gatherer:
    """Reads the root's attributes and the lines of classes. The lines of methods repeat them."""

    def __init__(self) -> None:
        self._root: dict[str, str] = {}
        self._file = ""
        self._in_method = False
        self._marks = LineMarks()
        self._depth = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth == 1:
            self._check_root(name, attributes)
            self._root = attributes
        elif self._depth == 2 and name == "project":
            raise ForeignReport("this is Clover's XML, not Cobertura's")
        elif name == "class":
            self._file = attributes.get("filename") or attributes.get("name", "")
        elif name == "method":
            self._in_method = True
        elif name == "line" and not self._in_method:
            self._take_line(attributes)

    @staticmethod
    def _check_root(name: str, attributes: dict[str, str]) -> None:
        if name != "coverage":
            raise ForeignReport(f"the outermost element is <{cut(name, 60)}>, not <coverage>")
        if "clover" in attributes:
            raise ForeignReport("this is Clover's XML, not Cobertura's")

    def _take_line(self, attributes: dict[str, str]) -> None:
        number, hits = parse_count(attributes.get("number", "")), parse_decimal(attributes.get("hits", ""))
        if number is None or hits is None:
            raise UnreadableReport(f"a <line> of '{cut(self._file, 60)}' has no number or no hits")
        self._marks.mark(self._file, number, ran=hits > 0)

    def end(self, name: str) -> None:
        self._depth -= 1
        if name == "method":
            self._in_method = False

    def text(self, text: str) -> None:
        """Ignored: nothing that counts is in the text."""

    def coverage(self) -> Coverage:
        covered, total = self._counts()
        if total:
            return Coverage(percentage(covered, total), covered, total, "cobertura", self._marks)
        if "lines-valid" in self._root or "line-rate" not in self._root:
            raise UnreadableReport("names no line that could be covered")
        rate = parse_decimal(self._root["line-rate"])
        if rate is None or not 0 <= rate <= 1:
            raise UnreadableReport(f"line-rate is '{cut(self._root['line-rate'], 60)}', not a number from 0 to 1")
        return Coverage(rounded(rate * 100), 0, 0, "cobertura")

    def _counts(self) -> tuple[int, int]:
        stated = [self._root.get(key) for key in ("lines-covered", "lines-valid")]
        if None in stated:
            return self._marks.all_totals()
        covered, total = (parse_count(text or "") for text in stated)
        if covered is None or total is None or covered > total:
            raise UnreadableReport(f"{cut(str(stated[0]), 60)} of {cut(str(stated[1]), 60)} lines can't be covered")
        return (covered, total) if total else self._marks.all_totals()


MOST_JSON_BYTES = 128 * 1024**2
_BOM = b"\xef\xbb\xbf"
_HEAD = 1024
_LCOV = re.compile(rb"#|(?:TN|SF|VER|FN[A-Z]*|DA|LF|LH|BR[A-Z]*|MCDC|MR[A-Z]):")
# Files that users name by mistake, by their first bytes.
_OTHERS = {b"mode: ": "a profile of Go's; convert it, for example with gocover-cobertura", b"\x7fELF": "a program"}


def read_coverage(chunks: Iterable[bytes]) -> Coverage:
    """The coverage of a report; `UnreadableReport` names the problem."""
    stream = iter(chunks)
    head = _head(stream)
    whole = chain((head,), stream)
    begin = head.lstrip()
    if not begin:
        raise UnreadableReport("the file is empty")
    # UTF-16 counts as XML: of the three formats only that one may be in it.
    if begin.startswith((b"<", b"\xff\xfe", b"\xfe\xff", b"\0<")):
        return read_cobertura(whole)
    if begin.startswith((b"{", b"[")):
        return _read_json(whole)
    if _LCOV.match(begin):
        return read_lcov(whole)
    for mark, what in _OTHERS.items():
        if begin.startswith(mark):
            raise ForeignReport(f"this is {what}")
    raise ForeignReport("neither JSON of coverage.py, nor lcov, nor XML of Cobertura")


def add_up(parts: Sequence[Coverage]) -> Coverage:
    """Reports of several packages as one: lines add up, percentages do not."""
    if len(parts) == 1:
        return parts[0]
    if not all(part.total for part in parts):
        raise UnreadableReport("a report that gives only a rate can't be added to others")
    covered, total = sum(part.covered for part in parts), sum(part.total for part in parts)
    lines = LineMarks()
    for part in parts:
        if part.lines is not None:
            lines.add(part.lines)
    return Coverage(percentage(covered, total), covered, total, parts[0].format, lines)


def _head(stream: Iterator[bytes]) -> bytes:
    head = b""
    for chunk in stream:
        head += chunk
        if len(head) >= _HEAD:
            break
    return head.removeprefix(_BOM)


class _Totals(msgspec.Struct):
    percent_covered: float
    covered_lines: int
    num_statements: int


class _File(msgspec.Struct):
    executed_lines: list[int] = []
    missing_lines: list[int] = []


class _Report(msgspec.Struct):
    totals: _Totals
    files: dict[str, _File] = {}


def _read_json(chunks: Iterable[bytes]) -> Coverage:
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > MOST_JSON_BYTES:
            raise UnreadableReport(f"more than {MOST_JSON_BYTES:,} bytes of JSON")
    try:
        report = from_json(bytes(data), _Report)
    except Undecodable as problem:
        raise UnreadableReport(f"not the JSON of coverage.py: {problem}") from problem
    totals = report.totals
    if not 0 <= totals.percent_covered <= 100:
        raise UnreadableReport(f"totals.percent_covered is {totals.percent_covered}, not from 0 to 100")
    if not 0 <= totals.covered_lines <= totals.num_statements:
        raise UnreadableReport(f"{totals.covered_lines} of {totals.num_statements} statements can't be covered")
    # coverage.py reports 100 % if nothing was measured.
    if not totals.num_statements:
        raise UnreadableReport("names no line that could be covered")
    # coverage.py's own percentage also counts branches if they were measured.
    percent, covered, total = rounded(totals.percent_covered), totals.covered_lines, totals.num_statements
    return Coverage(percent, covered, total, "coverage.py", _lines_of(report.files))


def _lines_of(files: dict[str, _File]) -> LineMarks:
    lines = LineMarks()
    for name, file in files.items():
        for ran, numbers in ((True, file.executed_lines), (False, file.missing_lines)):
            for number in numbers:
                lines.mark(name, number, ran=ran)
    return lines
