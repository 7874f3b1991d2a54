"""How well a change's risk score separates commits with bugs from others: `score.py CSV[.gz] [--ruleset NAME]`.

Per project and as the mean of projects, never pooled: base rates differ. Deterministic. Needs numpy and scipy, which
the `.venv` of `make check` has. The data are not in this repository; docs/risk.md says where they come from.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from auc import Floats, Labels, Strata, auc, auc_within, equal_parts, interval
from commits import Commit, read_commits

from loopwright.reflection.risk import RiskVerdict, evaluate_risk_floor
from loopwright.reflection.rule_set import Size
from loopwright.reflection.rule_sets import RULE_SETS

_STRATA = 10
# The candidates for the shipped curve, for the check on projects that were left out.
_HALVES = (50.0, 100.0, 150.0, 200.0, 300.0, 400.0)
_BENDS = (0.1, 0.25, 0.5, 1.0)


@dataclass(frozen=True)
class Project:
    """A project's labels, strata and scores by measure."""

    name: str
    labels: Labels
    years: Strata
    churn: Strata
    scores: Mapping[str, Floats]
    verdicts: Mapping[str, Sequence[RiskVerdict]]
    commits: Sequence[Commit]


Row = Callable[[Project, Strata], float]


def main() -> None:
    """Read, score, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("csv", type=Path)
    parser.add_argument("--ruleset", action="append", choices=sorted(RULE_SETS), help="default: all")
    parser.add_argument("--draws", type=int, default=2000, help="bootstrap draws")
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    names = wanted.ruleset or list(RULE_SETS)
    projects = [scored(name, commits, names) for name, commits in read_commits(wanted.csv).items()]
    measures = list(projects[0].scores)
    paths = [name for name in ("default paths", "classic") if name in measures]
    tables = {
        "AUC": {name: plain(name) for name in measures},
        "AUC, pairs of one year only": {name: within_year(name) for name in measures},
        f"AUC of the paths alone at equal churn ({_STRATA} strata)": {name: at_equal_churn(name) for name in paths},
    }
    if "default" in names:
        tables["AUC of default minus that of"] = {name: minus(name) for name in ("churn", "insertions")}
    for title, rows in tables.items():
        print_table(title, projects, rows, wanted.draws, wanted.seed)
    if "default" in names:
        print_left_out(projects)
    print_reviews(projects, names)


def scored(name: str, commits: Sequence[Commit], names: Sequence[str]) -> Project:
    """Every measure of every commit."""
    verdicts = {
        rules: [evaluate_risk_floor(c.files, c.insertions, c.deletions, rules=RULE_SETS[rules]) for c in commits]
        for rules in names
    }
    churn = np.array([c.insertions + c.deletions for c in commits], float)
    scores = {rules: np.array([verdict.score for verdict in found]) for rules, found in verdicts.items()}
    if "default" in verdicts:
        scores["default paths"] = np.array([verdict.base for verdict in verdicts["default"]])
        scores["default size"] = np.array(
            [size_alone(verdict, c) for verdict, c in zip(verdicts["default"], commits, strict=True)]
        )
    scores |= {
        "churn": churn,
        "insertions": np.array([c.insertions for c in commits], float),
        "number of files": np.array([len(c.files) for c in commits], float),
    }
    years = np.unique([c.year for c in commits], return_inverse=True)[1]
    labels = np.array([c.is_buggy for c in commits])
    return Project(name, labels, years, equal_parts(churn, _STRATA), scores, verdicts, commits)


def size_alone(verdict: RiskVerdict, commit: Commit) -> float:
    assert verdict.rules.size is not None
    return verdict.rules.size.score(commit.insertions, commit.deletions, {hit.surface for hit in verdict.hits})


def plain(measure: str) -> Row:
    return lambda project, at: auc(project.labels[at], project.scores[measure][at])


def within_year(measure: str) -> Row:
    return lambda project, at: auc_within(project.labels[at], project.scores[measure][at], project.years[at])


def at_equal_churn(measure: str) -> Row:
    return lambda project, at: auc_within(project.labels[at], project.scores[measure][at], project.churn[at])


def minus(measure: str) -> Row:
    return lambda project, at: plain("default")(project, at) - plain(measure)(project, at)


def print_table(title: str, projects: Sequence[Project], rows: Mapping[str, Row], draws: int, seed: int) -> None:
    print(f"\n{title}\n")
    print_line(["measure", *(project.name for project in projects), "mean"])
    print_line(["---"] * (len(projects) + 2))
    for name, of in rows.items():
        statistics = [partial(of, project) for project in projects]
        sizes = [len(project.labels) for project in projects]
        values = [statistic(np.arange(size)) for statistic, size in zip(statistics, sizes, strict=True)]
        low, high = interval(sizes, statistics, draws, seed)
        values.append(float(np.mean(values)))
        print_line([name, *(f"{v:.3f} [{a:.3f}, {b:.3f}]" for v, a, b in zip(values, low, high, strict=True))])


def print_left_out(projects: Sequence[Project]) -> None:
    """For each project: the best curve for the other projects, and its result and the shipped curve's result here."""
    print("\nThe curve chosen without the project that it is measured on\n")
    shipped = RULE_SETS["default"].size
    assert shipped is not None
    curves = {
        (half, bend): Size(half, half * bend, shipped.removed, shipped.removed_alone, shipped.shares, shipped.meeting)
        for half, bend in itertools.product(_HALVES, _BENDS)
    }
    found = {key: [curve_auc(project, curve) for project in projects] for key, curve in curves.items()}
    print_line(["left out", "best half for the others", "its bend", "AUC here", "shipped"])
    print_line(["---"] * 5)
    for number, project in enumerate(projects):
        best = max(found, key=lambda key: np.mean(np.delete(found[key], number)))
        cells = (best[0], best[0] * best[1], found[best][number], curve_auc(project, shipped))
        print_line([project.name, *(f"{cell:g}" for cell in cells[:2]), *(f"{cell:.3f}" for cell in cells[2:])])
    means = sorted(float(np.mean(values)) for values in found.values())
    print(f"\nmean over all projects, over all {len(means)} curves: {means[0]:.3f} to {means[-1]:.3f}")


def curve_auc(project: Project, curve: Size) -> float:
    scores = []
    for commit, verdict in zip(project.commits, project.verdicts["default"], strict=True):
        surfaces = {hit.surface for hit in verdict.hits}
        size = curve.score(commit.insertions, commit.deletions, surfaces)
        scores.append(curve.together(verdict.base, size, surfaces))
    return auc(project.labels, np.array(scores))


def print_reviews(projects: Sequence[Project], names: Sequence[str]) -> None:
    print("\nReview needed at the threshold of 0.5\n")
    print_line(["rules", "project", "commits", "buggy", "review needed", "of the buggy", "buggy among those"])
    print_line(["---"] * 7)
    for name, project in itertools.product(names, projects):
        asked = np.array([verdict.needs_review for verdict in project.verdicts[name]])
        labels = project.labels
        cells = [f"{share:.2f}" for share in (labels.mean(), asked.mean(), asked[labels].mean(), labels[asked].mean())]
        print_line([name, project.name, str(len(labels)), *cells])


def print_line(cells: Sequence[str]) -> None:
    print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
