"""How many ordinary commits the rule about lost lines holds: `losses.py REPOSITORY… [--commits N] [--only FILE]`.

Takes a sample of each repository's commits, or the commits listed in FILE, and judges each with and without the rule.
"""

from __future__ import annotations

import argparse
import random
import subprocess
from pathlib import Path

from loopwright.reflection.change import Change, parse_diff
from loopwright.reflection.risk import evaluate_risk_floor

_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_DIFF = ("--raw", "--numstat", "-z", "--no-renames", "--diff-algorithm=myers")


def main() -> None:
    """Read, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", type=Path, nargs="+")
    parser.add_argument("--commits", type=int, default=500)
    parser.add_argument("--only", type=Path)
    wanted = parser.parse_args()
    print("| repository | commits | review needed | because of lost lines only |\n| --- | --- | --- | --- |")
    for repository in wanted.repositories:
        names = wanted.only.read_text().split() if wanted.only else _sample(repository, wanted.commits)
        changes = [change for name in names if (change := change_of(repository, name)) is not None]
        before = sum(_needs_review(change.replaced(lost={})) for change in changes)
        held = sum(map(_needs_review, changes))
        print(f"| {repository.name} | {len(changes)} | {before} | {held - before} |")


def change_of(repository: Path, commit: str) -> Change | None:
    """The change of a commit with the earlier lines of its files; None if the repository lacks a part of it."""
    try:
        parent = _git(repository, "rev-parse", "--verify", "--quiet", f"{commit}^").decode().strip()
        change = parse_diff(_git(repository, "diff", *_DIFF, parent, commit))
        if not change.counts:
            return change
        paths = [f":(top,literal){path}" for path in change.counts]
        raw = _git(repository, "diff", "--numstat", "-z", "--no-renames", _EMPTY_TREE, commit, "--", *paths)
    except (subprocess.CalledProcessError, OSError):
        return None
    rows = [row.split(b"\t", 2) for row in raw.split(b"\0") if row]
    now = {path.decode("utf-8", "surrogateescape"): int(added) for added, _, path in rows if added != b"-"}
    return change.with_lost(lambda path: now.get(path, 0))


def _needs_review(change: Change) -> bool:
    return evaluate_risk_floor(
        change.files, change.insertions, change.deletions, kinds=change.kinds, lost=change.lost
    ).needs_review


def _sample(repository: Path, count: int) -> list[str]:
    names = _git(repository, "rev-list", "--no-merges", "HEAD").decode().split()
    random.Random(7).shuffle(names)
    return names[:count]


def _git(repository: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", repository, *arguments], capture_output=True, check=True).stdout


if __name__ == "__main__":
    main()
