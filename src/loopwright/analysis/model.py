"""The records of analyses: a verdict is a type, a result names its inputs by digest. Owns no computing."""

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
    """The kill condition was looked for and is not there."""


class Killed(_Verdict, frozen=True, tag="killed"):
    """The kill condition holds."""


class NotEnoughData(_Verdict, frozen=True, tag="not_enough_data"):
    """There is no honest answer yet."""


Verdict = Passed | Killed | NotEnoughData


class Input(_Record, frozen=True, kw_only=True):
    """What was read: enough to know the same thing again."""

    kind: Literal["git", "corpus", "reflections", "board"]
    name: str
    sha256: str


class Malformed(_Record, frozen=True, kw_only=True):
    """Parts of an input that could not be read: how many, which, and why for the first of them."""

    count: int = 0
    where: str = ""
    reasons: tuple[str, ...] = ()


class ListedFailure(_Record, frozen=True, kw_only=True):
    """A failure as it is recorded: ids, and no words of the project's own."""

    id: str
    at: str
    kind: str
    culprit: str | None
    gate: CatchingGate
    rule: str


class Group(_Record, frozen=True, kw_only=True):
    """The mechanical look of some changes; null where fewer than the least number are known."""

    changes: int
    looked_at: int
    lines_known: int
    median_lines: float | None
    median_files: float | None
    mean_surface_weight: float | None


class Chance(_Record, frozen=True, kw_only=True):
    """File-linked failures by gate, and how many chance gives: on average, and at most in the last bucket."""

    draws: int
    by_files: dict[str, int]
    expected: dict[str, float]
    most_reflection: int


class HistoryFindings(_Record, frozen=True, kw_only=True, tag_field="about", tag="git-history"):
    """P2: failures by the gate that would have caught them, and what churn and surface say about the culprits."""

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
    # The first results were recorded without it, and must come back as they were.
    chance: Chance | msgspec.UnsetType = msgspec.UNSET


class BoardFindings(_Record, frozen=True, kw_only=True, tag_field="about", tag="board-history"):
    """P3: completed tasks and whether a machine could tell that they were right or wrong."""

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
    """Both ends."""

    low: float
    high: float


class Area(_Record, frozen=True, kw_only=True):
    """The area under the ROC curve of one score on some records; only `why_not` where there is not enough data."""

    records: int
    right: int
    wrong: int
    auc: float | None = None
    interval: Interval | None = None
    why_not: str = ""


class Lift(_Record, frozen=True, kw_only=True):
    """How much more often the self-rated-high records are right than all of them."""

    high_right_share: float | None = None
    all_right_share: float | None = None
    lift: float | None = None
    interval: Interval | None = None
    why_not: str = ""


class Bin(_Record, frozen=True, kw_only=True):
    """One bar of the reliability diagram; `from_` is in it, `to` is not, but for the last."""

    from_: float = msgspec.field(name="from")
    to: float
    records: int
    mean_confidence: float | None = None
    right_share: float | None = None
    interval: Interval | None = None


class Discrimination(_Record, frozen=True, kw_only=True):
    """The self-report beside the deterministic baselines, on the same records."""

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
    """P1: each series by itself; `decides` is the one that the kill condition was put to."""

    decides: Series | None
    series: tuple[SeriesFindings, ...]
    duplicates: int
    left_out: dict[str, int]
    malformed: Malformed


Findings = HistoryFindings | BoardFindings | CalibrationFindings


class AnalysisResult(_Record, frozen=True, kw_only=True):
    """One analysis as it is printed and recorded; the kill condition comes first."""

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
    """What an analysis finds; the verb adds when, with which tool and under which registration."""

    question: Experiment
    verdict: Verdict
    findings: Findings
    inputs: tuple[Input, ...]
    parameters: dict[str, str]
    notes: tuple[str, ...] = ()
    # For a terminal only: what commits are called is the project's own text, and is not copied into records.
    titles: dict[str, str] = msgspec.field(default_factory=dict)
