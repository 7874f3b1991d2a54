"""Results as SVG or PNG images: reliability with counts per bin, AUC with baselines, tallies.

The same result gives the same bytes: no dates, fixed ids. Needs no display.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from loopwright.analysis.model import (
    AnalysisResult,
    Area,
    BoardFindings,
    CalibrationFindings,
    HistoryFindings,
    Killed,
    NotEnoughData,
    Passed,
    SeriesFindings,
)
from loopwright.analysis.preregistered import KILL, NUMBERS, CatchingGate
from loopwright.kernel.files import write_durably

# Any, because the type of a key lists all names of one matplotlib version.
_STYLE: Any = {
    "svg.hashsalt": "loopwright",
    # Keep text as text, so that it can be searched, copied and tested.
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "figure.dpi": 150,
}
_BLUE, _GREY, _ORANGE, _LIGHT = "#1f6fb4", "#777777", "#d9822b", "#c9dcec"
_NO_DATES: Final[dict[str, dict[str, None]]] = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}


def draw(result: AnalysisResult, path: Path) -> None:
    """Draw the result into a file; its suffix sets the format."""
    kind = path.suffix.lower().removeprefix(".")
    with mpl.rc_context():
        # Ignore a matplotlibrc of the user or of the current folder.
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        match result.findings:
            case CalibrationFindings() as findings:
                figure = _calibration(findings)
            case HistoryFindings() as findings:
                bars = [_bar(gate, count, findings.failures) for gate, count in findings.tally.items()]
                figure = _bars(
                    bars, "failures", f"{findings.failures:,} failures by the gate that would have caught them"
                )
            case BoardFindings() as findings:
                bars = [
                    _bar("signal: right", findings.right, findings.decided),
                    _bar("signal: wrong", findings.wrong, findings.decided),
                    _bar("no signal", findings.decided - findings.with_signal, findings.decided),
                    # Not a share of the judged tasks.
                    _bar("too recent to tell", findings.too_young, 0),
                ]
                figure = _bars(bars, "tasks", f"{findings.completed:,} completed tasks")
        figure.suptitle(_heading(result), x=0.01, ha="left", fontsize=8, color=_GREY)
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, metadata=_NO_DATES[kind])
    write_durably(path, buffer.getvalue())


def _heading(result: AnalysisResult) -> str:
    match result.verdict:
        case Passed():
            word = "passed"
        case Killed():
            word = "killed"
        case NotEnoughData():
            word = "not enough data"
    return f"{KILL[result.question]}\nVerdict: {word}."


def _calibration(findings: CalibrationFindings) -> Figure:
    rows = max(1, len(findings.series))
    figure = Figure(figsize=(9.6, 3.9 * rows + 0.6), layout="constrained")
    if not findings.series:
        _annotate(figure.add_subplot(), "not enough data: no records")
        return figure
    grid = figure.add_gridspec(rows, 2, width_ratios=(1, 1.25))
    for number, part in enumerate(findings.series):
        decides = " (decides)" if part.series is findings.decides else ""
        _reliability(
            figure.add_subplot(grid[number, 0]), part, f"series '{part.series}'{decides}: {part.records} records"
        )
        _areas(figure.add_subplot(grid[number, 1]), part)
    return figure


def _reliability(axes: Axes, part: SeriesFindings, title: str) -> None:
    axes.set_title(title)
    if not part.bins:
        _annotate(axes, f"not enough data: {part.records} records")
        return
    largest = max(row.records for row in part.bins)
    for row in part.bins:
        middle = (row.from_ + row.to) / 2
        # Counts as bars at the bottom, so that a point with few records is recognizable.
        axes.bar(middle, 0.16 * row.records / largest, width=0.09, color=_LIGHT, zorder=1)
        axes.text(middle, -0.035, str(row.records), ha="center", va="top", fontsize=7, color=_GREY)
        if row.interval is not None and row.mean_confidence is not None and row.right_share is not None:
            axes.vlines(row.mean_confidence, row.interval.low, row.interval.high, color=_BLUE, linewidth=1.2, zorder=3)
            axes.plot(row.mean_confidence, row.right_share, "o", color=_BLUE, markersize=4.5, zorder=4, clip_on=False)
    axes.plot([0, 1], [0, 1], linestyle="--", linewidth=0.9, color=_GREY, zorder=2)
    axes.axvline(NUMBERS.high_confidence, linestyle=":", linewidth=0.9, color=_ORANGE, zorder=2)
    axes.text(NUMBERS.high_confidence - 0.015, 1.02, "self-rated high", fontsize=7, color=_ORANGE, ha="right", va="top")
    axes.set(xlim=(0, 1), ylim=(-0.11, 1.04), xlabel="reported confidence (below: records per bin)")
    axes.set_ylabel("share of right records, 95% interval")
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])


def _areas(axes: Axes, part: SeriesFindings) -> None:
    axes.set_title("AUC with 95% interval, against the baselines")
    groups = ((f"confidence ≥ {NUMBERS.high_confidence:g}", part.high), ("all records", part.all))
    listed: list[tuple[str, Area]] = []
    for name, areas in groups:
        scores = (
            ("self-report", areas.confidence),
            ("little churn", areas.churn),
            ("harmless surface", areas.surface),
        )
        listed += [(f"{score}\n{name}", area) for score, area in scores]
    for place, (label, area) in enumerate(reversed(listed)):
        color = _BLUE if label.startswith("self-report") else _GREY
        if area.auc is None or area.interval is None:
            axes.text(0.02, place, "not enough data", va="center", fontsize=7, color=_GREY)
            continue
        axes.hlines(place, area.interval.low, area.interval.high, color=color, linewidth=1.6)
        axes.plot(area.auc, place, "o", color=color, markersize=5, clip_on=False)
        axes.text(1.03, place, f"{area.auc:.2f}  (n = {area.records})", va="center", fontsize=7, color=color)
    axes.axvline(NUMBERS.chance, linestyle="--", linewidth=0.9, color=_GREY)
    axes.text(NUMBERS.chance + 0.012, len(listed) - 0.4, "chance", fontsize=7, color=_GREY, ha="left")
    axes.axhline(2.5, linewidth=0.6, color=_LIGHT)
    axes.set(xlim=(0, 1), ylim=(-0.6, len(listed) - 0.1), xlabel="AUC")
    axes.set_yticks(range(len(listed)), [label for label, _ in reversed(listed)], fontsize=7)


def _bar(label: str, count: int, total: int) -> tuple[str, int, str]:
    return label, count, f"{count:,} ({count / total:.1%})" if total >= NUMBERS.least_records else f"{count:,}"


def _bars(bars: list[tuple[str, int, str]], unit: str, title: str) -> Figure:
    figure = Figure(figsize=(7.2, 2.6), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title)
    for place, (label, count, text) in enumerate(reversed(bars)):
        axes.barh(place, count, height=0.6, color=_ORANGE if label == CatchingGate.REFLECTION else _BLUE)
        axes.text(count, place, f"  {text}", va="center", fontsize=8)
    axes.set_yticks(range(len(bars)), [label for label, _, _ in reversed(bars)])
    axes.set_xlabel(unit)
    axes.set_xlim(0, max(1, *(count for _, count, _ in bars)) * 1.22)
    return figure


def _annotate(axes: Axes, text: str) -> None:
    axes.text(0.5, 0.5, text, ha="center", va="center", color=_GREY, transform=axes.transAxes)
    axes.set(xticks=[], yticks=[])
