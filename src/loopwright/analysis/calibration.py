"""P1: whether a self-reported confidence tells right from wrong where it is high, beside churn and surface.

Each series is analysed by itself. The one that decides is chosen by how much data it has, never by its result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from loopwright.analysis.changes import LandedChange, changes_of
from loopwright.analysis.churn import lines_changed
from loopwright.analysis.corpus import JudgedRecord, read_corpus, without_duplicates
from loopwright.analysis.history import DAY, Progress, Window, read_past
from loopwright.analysis.input_files import InputFile
from loopwright.analysis.model import (
    CalibrationFindings,
    Discrimination,
    Input,
    Killed,
    NotEnoughData,
    Parts,
    Passed,
    SeriesFindings,
    Verdict,
)
from loopwright.analysis.moments import moment_text
from loopwright.analysis.outcomes import LandingOutcome, Outcomes
from loopwright.analysis.preregistered import DECIDING_ORDER, NUMBERS, Experiment, Series
from loopwright.analysis.reflections import RatedReport, Reports, as_reported
from loopwright.analysis.statistics import (
    area_under_curve,
    brier_of_base_rate,
    brier_score,
    expected_calibration_error,
    lift_of_high,
    reliability_bins,
)
from loopwright.kernel.git_history import History


def analyse_corpus(file: InputFile) -> Parts:
    """A file of judged confidences."""
    corpus = read_corpus(file)
    judged, duplicates = without_duplicates(corpus.judged)
    findings = findings_of(judged)
    ignored = f"fields that are not looked at: {', '.join(name[:60] for name in corpus.ignored_fields)}"
    return Parts(
        question=Experiment.CALIBRATION,
        verdict=verdict_on(findings),
        findings=CalibrationFindings(
            decides=_deciding(findings),
            series=findings,
            duplicates=duplicates,
            left_out={},
            malformed=corpus.malformed,
        ),
        inputs=(Input(kind="corpus", name=file.path.name, sha256=corpus.sha256),),
        parameters={},
        notes=(ignored,) if corpus.ignored_fields else (),
    )


def analyse_reports(reports: Reports, history: History, as_of: int, on_progress: Progress | None = None) -> Parts:
    """A workspace's reflections, judged by what git says became of the work."""
    # Nothing that landed before the first report can be its outcome.
    first = min((report.time for report in reports.reports), default=as_of) - NUMBERS.landing_days_before * DAY
    past = read_past(history, Window(since=max(first, 0), until=as_of), on_progress)
    changes = changes_of(past.commits, past.tips[0] if past.tips else "")
    outcomes = Outcomes([_as_reported(change) for change in changes], as_of)
    found = [(report, outcomes.of_work(report.files, report.time)) for report in reports.reports]
    known = [(report, outcome) for report, outcome in found if isinstance(outcome, LandingOutcome)]
    left_out = Counter(str(outcome) for _, outcome in found if not isinstance(outcome, LandingOutcome))
    lines = lines_changed(history, sorted({outcome.landed.id for _, outcome in known}))
    judged, duplicates = without_duplicates(tuple(_judged(report, outcome, lines) for report, outcome in known))
    findings = findings_of(judged)
    return Parts(
        question=Experiment.CALIBRATION,
        verdict=verdict_on(findings),
        findings=CalibrationFindings(
            decides=_deciding(findings),
            series=findings,
            duplicates=duplicates,
            left_out={"no confidence was reported": reports.without_confidence, **left_out},
            malformed=reports.malformed,
        ),
        inputs=(
            Input(kind="reflections", name="reflections", sha256=reports.sha256),
            Input(kind="git", name=" ".join(past.tips), sha256=past.digest),
        ),
        parameters={"as_of": moment_text(as_of)},
        notes=past.notes,
    )


def findings_of(judged: Sequence[JudgedRecord]) -> tuple[SeriesFindings, ...]:
    """Every series that there is, in the order in which they may decide."""
    present = {one.series for one in judged}
    return tuple(
        _series(series, [one for one in judged if one.series is series])
        for series in DECIDING_ORDER
        if series in present
    )


def verdict_on(findings: Sequence[SeriesFindings]) -> Verdict:
    """The pre-registered question put to the series that decides."""
    deciding = _deciding(findings)
    if deciding is None:
        reasons = [f"{one.series}: {one.high.confidence.why_not.removeprefix('not enough data: ')}" for one in findings]
        said = "; ".join(reasons) or "there are no records with a confidence and an outcome"
        return NotEnoughData(f"not enough data on confidence >= {NUMBERS.high_confidence:g}: {said}")
    area = next(one.high.confidence for one in findings if one.series is deciding)
    if area.auc is None or area.interval is None:  # pragma: no cover -- a series without an area does not decide
        return NotEnoughData(area.why_not)
    sentence = (
        f"on {area.records} records of series '{deciding}' with confidence >= {NUMBERS.high_confidence:g} the AUC is "
        f"{area.auc:.3f}, {NUMBERS.interval:.0%} interval {area.interval.low:.3f} to {area.interval.high:.3f}"
    )
    if area.interval.low <= NUMBERS.chance:
        return Killed(f"{sentence}: not above chance")
    return Passed(f"{sentence}: above chance")


def _deciding(findings: Sequence[SeriesFindings]) -> Series | None:
    return next((one.series for one in findings if one.high.confidence.auc is not None), None)


def _as_reported(change: LandedChange) -> LandedChange:
    """With its files named as reports name them."""
    return replace(change, files=frozenset(map(as_reported, change.files)))


def _judged(report: RatedReport, outcome: LandingOutcome, lines: dict[str, int]) -> JudgedRecord:
    churn = lines.get(outcome.landed.id)
    return JudgedRecord(
        series=report.series,
        confidence=report.confidence,
        right=outcome.right,
        churn=None if churn is None else float(churn),
        surface_weight=report.surface_weight,
        # Several reports on the same change, one per turn of a session: the last one counts.
        identity=(*report.work, outcome.landed.id),
    )


def _series(series: Series, judged: list[JudgedRecord]) -> SeriesFindings:
    confidences = [one.confidence for one in judged]
    right = [one.right for one in judged]
    counted = SeriesFindings(
        series=series,
        records=len(judged),
        right=sum(right),
        wrong=len(right) - sum(right),
        high=_discrimination([one for one in judged if one.confidence >= NUMBERS.high_confidence]),
        all=_discrimination(judged),
        lift=lift_of_high(confidences, right),
    )
    if len(judged) < NUMBERS.least_records:
        return counted
    bins = reliability_bins(confidences, right)
    return replace(
        counted,
        brier=brier_score(confidences, right),
        brier_of_base_rate=brier_of_base_rate(right),
        expected_calibration_error=expected_calibration_error(bins),
        bins=bins,
    )


def _discrimination(judged: list[JudgedRecord]) -> Discrimination:
    """The self-report and both baselines; much churn and a risky surface speak for wrong, so they count downwards."""
    churned = [(one.churn, one.right) for one in judged if one.churn is not None]
    surfaced = [(one.surface_weight, one.right) for one in judged if one.surface_weight is not None]
    return Discrimination(
        confidence=area_under_curve([one.confidence for one in judged], [one.right for one in judged]),
        churn=area_under_curve([-churn for churn, _ in churned], [right for _, right in churned]),
        surface=area_under_curve([-weight for weight, _ in surfaced], [right for _, right in surfaced]),
    )
