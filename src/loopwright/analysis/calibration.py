"""P1: whether a high self-reported confidence separates right from wrong, compared with churn and surface.

Each series is analysed separately. The deciding series is chosen by its amount of data, never by its result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from loopwright.analysis.changes import LandedChange, changes_of
from loopwright.analysis.corpus import JudgedRecord, RatedReport, Reports, as_reported, read_corpus, without_duplicates
from loopwright.analysis.history import DAY, Progress, Window, moment_text, read_past
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
from loopwright.analysis.outcomes import LandingOutcome, Outcomes, lines_changed
from loopwright.analysis.preregistered import DECIDING_ORDER, NUMBERS, Experiment, Series
from loopwright.analysis.statistics import (
    area_under_curve,
    brier_of_base_rate,
    brier_score,
    expected_calibration_error,
    lift_of_high,
    reliability_bins,
)
from loopwright.kernel.git_history import History

_NOT_ENOUGH = "not enough data: "


def analyse_corpus(file: InputFile) -> Parts:
    """Analyse a file of judged confidences."""
    corpus = read_corpus(file)
    judged, duplicates = without_duplicates(corpus.judged)
    findings = findings_of(judged)
    ignored = f"ignored fields: {', '.join(name[:60] for name in corpus.ignored_fields)}"
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
    """Analyse a workspace's reflections, judged by what happened to the work in git."""
    # Work that landed before the first report can't be its outcome.
    first = min((report.time for report in reports.reports), default=as_of) - NUMBERS.landing_days_before * DAY
    past = read_past(history, Window(since=max(first, 0), until=as_of), on_progress)
    changes = changes_of(past.commits, past.tips[0] if past.tips else "")
    outcomes = Outcomes([_as_reported(change) for change in changes], as_of)
    judgements = [(report, outcomes.of_work(report.files, report.time)) for report in reports.reports]
    known = [(report, outcome) for report, outcome in judgements if isinstance(outcome, LandingOutcome)]
    left_out = Counter(str(outcome) for _, outcome in judgements if not isinstance(outcome, LandingOutcome))
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
    """Every series in the records, in the order in which they may decide."""
    present = {record.series for record in judged}
    return tuple(
        _series(series, [record for record in judged if record.series is series])
        for series in DECIDING_ORDER
        if series in present
    )


def verdict_on(findings: Sequence[SeriesFindings]) -> Verdict:
    """Answer the pre-registered question for the deciding series."""
    deciding = _deciding(findings)
    if deciding is None:
        reasons = [f"{part.series}: {part.high.confidence.why_not.removeprefix(_NOT_ENOUGH)}" for part in findings]
        reason = "; ".join(reasons) or "there are no records with a confidence and an outcome"
        return NotEnoughData(f"not enough data on confidence >= {NUMBERS.high_confidence:g}: {reason}")
    area = next(part.high.confidence for part in findings if part.series is deciding)
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
    return next((part.series for part in findings if part.high.confidence.auc is not None), None)


def _as_reported(change: LandedChange) -> LandedChange:
    """The change with its files named as reports name them."""
    return replace(change, files=frozenset(map(as_reported, change.files)))


def _judged(report: RatedReport, outcome: LandingOutcome, lines: dict[str, int]) -> JudgedRecord:
    churn = lines.get(outcome.landed.id)
    return JudgedRecord(
        series=report.series,
        confidence=report.confidence,
        right=outcome.right,
        churn=None if churn is None else float(churn),
        surface_weight=report.surface_weight,
        # Several reports on the same change, one per turn of a session: the last report counts.
        identity=(*report.work, outcome.landed.id),
    )


def _series(series: Series, judged: list[JudgedRecord]) -> SeriesFindings:
    confidences = [record.confidence for record in judged]
    right = [record.right for record in judged]
    counted = SeriesFindings(
        series=series,
        records=len(judged),
        right=sum(right),
        wrong=len(right) - sum(right),
        high=_discrimination([record for record in judged if record.confidence >= NUMBERS.high_confidence]),
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
    """The self-report and both baselines. High churn and a risky surface suggest wrong, so they count negatively."""
    churned = [(record.churn, record.right) for record in judged if record.churn is not None]
    surfaced = [(record.surface_weight, record.right) for record in judged if record.surface_weight is not None]
    return Discrimination(
        confidence=area_under_curve([record.confidence for record in judged], [record.right for record in judged]),
        churn=area_under_curve([-churn for churn, _ in churned], [right for _, right in churned]),
        surface=area_under_curve([-weight for weight, _ in surfaced], [right for _, right in surfaced]),
    )
