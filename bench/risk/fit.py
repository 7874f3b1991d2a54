"""A monotone logistic model of a change's size, fitted without the project that it is measured on: `fit.py CSV[.gz]`.

Weights are never negative, and each project has an intercept of its own, so base rates do not leak. Prints the AUC per
project with its interval, the weights on all projects, and the differences to counting lines.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from auc import Floats, Labels, auc, interval
from commits import Commit, read_commits
from numpy.typing import NDArray
from scipy.optimize import minimize

from loopwright.reflection.risk import evaluate_risk_floor

_INPUTS = ("added", "deleted", "files", "folders", "code files", "surface")
_MODELS = {"added lines": (0,), "all sizes": (0, 1, 2, 3, 4), "all sizes and surface": (0, 1, 2, 3, 4, 5)}
_RIDGE = 1e-4


def main() -> None:
    """Read, fit, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("csv", type=Path)
    parser.add_argument("--draws", type=int, default=2000, help="bootstrap draws")
    wanted = parser.parse_args()
    commits = read_commits(wanted.csv)
    labels = {name: np.array([c.is_buggy for c in found]) for name, found in commits.items()}
    inputs = {name: np.array([_inputs(c) for c in found]) for name, found in commits.items()}
    churn = {name: np.array([c.insertions + c.deletions for c in found], float) for name, found in commits.items()}
    for model, columns in _MODELS.items():
        scores = {}
        for name in commits:
            others = [other for other in commits if other != name]
            scores[name] = inputs[name][:, columns] @ fitted(others, inputs, labels, columns)
        weights = fitted(list(commits), inputs, labels, columns)
        print(f"\n{model}: " + ", ".join(f"{_INPUTS[c]} {w:.3f}" for c, w in zip(columns, weights, strict=True)))
        print_aucs(labels, scores, wanted.draws)
        for title, simple in (("churn", churn), ("added lines", {name: inputs[name][:, 0] for name in commits})):
            print_difference(title, labels, scores, simple, wanted.draws)


def _inputs(commit: Commit) -> list[float]:
    verdict = evaluate_risk_floor(commit.files, commit.insertions, commit.deletions)
    folders = {path.rpartition("/")[0] for path in commit.files}
    code = sum(hit.surface not in {"test", "docs"} for hit in verdict.hits)
    counts = (commit.insertions, commit.deletions, len(commit.files), len(folders), code)
    return [*np.log1p(counts), verdict.base]


def fitted(
    names: Sequence[str], inputs: Mapping[str, Floats], labels: Mapping[str, Labels], columns: tuple[int, ...]
) -> Floats:
    """The weights for these projects, each project with equal weight."""
    size = len(columns)

    def loss(values: Floats) -> tuple[float, Floats]:
        total, slope = _RIDGE * float(values[:size] @ values[:size]), np.zeros_like(values)
        slope[:size] = 2 * _RIDGE * values[:size]
        for number, name in enumerate(names):
            x, y = inputs[name][:, columns], labels[name]
            z = x @ values[:size] + values[size + number]
            total += float(np.mean(np.logaddexp(0, z) - y * z))
            rest = (1 / (1 + np.exp(-z)) - y) / len(y)
            slope[:size] += x.T @ rest
            slope[size + number] += rest.sum()
        return total, slope

    bounds = [(0, None)] * size + [(None, None)] * len(names)
    found = minimize(loss, np.zeros(size + len(names)), jac=True, method="L-BFGS-B", bounds=bounds)
    return np.asarray(found.x[:size], dtype=np.float64)


def print_aucs(labels: Mapping[str, Labels], scores: Mapping[str, Floats], draws: int) -> None:
    def of(name: str, at: NDArray[np.int64]) -> float:
        return auc(labels[name][at], scores[name][at])

    statistics = [partial(of, name) for name in labels]
    sizes = [len(found) for found in labels.values()]
    values = [statistic(np.arange(size)) for statistic, size in zip(statistics, sizes, strict=True)]
    low, high = interval(sizes, statistics, draws, 1)
    for name, value, least, most in zip([*labels, "mean"], [*values, float(np.mean(values))], low, high, strict=True):
        print(f"  {name}: {value:.3f} [{least:.3f}, {most:.3f}]")


def print_difference(
    title: str, labels: Mapping[str, Labels], scores: Mapping[str, Floats], simple: Mapping[str, Floats], draws: int
) -> None:
    def difference(name: str, at: NDArray[np.int64]) -> float:
        return auc(labels[name][at], scores[name][at]) - auc(labels[name][at], simple[name][at])

    statistics = [partial(difference, name) for name in labels]
    sizes = [len(found) for found in labels.values()]
    mean = np.mean([statistic(np.arange(size)) for statistic, size in zip(statistics, sizes, strict=True)])
    low, high = interval(sizes, statistics, draws, 1)
    print(f"  minus {title}: {mean:.3f} [{low[-1]:.3f}, {high[-1]:.3f}]")


if __name__ == "__main__":
    main()
