"""The records of analyses: a verdict is a type, and a result names its inputs by digest. Computes nothing."""

from __future__ import annotations

from typing import Literal

import msgspec

from loopwright.analysis.preregistered import CatchingGate, Experiment, Series

SCHEMA: Literal["analysis.v1"] = "analysis.v1"


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Strict and immutable."""


class _Verdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="is"):
    sentence: str


class Passed(_Verdict, frozen=True, tag="passed"):
    """The kill condition was tested and does not hold."""


class Killed(_Verdict, frozen=True, tag="killed"):
    """The kill condition holds."""


class NotEnoughData(_Verdict, frozen=True, tag="not_enough_data"):
    """The data does not allow an answer yet."""


Verdict = Passed | Killed | NotEnoughData


class Input(_Record, frozen=True, kw_only=True):
    """An input, identified by its digest."""

    kind: Literal["git", "corpus", "reflections", "board"]
    name: str
    sha256: str


class Malformed(_Record, frozen=True, kw_only=True):
    """Unreadable parts of an input: how many, which, and the first reasons."""

    count: int = 0
    where: str = ""
    reasons: tuple[str, ...] = ()


class ListedFailure(_Record, frozen=True, kw_only=True):
    """A failure as recorded: only ids, no text of the project."""

    id: str
    at: str
    kind: str
    culprit: str | None
    gate: CatchingGate
    rule: str


class Group(_Record, frozen=True, kw_only=True):
    """Size and surface of some changes; null if fewer than the minimum number are known."""

    changes: int
    looked_at: int
    lines_known: int
    median_lines: float | None
    median_files: float | None
    mean_surface_weight: float | None


class Chance(_Record, frozen=True, kw_only=True):
    """File-linked failures by gate, and how many are due to chance: on average, and at most in the last bucket."""

    draws: int
    by_files: dict[str, int]
    expected: dict[str, float]
    most_reflection: int


class HistoryFindings(_Record, frozen=True, kw_only=True, tag_field="about", tag="git-history"):
    """P2: failures by the gate that would have caught them, and churn and surface of the culprits."""

    commits: int
    features: int
    failures: int
    reverts: int
    fixes: int
    tally: dict[str, int]
    reflection_share: float | None
    not_counted: dict[str, int]
    failed_features: Group
    other_features: Group
    newest_failures: tuple[ListedFailure, ...]
    # The first results were recorded without this field, and must stay readable.
    chance: Chance | msgspec.UnsetType = msgspec.UNSET


class BoardFindings(_Record, frozen=True, kw_only=True, tag_field="about", tag="board-history"):
    """P3: completed tasks, and whether a program could tell that they were right or wrong."""

    tasks: int
    completed: int
    decided: int
    with_signal: int
    right: int
    wrong: int
    signal_share: float | None
    too_young: int
    signals: dict[str, int]
    undated_signals: int
    duplicates: int
    malformed: Malformed


class Interval(_Record, frozen=True, kw_only=True):
    """The two ends of an interval."""

    low: float
    high: float


class Area(_Record, frozen=True, kw_only=True):
    """The area under the ROC curve of one score; only `why_not` is set if there is not enough data."""

    records: int
    right: int
    wrong: int
    auc: float | None = None
    interval: Interval | None = None
    why_not: str = ""


class Lift(_Record, frozen=True, kw_only=True):
    """How much more often records with a high self-rating are right than all records."""

    high_right_share: float | None = None
    all_right_share: float | None = None
    lift: float | None = None
    interval: Interval | None = None
    why_not: str = ""


class Bin(_Record, frozen=True, kw_only=True):
    """One bar of the reliability diagram; includes `from_` and excludes `to`, except in the last bar."""

    from_: float = msgspec.field(name="from")
    to: float
    records: int
    mean_confidence: float | None = None
    right_share: float | None = None
    interval: Interval | None = None


class Discrimination(_Record, frozen=True, kw_only=True):
    """The self-report and the deterministic baselines, on the same records."""

    confidence: Area
    churn: Area
    surface: Area


class SeriesFindings(_Record, frozen=True, kw_only=True):
    """Everything about one series of confidences."""

    series: Series
    records: int
    right: int
    wrong: int
    high: Discrimination
    all: Discrimination
    lift: Lift
    brier: float | None = None
    brier_of_base_rate: float | None = None
    expected_calibration_error: float | None = None
    bins: tuple[Bin, ...] = ()


class CalibrationFindings(_Record, frozen=True, kw_only=True, tag_field="about", tag="calibration"):
    """P1: each series separately; `decides` is the series that answers the question."""

    decides: Series | None
    series: tuple[SeriesFindings, ...]
    duplicates: int
    left_out: dict[str, int]
    malformed: Malformed


Findings = HistoryFindings | BoardFindings | CalibrationFindings


class AnalysisResult(_Record, frozen=True, kw_only=True):
    """One analysis as printed and recorded; the kill condition comes first."""

    kill: str
    verdict: Verdict
    question: Experiment
    findings: Findings
    notes: tuple[str, ...]
    inputs: tuple[Input, ...]
    parameters: dict[str, str]
    at: str
    preregistration: str
    tool_version: str
    schema: Literal["analysis.v1"] = SCHEMA


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """What an analysis finds; the verb adds the time, the tool version and the registration."""

    question: Experiment
    verdict: Verdict
    findings: Findings
    inputs: tuple[Input, ...]
    parameters: dict[str, str]
    notes: tuple[str, ...] = ()
    # Only for a terminal: commit titles are the project's own text and are not copied into records.
    titles: dict[str, str] = msgspec.field(default_factory=dict)
