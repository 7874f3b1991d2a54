"""Statistics with their uncertainty, from scipy: AUC, lift, Brier score, calibration error, reliability bins.

Every function can answer "not enough data". Intervals: Newcombe's score method for AUC, Wilson's for shares, Katz's
log method for ratios. docs/adr/0006-statistics.md gives the reasons.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import binomtest, norm, rankdata
from scipy.stats.contingency import relative_risk

from loopwright.analysis.model import Area, Bin, Interval, Lift
from loopwright.analysis.preregistered import NUMBERS

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]
# Far smaller than any difference in data, and far larger than a double's precision.
_NEARLY = 1e-12


def area_under_curve(scores: Sequence[float], right: Sequence[bool]) -> Area:
    """How well the score ranks right above wrong: 0.5 is chance, ties count half."""
    labels: Flags = np.asarray(right, dtype=bool)
    hits, misses = int(labels.sum()), int((~labels).sum())
    why_not = _why_not(hits, misses)
    if why_not:
        return Area(records=len(labels), right=hits, wrong=misses, why_not=why_not)
    ranks: Numbers = rankdata(np.asarray(scores, dtype=float))
    auc = float((ranks[labels].sum() - hits * (hits + 1) / 2) / (hits * misses))
    return Area(records=len(labels), right=hits, wrong=misses, auc=auc, interval=auc_interval(auc, hits, misses))


def auc_interval(auc: float, hits: int, misses: int) -> Interval:
    """Newcombe (2006), method 5: every area that the data does not reject; never of width zero or outside 0..1."""
    z = float(norm.ppf(0.5 + NUMBERS.interval / 2))

    def surplus(area: float) -> float:
        spread = (hits + misses) / 2 - 1
        variance = area * (1 - area) * (1 + spread * ((1 - area) / (2 - area) + area / (1 + area))) / (hits * misses)
        return (auc - area) ** 2 - z * z * variance

    low = brentq(surplus, 0.0, min(auc, 1 - _NEARLY)) if auc > _NEARLY else 0.0
    high = brentq(surplus, max(auc, _NEARLY), 1.0) if auc < 1 - _NEARLY else 1.0
    return Interval(low=float(low), high=float(high))


def share_interval(successes: int, count: int) -> Interval:
    """Wilson's interval of a share."""
    interval = binomtest(successes, count).proportion_ci(confidence_level=NUMBERS.interval, method="wilson")
    return Interval(low=float(interval.low), high=float(interval.high))


def lift_of_high(confidences: Sequence[float], right: Sequence[bool]) -> Lift:
    """The share of right records among those with a high self-rating, divided by the share among all."""
    labels: Flags = np.asarray(right, dtype=bool)
    is_high: Flags = np.asarray(confidences, dtype=float) >= NUMBERS.high_confidence
    high, rest = labels[is_high], labels[~is_high]
    if len(high) < NUMBERS.least_records:
        return Lift(why_not=f"not enough data: {len(high)} records are self-rated high")
    shares = Lift(high_right_share=float(high.mean()), all_right_share=float(labels.mean()))
    if not len(rest):
        return replace(shares, why_not="every record is self-rated high, so there is nothing to compare with")
    if not labels.any():
        return replace(shares, why_not="no record is right, so there is nothing to compare")
    return replace(shares, lift=float(high.mean() / labels.mean()), interval=_lift_interval(high, rest))


def _lift_interval(high: Flags, rest: Flags) -> Interval | None:
    """Derived from the ratio of high to rest: for given sizes, the lift depends only on that ratio."""
    if not high.any() or not rest.any():
        # The method gives no interval for a ratio with a zero.
        return None
    ratio = relative_risk(int(high.sum()), len(high), int(rest.sum()), len(rest))
    ends = ratio.confidence_interval(confidence_level=NUMBERS.interval)
    weight = len(high) / (len(high) + len(rest))
    low, high_end = (float(end / (weight * end + 1 - weight)) for end in ends)
    return Interval(low=low, high=high_end) if isfinite(low) and isfinite(high_end) else None


def brier_score(confidences: Sequence[float], right: Sequence[bool]) -> float:
    """The mean squared difference between confidence and outcome."""
    return float(np.mean((np.asarray(confidences, dtype=float) - np.asarray(right, dtype=float)) ** 2))


def brier_of_base_rate(right: Sequence[bool]) -> float:
    """The score of always predicting the true average."""
    share = float(np.mean(np.asarray(right, dtype=float)))
    return share * (1 - share)


def reliability_bins(confidences: Sequence[float], right: Sequence[bool]) -> tuple[Bin, ...]:
    """Bins of equal width; a value on a border belongs to the bin above it, 1 to the last."""
    values: Numbers = np.asarray(confidences, dtype=float)
    labels: Flags = np.asarray(right, dtype=bool)
    borders = [number / NUMBERS.bins for number in range(NUMBERS.bins + 1)]
    place = np.digitize(values, borders[1:-1])
    return tuple(
        _bin(borders[number], borders[number + 1], values[place == number], labels[place == number])
        for number in range(NUMBERS.bins)
    )


def expected_calibration_error(bins: Sequence[Bin]) -> float:
    """The difference between confidence and outcome per bin, weighted by the bins' counts."""
    gaps = [
        row.records * abs(row.right_share - row.mean_confidence)
        for row in bins
        if row.right_share is not None and row.mean_confidence is not None
    ]
    return float(np.sum(gaps) / sum(row.records for row in bins))


def _bin(low: float, high: float, values: Numbers, labels: Flags) -> Bin:
    if not len(values):
        return Bin(from_=low, to=high, records=0)
    return Bin(
        from_=low,
        to=high,
        records=len(values),
        mean_confidence=float(values.mean()),
        right_share=float(labels.mean()),
        interval=share_interval(int(labels.sum()), len(labels)),
    )


def _why_not(hits: int, misses: int) -> str:
    if hits + misses < NUMBERS.least_records:
        return f"not enough data: {hits + misses} records, {NUMBERS.least_records} are needed"
    if not misses:
        return f"not enough data: all {hits} records are right, so there is nothing to tell apart"
    if not hits:
        return f"not enough data: all {misses} records are wrong, so there is nothing to tell apart"
    return ""
