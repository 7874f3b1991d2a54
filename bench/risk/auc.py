"""Area under the ROC curve by ranks (ties at mid-rank), also within strata, with percentile bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

Floats = NDArray[np.float64]
Labels = NDArray[np.bool_]
Strata = NDArray[np.int64]


def auc(labels: Labels, scores: Floats) -> float:
    """How often a buggy commit scores above another; nan if there is only one kind."""
    buggy = int(labels.sum())
    pairs = buggy * (len(labels) - buggy)
    if not pairs:
        return float("nan")
    return float((rankdata(scores)[labels].sum() - buggy * (buggy + 1) / 2) / pairs)


def auc_within(labels: Labels, scores: Floats, strata: Strata) -> float:
    """The same, only over pairs within one stratum."""
    total, pairs = 0.0, 0
    for stratum in np.unique(strata):
        inside = strata == stratum
        buggy = int(labels[inside].sum())
        here = buggy * (int(inside.sum()) - buggy)
        if here:
            total += here * auc(labels[inside], scores[inside])
            pairs += here
    return total / pairs if pairs else float("nan")


def equal_parts(values: Floats, parts: int) -> Strata:
    """Strata of equal size by rank; equal values stay together."""
    return np.minimum((rankdata(values, "min") - 1) * parts // len(values), parts - 1).astype(np.int64)


Statistic = Callable[[NDArray[np.int64]], float]


def interval(sizes: Sequence[int], statistics: Sequence[Statistic], draws: int, seed: int) -> Floats:
    """2.5 % and 97.5 % per project, and at the end for the mean of projects; each project is drawn separately."""
    chance = np.random.default_rng(seed)
    drawn = np.empty((draws, len(sizes) + 1))
    for number in range(draws):
        found = [of(chance.integers(0, size, size)) for of, size in zip(statistics, sizes, strict=True)]
        drawn[number] = [*found, float(np.mean(found))]
    return np.nanpercentile(drawn, [2.5, 97.5], axis=0)
