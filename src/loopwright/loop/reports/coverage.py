"""Coverage reports, recognized by content, not by name: coverage.py's JSON, lcov, or Cobertura XML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import msgspec

from loopwright.kernel.codec import Undecodable, from_json
from loopwright.loop.reports.cobertura import read_cobertura
from loopwright.loop.reports.lcov import read_lcov
from loopwright.loop.reports.model import Coverage, ForeignReport, UnreadableReport
from loopwright.loop.reports.numbers import percentage, rounded

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
    return Coverage(percentage(covered, total), covered, total, parts[0].format)


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


class _Report(msgspec.Struct):
    totals: _Totals


def _read_json(chunks: Iterable[bytes]) -> Coverage:
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > MOST_JSON_BYTES:
            raise UnreadableReport(f"more than {MOST_JSON_BYTES:,} bytes of JSON")
    try:
        totals = from_json(bytes(data), _Report).totals
    except Undecodable as problem:
        raise UnreadableReport(f"not the JSON of coverage.py: {problem}") from problem
    if not 0 <= totals.percent_covered <= 100:
        raise UnreadableReport(f"totals.percent_covered is {totals.percent_covered}, not from 0 to 100")
    if not 0 <= totals.covered_lines <= totals.num_statements:
        raise UnreadableReport(f"{totals.covered_lines} of {totals.num_statements} statements can't be covered")
    # coverage.py reports 100 % if nothing was measured.
    if not totals.num_statements:
        raise UnreadableReport("names no line that could be covered")
    # coverage.py's own percentage also counts branches if they were measured.
    return Coverage(rounded(totals.percent_covered), totals.covered_lines, totals.num_statements, "coverage.py")
