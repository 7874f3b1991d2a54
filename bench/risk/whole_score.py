"""The whole score with a fitted size part in place of the shipped curve: `whole_score.py CSV[.gz]`.

For each project the weights, the form and the middle of the size part come from the other four. The middle is set
so that as many of their commits need review as today. Surfaces, their weights, the shares of tests and prose and the
count of work that only deletes stay as shipped. Prints AUCs and paired differences, all with intervals.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from auc import Floats, Labels, auc, interval
from commits import Commit, read_commits
from fit import fitted
from numpy.typing import NDArray

from loopwright.reflection.risk import THRESHOLD, evaluate_risk_floor
from loopwright.reflection.rule_sets import RULE_SETS

# The form of the size part: the shipped curve over the lines that have the same risk, or a logistic curve.
CURVE = 0.0
_STEEPNESS = (CURVE, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
_INPUTS = ("added", "deleted", "files", "folders")
_SPREAD = 3
assert RULE_SETS["default"].size is not None
SIZE = RULE_SETS["default"].size


@dataclass(frozen=True)
class Scored:
    """The commits of a project as columns."""

    labels: Labels
    inputs: Floats
    base: Floats
    meeting: Floats
    deleted_alone: Floats
    shipped: Floats
    spread: Floats
    churn: Floats
    insertions: Floats

    def whole(self, weights: Floats, steepness: float, middle: float) -> Floats:
        """The whole score with this size part, never less than for the deleted lines alone."""
        risen = self.inputs @ weights - middle
        size = (
            curve(np.exp(risen / weights[0]) * SIZE.half)
            if steepness == CURVE
            else 1 / (1 + np.exp(-steepness * risen))
        )
        return together(self.base, np.maximum(size, self.deleted_alone), self.meeting)


def together(base: Floats, size: Floats, meeting: Floats) -> Floats:
    """As `Size.together`, for columns."""
    heavier, lighter = np.maximum(base, size), np.minimum(base, size)
    return np.asarray(heavier + (1 - heavier) * lighter * meeting)


def curve(lines: Floats) -> Floats:
    """As `Size.score`, for a column of lines that all count."""
    low = 0.5 * lines / SIZE.half * (SIZE.half + SIZE.bend) / (lines + SIZE.bend)
    return np.where(lines <= SIZE.half, low, 1 - 0.5 * (SIZE.half / np.maximum(lines, SIZE.half)) ** 2)


def main() -> None:
    """Read, fit, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("csv", type=Path)
    parser.add_argument("--draws", type=int, default=2000, help="bootstrap draws")
    wanted = parser.parse_args()
    projects = {name: scored(commits) for name, commits in read_commits(wanted.csv).items()}
    print_line(["left out", "form", "middle", *_INPUTS])
    print_line(["---"] * (3 + len(_INPUTS)))
    whole = {}
    for name, project in projects.items():
        parts = size_part({other: found for other, found in projects.items() if other != name})
        whole[name] = project.whole(*parts)
        print_parts(name, *parts)
    print_parts("none: these would ship", *size_part(projects))
    measures = {
        "whole score, fitted size": whole,
        "whole score, shipped": {name: project.shipped for name, project in projects.items()},
        "whole score, lines times folders": {name: project.spread for name, project in projects.items()},
        "churn": {name: project.churn for name, project in projects.items()},
        "insertions": {name: project.insertions for name, project in projects.items()},
    }
    print_table("AUC", projects, {title: partial(_auc, projects, scores) for title, scores in measures.items()}, wanted)
    pairs = [(ours, other) for ours in list(measures)[:3] for other in ("churn", "insertions")]
    rows = {f"{a} − {b}": partial(_minus, projects, measures[a], measures[b]) for a, b in pairs}
    print_table("Difference of AUC", projects, rows, wanted)
    for title in list(measures)[:3]:
        shares = [float(np.mean(measures[title][name] >= THRESHOLD)) for name in projects]
        print(f"\nreview needed, {title}: " + ", ".join(f"{share:.2f}" for share in (*shares, np.mean(shares))))


