"""Results as Markdown. The kill condition always comes first; "not enough data" is never a number.

P1 shows each series separately, always compared with churn and surface.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from loopwright.analysis.model import (
    AnalysisResult,
    Area,
    BoardFindings,
    CalibrationFindings,
    Chance,
    Discrimination,
    Group,
    HistoryFindings,
    Interval,
    Killed,
    Lift,
    Malformed,
    NotEnoughData,
    Passed,
    SeriesFindings,
)
from loopwright.analysis.preregistered import KILL, NUMBERS, Experiment

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


_TITLES: Final = {
    Experiment.CALIBRATION: "P1: does a high self-reported confidence tell right from wrong?",
    Experiment.GIT_HISTORY: "P2: which failures could only self-reflection have caught?",
    Experiment.BOARD_HISTORY: "P3: can a machine tell whether completed tasks were right?",
}
_SHOWN_FAILURES: Final = 15
_LONGEST_TITLE: Final = 70


def kill_line(question: Experiment) -> str:
    """The kill condition; printed before anything is computed."""
    return f"Kill condition, fixed before any data was seen: {KILL[question]}"


def to_markdown(result: AnalysisResult, titles: Mapping[str, str] | None = None) -> str:
    """The whole page."""
    return f"{kill_line(result.question)}\n\n{body(result, titles or {})}"


def body(result: AnalysisResult, titles: Mapping[str, str]) -> str:
    """Everything after the kill condition."""
    match result.findings:
        case HistoryFindings() as findings:
            lines = [*_history(findings), *_failures(findings, titles)]
        case BoardFindings() as findings:
            lines = _board(findings)
        case CalibrationFindings() as findings:
            lines = calibration_lines(findings)
    head = [f"# {_TITLES[result.question]}", "", _verdict(result), ""]
    return "\n".join([*head, *lines, *_footer(result)]) + "\n"


def _verdict(result: AnalysisResult) -> str:
    match result.verdict:
        case Passed(sentence):
            return f"**Passed**: {sentence}."
        case Killed(sentence):
            return f"**Killed**: {sentence}."
        case NotEnoughData(sentence):
            return f"**No verdict**: {sentence}."


def _history(findings: HistoryFindings) -> list[str]:
    counted = f"{findings.reverts} reverts and {findings.fixes} fixes soon after a feature"
    left_out = [f"{what}: {count}" for what, count in findings.not_counted.items() if count]
    return [
        f"{findings.commits:,} commits, {findings.features:,} features, {findings.failures:,} failures: {counted}.",
        "",
        *_gates(findings),
        *(["", "Looked like failures and were not counted: " + "; ".join(left_out) + "."] if left_out else []),
        "",
        "Baselines: do churn and surface predict which features failed?",
        "",
        *table(
            ("features", "changes", "looked at", "median lines", "median files", "mean surface weight"),
            [_group_row("that failed", findings.failed_features), _group_row("that did not", findings.other_features)],
        ),
    ]


def _gates(findings: HistoryFindings) -> list[str]:
    """The buckets; next to them the numbers by chance, if the record has them."""
    known = findings.reflection_share is not None
    shares = {
        gate: share(count / findings.failures) if known else "not enough data" for gate, count in findings.tally.items()
    }
    headings = ("would have been caught by", "failures", "share")
    if not isinstance(findings.chance, Chance):
        return table(headings, [(gate, str(count), shares[gate]) for gate, count in findings.tally.items()])
    chance = findings.chance
    rows = [
        (
            gate,
            str(count),
            shares[gate],
            str(chance.by_files[gate]),
            f"{chance.expected[gate]:.1f}",
            share(chance.expected[gate] / findings.failures) if known else "not enough data",
        )
        for gate, count in findings.tally.items()
    ]
    return table((*headings, "linked by files only", "of those by chance", "share by chance"), rows)


def _group_row(name: str, group: Group) -> Sequence[str]:
    return (
        name,
        f"{group.changes:,}",
        f"{group.looked_at:,}",
        number(group.median_lines, ".0f"),
        number(group.median_files, ".0f"),
        number(group.mean_surface_weight, ".2f"),
    )


def _failures(findings: HistoryFindings, titles: Mapping[str, str]) -> Iterable[str]:
    newest = findings.newest_failures[:_SHOWN_FAILURES]
    if not newest:
        return
    yield from ("", f"The newest {len(newest)} of {findings.failures:,} failures:", "")
    rows = [
        (
            failure.at[:10],
            f"`{failure.id[:10]}`",
            failure.kind,
            f"`{failure.culprit[:10]}`" if failure.culprit else "unknown",
            str(failure.gate),
            failure.rule,
            titles.get(failure.id, "")[:_LONGEST_TITLE],
        )
        for failure in newest
    ]
    yield from table(("day", "commit", "is a", "of", "gate", "because", "title"), rows)


def _board(findings: BoardFindings) -> list[str]:
    rows = [
        ("tasks seen", f"{findings.tasks:,}"),
        ("completed", f"{findings.completed:,}"),
        (f"completed at least {NUMBERS.outcome_days} days before the end of the data", f"{findings.decided:,}"),
        ("of those, with a signal in time", f"{findings.with_signal:,}"),
        ("share with a signal", share(findings.signal_share)),
        ("the signal says right", f"{findings.right:,}"),
        ("the signal says wrong", f"{findings.wrong:,}"),
        ("too recent to tell", f"{findings.too_young:,}"),
    ]
    notes = {
        "signals without a date, not counted": findings.undated_signals,
        "duplicate tasks, of which the last counts": findings.duplicates,
    }
    return [
        *table(("", "tasks"), rows),
        *(["", *table(("signal", "tasks"), [(name, str(count)) for name, count in findings.signals.items()])]
          if findings.signals else []),
        *(f"\n{what}: {count}" for what, count in notes.items() if count),
        *malformed_lines(findings.malformed),
    ]  # fmt: skip


def _footer(result: AnalysisResult) -> Iterable[str]:
    for note in result.notes:
        yield f"\nNote: {note}."
    yield ""
    for source in result.inputs:
        yield f"Input: {source.kind} {source.name or '(nothing)'}, sha256 {source.sha256}"
    given = ", ".join(f"{name} {value}" for name, value in result.parameters.items())
    yield f"Created: {result.at} by loopwright {result.tool_version}, registration {result.preregistration[:12]}" + (
        f"; {given}" if given else ""
    )
