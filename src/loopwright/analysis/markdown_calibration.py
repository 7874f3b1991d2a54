"""P1's findings as Markdown: each series separately, always compared with churn and surface."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from loopwright.analysis.markdown_tables import malformed_lines, number, share, table
from loopwright.analysis.model import Area, CalibrationFindings, Discrimination, Interval, Lift, SeriesFindings
from loopwright.analysis.preregistered import NUMBERS

_SCORES: Final = (
    ("self-reported confidence", "confidence"),
    ("baseline: little churn", "churn"),
    ("baseline: harmless surface", "surface"),
)


def calibration_lines(findings: CalibrationFindings) -> list[str]:
    """All lines of the findings."""
    lines: list[str] = []
    for part in findings.series:
        lines += [*([""] if lines else []), *_series(part, decides=part.series is findings.decides)]
    left_out = [f"{what}: {count}" for what, count in findings.left_out.items() if count]
    if left_out:
        lines += ["", "Reports without an outcome, left out: " + "; ".join(left_out) + "."]
    if findings.duplicates:
        lines += [
            "",
            f"Earlier records of the same work and series, left out: {findings.duplicates}.",
        ]
    lines += malformed_lines(findings.malformed)
    return lines[1:] if lines[:1] == [""] else lines


def _series(part: SeriesFindings, *, decides: bool) -> Iterable[str]:
    yield f"## Series '{part.series}'" + (" (decides)" if decides else "")
    yield from ("", f"{part.records:,} records: {part.right:,} right, {part.wrong:,} wrong.", "")
    yield from _areas(f"AUC where confidence >= {NUMBERS.high_confidence:g}", part.high)
    yield ""
    yield from _areas("AUC on all records", part.all)
    yield from ("", _lift(part.lift))
    if part.brier is None:
        yield from ("", f"Brier score and calibration: not enough data ({part.records} records).")
        return
    brier = (
        f"Brier score {part.brier:.4f} (for always predicting the average: {number(part.brier_of_base_rate, '.4f')})"
    )
    yield from ("", f"{brier}; expected calibration error {number(part.expected_calibration_error, '.4f')}.", "")
    rows = [
        (
            f"{row.from_:.1f} to {row.to:.1f}",
            f"{row.records:,}",
            "" if row.mean_confidence is None else f"{row.mean_confidence:.3f}",
            "" if row.right_share is None else share(row.right_share),
            _interval(row.interval, ".1%"),
        )
        for row in part.bins
    ]
    yield from table(("confidence", "records", "mean reported", "right", "95% interval"), rows)


def _areas(title: str, scores: Discrimination) -> Iterable[str]:
    areas: list[tuple[str, Area]] = [(label, getattr(scores, name)) for label, name in _SCORES]
    rows = [
        (label, str(area.records), number(area.auc, ".3f"), _interval(area.interval, ".3f") or area.why_not)
        for label, area in areas
    ]
    yield from table((title, "records", "AUC", "95% interval"), rows)


def _lift(lift: Lift) -> str:
    if lift.lift is None:
        return f"Lift of self-rated high: {lift.why_not}."
    interval = _interval(lift.interval, ".3f")
    return (
        f"Lift of self-rated high: {lift.lift:.3f}" + (f" (95% interval {interval})" if interval else " (no interval)")
        + f": {share(lift.high_right_share)} are right, of all {share(lift.all_right_share)}."
    )  # fmt: skip


def _interval(interval: Interval | None, form: str) -> str:
    return "" if interval is None else f"{interval.low:{form}} to {interval.high:{form}}"
