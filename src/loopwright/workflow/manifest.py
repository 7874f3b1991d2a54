"""`build-context.jsonl`, `review-context.jsonl`: the files that an agent should read, one row each. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from loopwright.workflow.documents.page import PageProblem

SCHEMA_VERSION = 1
MOST_ROWS = 80


class ManifestRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file; the lowest priority number is read first."""

    stage: str
    kind: str
    path: str
    reason: str
    priority: int
    required: bool = False
    exists: bool = True
    schema_version: int = SCHEMA_VERSION


class BadManifest(ValueError):
    """Invalid rows, by line, or a required file that is missing."""

    def __init__(self, problems: tuple[PageProblem, ...]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


def merged(rows: Iterable[ManifestRow], exists: Callable[[str], bool]) -> tuple[ManifestRow, ...]:
    """Rows without duplicates, by priority, and no more than an agent can read.

    Rows for the same file are joined: the lowest priority number, required if one is, and all reasons.
    """
    by_file: dict[tuple[str, str, str], ManifestRow] = {}
    for row in rows:
        key = (row.stage, row.kind, row.path)
        known = by_file.get(key)
        if known is None:
            by_file[key] = row
            continue
        reasons = dict.fromkeys([*known.reason.split("; "), *row.reason.split("; ")])
        by_file[key] = msgspec.structs.replace(
            known,
            priority=min(known.priority, row.priority),
            required=known.required or row.required,
            reason="; ".join(reasons),
        )
    there = (msgspec.structs.replace(row, exists=exists(row.path)) for row in by_file.values())
    # Required rows are never cut off.
    ordered = sorted(there, key=lambda row: (not row.required, row.priority, row.path))[:MOST_ROWS]
    return tuple(sorted(ordered, key=lambda row: (row.priority, row.path)))


def write_manifest(stage: str, root: Path, entries: Iterable[tuple[Path, str, str, int, bool]]) -> bytes:
    """A manifest of files below a folder: each with its kind, the reason to read it, its priority and necessity."""
    rows = [
        ManifestRow(
            stage=stage,
            kind=kind,
            path=str(path.relative_to(root)),
            reason=reason,
            priority=priority,
            required=required,
        )
        for path, kind, reason, priority, required in entries
    ]
    return render(merged(rows, lambda path: (root / path).exists()))


def render(rows: Iterable[ManifestRow]) -> bytes:
    """One line of JSON per row."""
    order = ("schema_version", "stage", "kind", "path", "reason", "priority", "required", "exists")
    lines = [json.dumps({name: getattr(row, name) for name in order}, ensure_ascii=False) for row in rows]
    return ("\n".join(lines) + "\n").encode() if lines else b""


def read_manifest(data: bytes, exists: Callable[[str], bool]) -> tuple[ManifestRow, ...]:
    """The rows; `BadManifest` names invalid rows and missing required files."""
    rows: list[ManifestRow] = []
    problems: list[PageProblem] = []
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line.encode(), type=ManifestRow)
        except (msgspec.DecodeError, RecursionError) as problem:
            problems.append(PageProblem(number, f"invalid row: {problem}"))
            continue
        if row.schema_version != SCHEMA_VERSION:
            problems.append(PageProblem(number, f"unknown schema_version {row.schema_version}"))
        elif row.required and not exists(row.path):
            problems.append(PageProblem(number, f"{row.path} is required, and missing"))
        rows.append(row)
    if problems:
        raise BadManifest(tuple(problems))
    return tuple(rows)
