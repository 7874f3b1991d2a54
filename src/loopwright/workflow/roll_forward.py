"""Finishes archives and deliveries that were recorded before their first file was written.

The journal line of an archive and the plan of a delivery come first, and the new bytes are stored before them. The next
command after a crash finishes the work. A second run changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path

import msgspec

from loopwright.errors import DamagedFile
from loopwright.kernel.beneath import FileEntry, write_entry
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import (
    make_folder,
    read_regular_file,
    shown,
    storage,
    sync_folder,
)
from loopwright.workflow.delta.model import Conflict, Conflicts, Delta, Merged
from loopwright.workflow.documents.page import MOST_BYTES
from loopwright.workflow.living import checks_with, deltas_in, merge_now, not_a_folder, obstacle_on_the_way, place_of
from loopwright.workflow.model import Archived, Workflow, Write
from loopwright.workflow.slices import NotSlices, read_slices
from loopwright.workspace.layout import Layout, WorkflowPaths


def roll_forward(paths: WorkflowPaths, workflow: Workflow) -> tuple[Conflict, ...]:
    """Write pending files. Merge into a spec that changed meanwhile; return conflicts where that fails."""
    at = workflow.at
    if not isinstance(at, Archived):
        return ()
    root = paths.layout.root
    ready: list[tuple[Path, bytes]] = []
    conflicts: list[Conflict] = list(_obstacles(paths.layout, at))
    if conflicts:
        return tuple(conflicts)
    for write in at.pending:
        outcome = _bytes_for(paths, workflow, write)
        if isinstance(outcome, Conflicts):
            conflicts += outcome.conflicts
        elif outcome is not None:
            ready.append((root / write.path, outcome))
    if conflicts:
        return tuple(conflicts)
    for path, data in ready:
        write_entry(*place_of(paths.layout, path), FileEntry(data))
    move_folder(paths.layout.change(at.change_id), root / at.folder)
    _sync_folders(root, [*(write.path for write in at.pending), at.folder])
    return ()


def _obstacles(layout: Layout, at: Archived) -> Iterator[Conflict]:
    """Links and files in the place of folders that the archive writes to."""
    domains = {write.path: write.domain for write in at.pending}
    for name in (*domains, at.folder, os.path.relpath(layout.change(at.change_id), layout.root)):
        if (obstacle := obstacle_on_the_way(layout, layout.root / name)) is not None:
            yield Conflict(domains.get(name, ""), "", not_a_folder(obstacle))


def is_moved(layout: Layout, at: Archived) -> bool:
    """Whether the folder of the change is in its new place."""
    return (layout.root / at.folder).is_dir()


def _bytes_for(paths: WorkflowPaths, workflow: Workflow, write: Write) -> bytes | Conflicts | None:
    """The bytes to write; None if they are written, or if a person changed the file."""
    try:
        now = sha256(read_regular_file(paths.layout.root / write.path, most=MOST_BYTES))
    except FileNotFoundError:
        now = ""
    if now == write.after:
        return None
    kept = paths.object(write.after)
    # Stored bytes stay on one machine: a journal that came by git has the decision without the bytes.
    if now == write.before and kept.is_file():
        return kept.read_bytes()
    return None if write.kind == "candidate" else _made_again(paths, workflow, write)


def _made_again(paths: WorkflowPaths, workflow: Workflow, write: Write) -> bytes | Conflicts:
    """The change, merged into the current content of the file."""
    layout = paths.layout
    change = paths.change if paths.change.is_dir() else _new_place(layout, workflow)
    delta = dict(deltas_in(change)).get(write.domain)
    if not isinstance(delta, Delta):
        return _conflict(write, f"the delta of {write.domain} is missing from {shown(change)}")
    if write.kind == "spec":
        outcome = merge_now(layout, delta, workflow.change_id, workflow.base)
        return outcome.data if isinstance(outcome, Merged) else outcome
    try:
        slices = read_slices(read_regular_file(change / "slices.json", most=MOST_BYTES))
        return checks_with(layout.root / write.path, delta, workflow, slices)
    except (OSError, NotSlices, DamagedFile) as problem:
        return _conflict(write, str(problem))


def _conflict(write: Write, why: str) -> Conflicts:
    return Conflicts((Conflict(write.domain, "", why),))


def _new_place(layout: Layout, workflow: Workflow) -> Path:
    return layout.root / workflow.at.folder if isinstance(workflow.at, Archived) else layout.root


def _sync_folders(root: Path, names: list[str]) -> None:
    """Sync new parent folders too: the journal will say that every file exists, so every file must be durable."""
    folders = {folder for name in names for folder in Path(name).parents}
    with storage(root):
        for folder in sorted(folders, reverse=True):
            if (root / folder).is_dir():
                sync_folder(root / folder)


def move_folder(source: Path, target: Path) -> None:
    """Move a folder durably, in one step; do nothing if it is moved, or if the target exists."""
    if not source.is_dir() or target.exists():
        return
    make_folder(target.parent)
    with storage(target):
        source.rename(target)
        sync_folder(target.parent)
        sync_folder(source.parent)


class FileMove(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of a delivery: digests before and after (empty: no file), and its modes."""

    path: str
    before: str
    after: str
    mode: int = 0o644
    was_mode: int = 0o644


class DeliveryPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All files of a delivery; `undoing` reverses the direction."""

    schema_version: int = 1
    patch_sha256: str
    head: str
    moves: tuple[FileMove, ...]
    undoing: bool = False
    # A folder that archiving moved goes back too: from, to.
    moved: tuple[str, str] | None = None


class FileState(Enum):
    """The state of a file of a delivery: before or after the move, or changed by a person."""

    BEFORE = "before"
    AFTER = "after"
    CHANGED = "changed"


def state_of(move: FileMove, digest: str, *, undoing: bool) -> FileState:
    """The state of a file, by its current digest."""
    start, end = (move.after, move.before) if undoing else (move.before, move.after)
    if digest == end:
        return FileState.AFTER
    return FileState.BEFORE if digest == start else FileState.CHANGED


def in_the_way(plan: DeliveryPlan, digest_of: Callable[[str], str]) -> tuple[str, ...]:
    """Files that changed since the delivery was planned."""
    states = {move.path: state_of(move, digest_of(move.path), undoing=plan.undoing) for move in plan.moves}
    return tuple(path for path, state in states.items() if state is FileState.CHANGED)
