"""Measurements, their limits, and the table of results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from measure import duration


class Verdict(StrEnum):
    """Whether a measurement is within its limit."""

    HELD = "ok"
    MISSED = "MISSED"
    INFORMATION = "information"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement."""

    what: str
    limit: str
    value: str
    verdict: Verdict
    ours: str = ""
    baseline: str = ""

    def cells(self) -> tuple[str, ...]:
        """The row's texts, in the order of `HEADINGS`."""
        return (self.what, self.limit, self.value, self.verdict.value, self.ours, self.baseline)


HEADINGS = ("what", "limit", "ratio or value", "verdict", "ours", "baseline")
_WIDTHS = (58, 26, 16, 12, 14, 30)


def verdict(held: bool) -> Verdict:
    """The verdict for a limit."""
    return Verdict.HELD if held else Verdict.MISSED


def at_most(what: str, ours: float, baseline: float, limit: float, *, against: str) -> Row:
    """A row with our time as a multiple of the baseline's."""
    ratio = ours / baseline
    return Row(
        what,
        f"<= {limit:g} x {against}",
        f"{ratio:.2f} x",
        verdict(ratio <= limit),
        duration(ours),
        f"{against}: {duration(baseline)}",
    )


def not_measured(what: str, limit: str, why: str) -> Row:
    """A row for a measurement that this machine can't make."""
    return Row(what, limit, f"not measured: {why}", Verdict.NOT_MEASURED)


def line(cells: Iterable[str]) -> str:
    """One line of the table in a terminal."""
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, _WIDTHS, strict=True)).rstrip()


def markdown(rows: Sequence[Row], machine: Sequence[tuple[str, str]], date: str) -> str:
    """The whole page."""
    table = [HEADINGS, tuple("---" for _ in HEADINGS), *(row.cells() for row in rows)]
    missed = [row.what for row in rows if row.verdict is Verdict.MISSED]
    return "\n".join(
        [
            "# Benchmark results",
            "",
            "Written by `make bench`. Every ratio compares with a baseline measured in the same run, in turn",
            "with ours, after a warm-up round; the values are medians.",
            "",
            *(f"- {name}: {value}" for name, value in (("date", date), *machine)),
            "",
            *("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |" for cells in table),
            "",
            f"Limits missed: {'; '.join(missed) or 'none'}.",
            "",
        ]
    )
