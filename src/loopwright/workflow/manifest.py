"""`build-context.jsonl`, `review-context.jsonl`: what an agent should read, a row a file. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from loopwright.workflow.documents.page import PageProblem

SCHEMA_VERSION = 1
MOST_ROWS = 80


class ManifestRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file; a lower priority number is read first."""

    stage: str
    kind: str
    path: str
    reason: str
    priority: int
    required: bool = False
    exists: bool = True
    schema_version: int = SCHEMA_VERSION


class BadManifest(ValueError):
    """Rows that are none, by line; or a file that must be there and is not."""

    def __init__(self, problems: tuple[PageProblem, ...]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


def merged(rows: Iterable[ManifestRow], exists: Callable[[str], bool]) -> tuple[ManifestRow, ...]:
    """Without doubles, by priority, and no more than an agent can read.

    Of rows for the same file the lowest priority number counts, required wins, and reasons are united.
    """
    found: dict[tuple[str, str, str], ManifestRow] = {}
    for row in rows:
        key = (row.stage, row.kind, row.path)
        known = found.get(key)
        if known is None:
            found[key] = row
            continue
        reasons = dict.fromkeys([*known.reason.split("; "), *row.reason.split("; ")])
        found[key] = msgspec.structs.replace(
            known,
            priority=min(known.priority, row.priority),
            required=known.required or row.required,
            reason="; ".join(reasons),
        )
    there = (msgspec.structs.replace(row, exists=exists(row.path)) for row in found.values())
    # What must be read is never what falls off the end.
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
    """A line of JSON each."""
    order = ("schema_version", "stage", "kind", "path", "reason", "priority", "required", "exists")
    lines = [json.dumps({name: getattr(row, name) for name in order}, ensure_ascii=False) for row in rows]
    return ("\n".join(lines) + "\n").encode() if lines else b""


def read_manifest(data: bytes, exists: Callable[[str], bool]) -> tuple[ManifestRow, ...]:
    """The rows; `BadManifest` names those that are none, and required files that are not there."""
    rows: list[ManifestRow] = []
    problems: list[PageProblem] = []
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line.encode(), type=ManifestRow)
        except (msgspec.DecodeError, RecursionError) as problem:
            problems.append(PageProblem(number, f"not a row: {problem}"))
            continue
        if row.schema_version != SCHEMA_VERSION:
            problems.append(PageProblem(number, f"schema_version {row.schema_version} is not known"))
        elif row.required and not exists(row.path):
            problems.append(PageProblem(number, f"{row.path} must be there, and is not"))
        rows.append(row)
    if problems:
        raise BadManifest(tuple(problems))
    return tuple(rows)
