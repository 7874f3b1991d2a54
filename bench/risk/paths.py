"""How well the rules find sensitive paths: `paths.py CSV… [--show] [--ruleset NAME]`.

The columns are `label` and `path`; others are ignored. A label is a sensitive surface, `payment`, or `ordinary`. Prints
recall and precision with 95 % Wilson intervals, and the recall for each label. Labels must be written without knowledge
of the rules, and only the first look at a list counts: docs/risk.md has the labelling rule.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from loopwright.reflection.risk import evaluate_risk_floor
from loopwright.reflection.rule_set import RuleSet
from loopwright.reflection.rule_sets import RULE_SETS

SENSITIVE = ("auth", "data", "infra", "build")
# Money has no surface of its own; any sensitive surface will do.
LABELS = (*SENSITIVE, "payment", "ordinary")
_Z = 1.959964


@dataclass(frozen=True)
class Judged:
    """A labelled path, and the surface and rule that the rule set gives it."""

    path: str
    label: str
    surface: str
    why: str

    @property
    def is_sensitive(self) -> bool:
        """By its label."""
        return self.label != "ordinary"

    @property
    def is_called_sensitive(self) -> bool:
        """By the rules."""
        return self.surface in SENSITIVE


def main() -> None:
    """Read, classify, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("csv", type=Path, nargs="+")
    parser.add_argument("--ruleset", choices=sorted(RULE_SETS), default="default")
    parser.add_argument("--show", action="store_true", help="list the wrong paths; a list that was shown is used up")
    wanted = parser.parse_args()
    rules = RULE_SETS[wanted.ruleset]
    print(f"{rules.title}\n\n| list | paths | sensitive | recall | precision |\n| --- | --- | --- | --- | --- |")
    lists = [judged(path, rules) for path in wanted.csv]
    for source, paths in zip(wanted.csv, lists, strict=True):
        print(f"| {source.stem} | {len(paths)} | {sum(p.is_sensitive for p in paths)} | {_recall(paths)} "
              f"| {_precision(paths)} |")  # fmt: skip
    print("\n| label | paths | found |\n| --- | --- | --- |")
    everything = [path for paths in lists for path in paths]
    for label in LABELS:
        named = [path for path in everything if path.label == label]
        print(f"| {label} | {len(named)} | {sum(path.is_called_sensitive for path in named)} |")
    for path in everything if wanted.show else ():
        if path.is_sensitive != path.is_called_sensitive:
            kind = "missed" if path.is_sensitive else "false alarm"
            print(f"{kind}: {path.path} is {path.label}, got {path.surface} ({path.why})")


def judged(source: Path, rules: RuleSet) -> list[Judged]:
    """Every row of a list with its surface; an unknown label is an error with its line."""
    found = []
    with source.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        for row in reader:
            if row.get("label") not in LABELS or not row.get("path"):
                raise SystemExit(f"{source}, line {reader.line_num}: needs a path and a label ({', '.join(LABELS)})")
            (hit,) = evaluate_risk_floor([row["path"]], rules=rules).hits
            found.append(Judged(row["path"], row["label"], hit.surface, hit.why))
    return found


def _recall(paths: Sequence[Judged]) -> str:
    sensitive = [path for path in paths if path.is_sensitive]
    return _share(sum(path.is_called_sensitive for path in sensitive), len(sensitive))


def _precision(paths: Sequence[Judged]) -> str:
    called = [path for path in paths if path.is_called_sensitive]
    return _share(sum(path.is_sensitive for path in called), len(called))


def _share(part: int, whole: int) -> str:
    """A share with its Wilson interval."""
    if not whole:
        return "none"
    share, spread = part / whole, _Z * _Z / whole
    middle = (share + spread / 2) / (1 + spread)
    reach = _Z / (1 + spread) * (share * (1 - share) / whole + spread / (4 * whole)) ** 0.5
    return f"{share:.3f} [{middle - reach:.3f}, {min(middle + reach, 1.0):.3f}] ({part} of {whole})"


if __name__ == "__main__":
    main()
