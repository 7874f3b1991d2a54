"""Parts of Markdown that every report uses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loopwright.analysis.model import Malformed

NOT_ENOUGH = "not enough data"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table with aligned columns, for terminals."""
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in (headings, *rows)]
    widths = [max(3, *(len(row[column]) for row in cells)) for column in range(len(headings))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in cells
    ]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]


def number(value: float | None, form: str) -> str:
    """A number, or "not enough data"."""
    return NOT_ENOUGH if value is None else format(value, form)


def share(value: float | None) -> str:
    """A share in percent, or "not enough data"."""
    return number(value, ".1%")


def malformed_lines(malformed: Malformed) -> list[str]:
    """The unreadable parts, by number."""
    if not malformed.count:
        return []
    reasons = [f"- {reason}" for reason in malformed.reasons]
    more = malformed.count - len(reasons)
    rest = [f"- and {more} more"] if more > 0 else []
    return ["", f"Malformed and left out: {malformed.count} ({malformed.where}).", "", *reasons, *rest]
