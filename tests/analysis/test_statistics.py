"""Our numbers against independent ones: scikit-learn's, scipy's other routines, and simulations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap, norm
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, roc_auc_score

from loopwright.analysis.preregistered import NUMBERS
from loopwright.analysis.statistics import (
    area_under_curve,
    auc_interval,
    brier_of_base_rate,
    brier_score,
    expected_calibration_error,
    lift_of_high,
    reliability_bins,
    share_interval,
)

# Few different values, so that ties are the rule; and any value at all.
confidences = st.one_of(st.sampled_from([0.0, 0.3, 0.5, 0.8, 0.9, 1.0]), st.floats(0, 1))
records = st.lists(st.tuples(confidences, st.booleans()), min_size=10, max_size=200)


def split(pairs):
    return [confidence for confidence, _ in pairs], [right for _, right in pairs]


@given(records)
def test_the_auc_agrees_with_scikit_learn(pairs):
    scores, right = split(pairs)
    assume(0 < sum(right) < len(right))
    area = area_under_curve(scores, right)
    assert area.auc == pytest.approx(roc_auc_score(right, scores), abs=1e-12)
    assert 0 <= area.interval.low <= area.auc + 1e-9
    assert area.auc - 1e-9 <= area.interval.high <= 1


@given(records)
def test_the_brier_score_agrees_with_scikit_learn(pairs):
    scores, right = split(pairs)
    assert brier_score(scores, right) == pytest.approx(brier_score_loss(right, scores, labels=[False, True]), abs=1e-12)
    average = [sum(right) / len(right)] * len(right)
    assert brier_of_base_rate(right) == pytest.approx(brier_score(average, right), abs=1e-12)


# On a border scikit-learn takes the bin below and we take the one above: 0.8 is self-rated high.
inside = st.builds(lambda number, rest: number / 10 + rest, st.integers(0, 9), st.floats(0.001, 0.099))


@given(st.lists(st.tuples(inside, st.booleans()), min_size=10, max_size=200))
def test_reliability_agrees_with_scikit_learn_off_the_borders(pairs):
    scores, right = split(pairs)
    bins = reliability_bins(scores, right)
    theirs_right, theirs_said = calibration_curve(right, scores, n_bins=10, strategy="uniform")
    filled = [one for one in bins if one.records]
    assert [one.right_share for one in filled] == pytest.approx(list(theirs_right))
    assert [one.mean_confidence for one in filled] == pytest.approx(list(theirs_said))
    weights = np.array([one.records for one in filled]) / len(pairs)
    assert expected_calibration_error(bins) == pytest.approx(
        float(np.sum(weights * np.abs(theirs_right - theirs_said)))
    )


@given(records)
def test_every_record_is_in_exactly_one_bin(pairs):
    bins = reliability_bins(*split(pairs))
    assert len(bins) == NUMBERS.bins
    assert sum(one.records for one in bins) == len(pairs)
    for one in bins:
        assert (one.interval is None) == (one.records == 0)
        assert one.mean_confidence is None or one.from_ - 1e-9 <= one.mean_confidence <= one.to + 1e-9


def test_a_value_on_a_border_is_in_the_bin_above_and_one_in_the_last():
    bins = reliability_bins([0.0, 0.1, 0.3, 0.8, 1.0], [True] * 5)
    assert [one.records for one in bins] == [1, 1, 0, 1, 0, 0, 0, 0, 1, 1]


@pytest.mark.parametrize(
    ("right", "why"),
    [
        ([], "0 records"),
        ([True], "1 records"),
        ([True, False] * 4 + [True], "9 records"),
        ([True] * 30, "all 30 records are right"),
        ([False] * 30, "all 30 records are wrong"),
    ],
)
def test_what_is_not_enough_has_no_number(right, why):
    area = area_under_curve([0.9] * len(right), right)
    assert area.auc is None
    assert area.interval is None
    assert area.why_not.startswith("not enough data")
    assert why in area.why_not


def test_all_the_same_is_chance():
    area = area_under_curve([0.9] * 20, [True, False] * 10)
    assert area.auc == 0.5
    assert area.interval.low < 0.5 < area.interval.high


@pytest.mark.parametrize(("hits", "misses"), [(5, 5), (9, 1), (1, 9), (50, 50), (1000, 3)])
@pytest.mark.parametrize("auc", [0.0, 1.0])
def test_a_perfect_result_is_not_a_certain_one(auc, hits, misses):
    interval = auc_interval(auc, hits, misses)
    assert interval.high - interval.low > 0.01
    assert interval.low == 0 if auc == 0 else interval.high == 1


def test_the_interval_is_symmetric_and_shrinks_with_data():
    one, other = auc_interval(0.7, 12, 30), auc_interval(0.3, 30, 12)
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low))
    widths = [interval.high - interval.low for interval in (auc_interval(0.7, size, size) for size in (5, 20, 80, 320))]
    assert widths == sorted(widths, reverse=True)


def test_the_interval_is_near_the_bootstraps_where_that_is_good():
    source = np.random.default_rng(7)
    right, wrong = source.normal(1, 1, 150), source.normal(0, 1, 120)
    ours = area_under_curve([*right, *wrong], [True] * 150 + [False] * 120)

    def auc(one, other, axis=-1):
        return np.mean(one[..., :, None] > other[..., None, :], axis=(-1, -2))

    theirs = bootstrap(
        (right, wrong), auc, n_resamples=999, method="percentile", rng=np.random.default_rng(1), batch=50
    ).confidence_interval
    assert ours.interval.low == pytest.approx(theirs.low, abs=0.02)
    assert ours.interval.high == pytest.approx(theirs.high, abs=0.02)


@pytest.mark.parametrize(("hits", "misses", "shift", "digits"), [(15, 15, 0.0, 6), (40, 8, 1.0, 1), (10, 10, 2.2, 0)])
def test_the_interval_covers_the_truth_about_as_often_as_it_says(hits, misses, shift, digits):
    source = np.random.default_rng(2026)
    # With rounding, ties count half on both sides; the truth is then that of the rounded values.
    big = [np.round(source.normal(mean, 1, 4000), digits) for mean in (shift, 0.0)]
    truth = np.mean(np.sign(np.subtract.outer(*big)) / 2 + 0.5) if digits < 6 else norm.cdf(shift / math.sqrt(2))
    covered = 0
    for _ in range(400):
        scores = np.round([*source.normal(shift, 1, hits), *source.normal(0, 1, misses)], digits)
        interval = area_under_curve(list(scores), [True] * hits + [False] * misses).interval
        covered += interval.low <= truth <= interval.high
    assert covered / 400 >= 0.93


@given(st.integers(1, 300), st.data())
def test_shares_have_wilsons_interval(count, data):
    successes = data.draw(st.integers(0, count))
    z, share = norm.ppf(0.975), successes / count
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z * math.sqrt(share * (1 - share) / count + z**2 / (4 * count**2)) / (1 + z**2 / count)
    found = share_interval(successes, count)
    assert (found.low, found.high) == pytest.approx((max(0, middle - half), min(1, middle + half)), abs=1e-9)


@settings(max_examples=200)
@given(records)
# Drawn pairs are never all high, and never all wrong.
@example([(0.9, True)] * NUMBERS.least_records)
@example([(0.9, False)] * NUMBERS.least_records + [(0.1, False)])
def test_lift_is_a_ratio_of_shares_or_says_why_not(pairs):
    scores, right = split(pairs)
    high = [one for score, one in pairs if score >= 0.8]
    lift = lift_of_high(scores, right)
    if len(high) < NUMBERS.least_records:
        assert lift.lift is None
        assert "not enough data" in lift.why_not
    elif len(high) == len(pairs) or not any(right):
        assert lift.lift is None
        assert lift.why_not
    else:
        assert lift.lift == pytest.approx((sum(high) / len(high)) / (sum(right) / len(right)))
        if lift.interval is not None:
            assert lift.interval.low <= lift.lift + 1e-9
            assert lift.lift <= lift.interval.high + 1e-9


def test_lift_of_nothing_right_among_the_high_is_zero_without_an_interval():
    lift = lift_of_high([0.9] * 12 + [0.1] * 12, [False] * 12 + [True] * 12)
    assert (lift.lift, lift.interval) == (0, None)
