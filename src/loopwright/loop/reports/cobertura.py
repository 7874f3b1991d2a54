"""Cobertura XML of any tool: the root's counts, else its `<line>` elements, else only its rate."""

from __future__ import annotations

from collections.abc import Iterable

from loopwright.loop.reports.model import Coverage, ForeignReport, LineMarks, UnreadableReport
from loopwright.loop.reports.numbers import parse_count, parse_decimal, percentage, rounded
from loopwright.loop.reports.safe_xml import tell
from loopwright.loop.reports.xml_text import cut


def read_cobertura(chunks: Iterable[bytes]) -> Coverage:
    """The line coverage of a Cobertura file."""
    gatherer = _Gatherer()
    damage = tell(chunks, gatherer)
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
            return Coverage(percentage(covered, total), covered, total, "cobertura")
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
