"""Labelled commits from a CSV: project, commit, date, label, insertions, deletions, files (a JSON array of paths)."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COLUMNS = ("project", "commit", "date", "label", "insertions", "deletions", "files")


@dataclass(frozen=True)
class Commit:
    """One commit and whether it introduced a bug."""

    project: str
    year: str
    is_buggy: bool
    insertions: int
    deletions: int
    files: tuple[str, ...]


def read_commits(path: Path) -> dict[str, list[Commit]]:
    """Commits by project; an unreadable line is an error with its number."""
    found: dict[str, list[Commit]] = {}
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as stream:
        for commit in _rows(path, csv.DictReader(stream)):
            found.setdefault(commit.project, []).append(commit)
    for project, commits in found.items():
        if len({commit.is_buggy for commit in commits}) < 2:
            raise SystemExit(f"{project}: all commits have the same label, so there is nothing to compare")
    return dict(sorted(found.items()))


def _rows(path: Path, reader: csv.DictReader[str]) -> Iterator[Commit]:
    missing = set(COLUMNS) - set(reader.fieldnames or ())
    if missing:
        raise SystemExit(f"{path}: columns are missing: {', '.join(sorted(missing))}")
    for row in reader:
        try:
            yield Commit(
                row["project"],
                row["date"][:4],
                {"0": False, "1": True}[row["label"]],
                int(row["insertions"]),
                int(row["deletions"]),
                tuple(json.loads(row["files"])),
            )
        except (KeyError, TypeError, ValueError) as problem:
            raise SystemExit(f"{path}, line {reader.line_num}: {problem!r}") from problem