def scored(commits: Sequence[Commit]) -> Scored:
    """All columns, by the shipped rules."""
    verdicts = [evaluate_risk_floor(c.files, c.insertions, c.deletions) for c in commits]
    surfaces = [{hit.surface for hit in verdict.hits} for verdict in verdicts]
    folders = [len({path.rpartition("/")[0] for path in c.files}) for c in commits]
    shares = [max((SIZE.shares.get(name, 1.0) for name in found), default=0.0) for found in surfaces]
    base = np.array([verdict.base for verdict in verdicts])
    meeting = np.array([max((SIZE.meeting[name] for name in found), default=0.0) for found in surfaces])
    counts = [
        (c.insertions * share, c.deletions * share, len(c.files), spread)
        for c, share, spread in zip(commits, shares, folders, strict=True)
    ]
    # Lines count up to three times as much in several folders: close to the fitted weights, and only divisions.
    times = [min(1 + (spread - 1) / 2, _SPREAD) for spread in folders]
    wider = [
        SIZE.score(round(c.insertions * factor), c.deletions, found)
        for c, factor, found in zip(commits, times, surfaces, strict=True)
    ]
    return Scored(
        labels=np.array([c.is_buggy for c in commits]),
        inputs=np.log1p(np.array(counts, float)),
        base=base,
        meeting=meeting,
        deleted_alone=np.array([SIZE.score(0, c.deletions, found) for c, found in zip(commits, surfaces, strict=True)]),
        shipped=np.array([verdict.score for verdict in verdicts]),
        spread=together(base, np.array(wider), meeting),
        churn=np.array([c.insertions + c.deletions for c in commits], float),
        insertions=np.array([c.insertions for c in commits], float),
    )


def size_part(projects: Mapping[str, Scored]) -> tuple[Floats, float, float]:
    """The weights, the best form, and the middle that asks for as many reviews as the shipped score."""
    columns = tuple(range(len(_INPUTS)))
    inputs = {name: project.inputs for name, project in projects.items()}
    weights = fitted(list(projects), inputs, {name: project.labels for name, project in projects.items()}, columns)
    asked = float(np.mean([np.mean(project.shipped >= THRESHOLD) for project in projects.values()]))
    found = []
    for steepness in _STEEPNESS:
        middle = _middle(list(projects.values()), weights, steepness, asked)
        scores = [auc(p.labels, p.whole(weights, steepness, middle)) for p in projects.values()]
        found.append((float(np.mean(scores)), steepness, middle))
    _, steepness, middle = max(found)
    return weights, steepness, middle


def _middle(projects: Sequence[Scored], weights: Floats, steepness: float, asked: float) -> float:
    low, high = -5.0, 15.0
    for _ in range(40):
        middle = (low + high) / 2
        share = np.mean([np.mean(p.whole(weights, steepness, middle) >= THRESHOLD) for p in projects])
        low, high = (middle, high) if share > asked else (low, middle)
    return (low + high) / 2


Statistic = Callable[[str, NDArray[np.int64]], float]


def _auc(projects: Mapping[str, Scored], scores: Mapping[str, Floats], name: str, at: NDArray[np.int64]) -> float:
    return auc(projects[name].labels[at], scores[name][at])


def _minus(
    projects: Mapping[str, Scored],
    ours: Mapping[str, Floats],
    other: Mapping[str, Floats],
    name: str,
    at: NDArray[np.int64],
) -> float:
    return _auc(projects, ours, name, at) - _auc(projects, other, name, at)


def print_parts(name: str, weights: Floats, steepness: float, middle: float) -> None:
    form = "shipped curve" if steepness == CURVE else f"logistic, steepness {steepness:g}"
    print_line([name, form, f"{middle:.3f}", *(f"{weight:.3f}" for weight in weights)])


def print_table(
    title: str, projects: Mapping[str, Scored], rows: Mapping[str, Statistic], wanted: argparse.Namespace
) -> None:
    print(f"\n{title}\n")
    print_line(["measure", *projects, "mean"])
    print_line(["---"] * (len(projects) + 2))
    sizes = [len(project.labels) for project in projects.values()]
    for row, statistic in rows.items():
        statistics = [partial(statistic, name) for name in projects]
        values = [of(np.arange(size)) for of, size in zip(statistics, sizes, strict=True)]
        values.append(float(np.mean(values)))
        low, high = interval(sizes, statistics, wanted.draws, 1)
        print_line([row, *(f"{v:.3f} [{a:.3f}, {b:.3f}]" for v, a, b in zip(values, low, high, strict=True))])


def print_line(cells: Sequence[str]) -> None:
    print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
