"""Results as Markdown. The kill condition always comes first; "not enough data" is never a number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from loopwright.analysis.markdown_calibration import calibration_lines
from loopwright.analysis.markdown_tables import malformed_lines, number, share, table
from loopwright.analysis.model import (
    AnalysisResult,
    BoardFindings,
    CalibrationFindings,
    Chance,
    Group,
    HistoryFindings,
    Killed,
    NotEnoughData,
    Passed,
)
from loopwright.analysis.preregistered import KILL, NUMBERS, Experiment

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
        case HistoryFindings() as found:
            lines = [*_history(found), *_failures(found, titles)]
        case BoardFindings() as found:
            lines = _board(found)
        case CalibrationFindings() as found:
            lines = calibration_lines(found)
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


def _history(found: HistoryFindings) -> list[str]:
    counted = f"{found.reverts} reverts and {found.fixes} fixes soon after a feature"
    left_out = [f"{what}: {count}" for what, count in found.not_counted.items() if count]
    return [
        f"{found.commits:,} commits, {found.features:,} features, {found.failures:,} failures: {counted}.",
        "",
        *_gates(found),
        *(["", "Looked like failures and were not counted: " + "; ".join(left_out) + "."] if left_out else []),
        "",
        "Baselines: do churn and surface predict which features failed?",
        "",
        *table(
            ("features", "changes", "looked at", "median lines", "median files", "mean surface weight"),
            [_group_row("that failed", found.failed_features), _group_row("that did not", found.other_features)],
        ),
    ]


def _gates(found: HistoryFindings) -> list[str]:
    """The buckets; next to them the numbers by chance, if the record has them."""
    known = found.reflection_share is not None
    shares = {
        gate: share(count / found.failures) if known else "not enough data" for gate, count in found.tally.items()
    }
    headings = ("would have been caught by", "failures", "share")
    if not isinstance(found.chance, Chance):
        return table(headings, [(gate, str(count), shares[gate]) for gate, count in found.tally.items()])
    chance = found.chance
    rows = [
        (
            gate,
            str(count),
            shares[gate],
            str(chance.by_files[gate]),
            f"{chance.expected[gate]:.1f}",
            share(chance.expected[gate] / found.failures) if known else "not enough data",
        )
        for gate, count in found.tally.items()
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


def _failures(found: HistoryFindings, titles: Mapping[str, str]) -> Iterable[str]:
    newest = found.newest_failures[:_SHOWN_FAILURES]
    if not newest:
        return
    yield from ("", f"The newest {len(newest)} of {found.failures:,} failures:", "")
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


def _board(found: BoardFindings) -> list[str]:
    rows = [
        ("tasks seen", f"{found.tasks:,}"),
        ("completed", f"{found.completed:,}"),
        (f"completed at least {NUMBERS.outcome_days} days before the end of the data", f"{found.decided:,}"),
        ("of those, with a signal in time", f"{found.with_signal:,}"),
        ("share with a signal", share(found.signal_share)),
        ("the signal says right", f"{found.right:,}"),
        ("the signal says wrong", f"{found.wrong:,}"),
        ("too recent to tell", f"{found.too_young:,}"),
    ]
    notes = {
        "signals without a date, not counted": found.undated_signals,
        "duplicate tasks, of which the last counts": found.duplicates,
    }
    return [
        *table(("", "tasks"), rows),
        *(["", *table(("signal", "tasks"), [(name, str(count)) for name, count in found.signals.items()])]
          if found.signals else []),
        *(f"\n{what}: {count}" for what, count in notes.items() if count),
        *malformed_lines(found.malformed),
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
