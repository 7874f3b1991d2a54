"""Imports files that belong to no workflow: living specs, plans, notes. Existing files are never overwritten."""

from __future__ import annotations

import os
from pathlib import Path

from loopwright.kernel.files import create_exclusively, read_regular_file, shown
from loopwright.kernel.locks import locked
from loopwright.redaction.redactor import Redactor
from loopwright.stages.context import Context
from loopwright.workflow.delta.model import UnreadableDelta
from loopwright.workflow.delta.read import read_living
from loopwright.workflow.documents.page import MOST_BYTES
from loopwright.workflow.store import SPECS_LOCK
from loopwright.workflow.takeover.model import Kind, Loose, TakeoverRow
from loopwright.workspace.layout import Layout


def take_loose(
    context: Context, tool: str, files: tuple[Loose, ...], redactor: Redactor, *, dry_run: bool
) -> list[TakeoverRow]:
    """Import each file to its place, or to another one if a file exists there; under the lock of the specs."""
    if dry_run or not files:
        return [row for file in files for row in _take(context, tool, file, redactor, dry_run=dry_run)]
    with locked(context.layout.lock(SPECS_LOCK)):
        return [row for file in files for row in _take(context, tool, file, redactor, dry_run=False)]


def _take(context: Context, tool: str, file: Loose, redactor: Redactor, *, dry_run: bool) -> list[TakeoverRow]:
    data, rows = masked(redactor, file.data, file.path, "")
    target = _place(context.layout, file)
    name = shown(os.path.relpath(target, context.project))
    living = read_living(data) if file.kind == "spec" else None
    if isinstance(living, UnreadableDelta):
        problem = living.problems[0]
        return [*rows, TakeoverRow("spec", file.path, "", "unreadable", f"line {problem.line}: {problem.message}")]
    existing = content_at(target)
    if existing == data:
        return [*rows, TakeoverRow(file.kind, file.path, name, "already", "already imported")]
    if existing is not None:
        aside = context.layout.imported(tool) / file.path
        if not dry_run:
            create_exclusively(aside, data)
        kept = shown(os.path.relpath(aside, context.project))
        why = f"another file exists there; this file was imported as {kept}"
        return [*rows, TakeoverRow(file.kind, file.path, name, "conflict", why, f"diff {name} {kept}")]
    if not dry_run:
        create_exclusively(target, data)
    next_command = "loopwright specs list" if file.kind == "spec" else ""
    return [*rows, TakeoverRow(file.kind, file.path, name, "taken", "", next_command)]


def masked(redactor: Redactor, data: bytes, path: str, target: str) -> tuple[bytes, list[TakeoverRow]]:
    """The content of a file without secrets, with a row for each secret."""
    scanned = redactor.scan(data, path, trusts_pragma=True)
    notes = (f"{finding.rule} in line {finding.line} is masked here" for finding in scanned.findings)
    return scanned.clean.data, [TakeoverRow("secret", path, target, "note", note) for note in notes]


def _place(layout: Layout, file: Loose) -> Path:
    if file.kind == "spec":
        return layout.living_spec(file.name)
    folders: dict[Kind, Path] = {
        "snapshot": layout.snapshots,
        "plan": layout.plans,
        "change": layout.archived_changes,
        "note": layout.context_notes,
        "journal": layout.developer_journals,
        "decision": layout.adr_candidates,
    }
    return folders[file.kind] / file.name


def content_at(path: Path) -> bytes | None:
    """The content of a file; None if the place is free."""
    try:
        return read_regular_file(path, most=MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return b"\0"  # a folder, a fifo or the like: the place is occupied
