"""The files of a delivery: what each file was and will be, and the change from one to the other.

Works on entries of the checkout and never through a link in it. A change of kind (a link, a file or a folder becomes
another of these) is a removal and a new entry: removals come first, so a new entry finds its place free.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from loopwright.kernel import git
from loopwright.kernel.beneath import (
    Entry,
    FileEntry,
    FolderEntry,
    InTheWay,
    LinkEntry,
    drop_empty_folders,
    obstacle_to,
    read_entry,
    remove_entry,
    write_entry,
)
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import make_folder, shown
from loopwright.wording.catalogue import few
from loopwright.workflow.roll_forward import DeliveryPlan, FileMove, FileState, state_of

APPLY = ("--binary", "--whitespace=nowarn", "-")
OBJECTS = "objects"
_LINK = "link:"
_EXECUTABLE = 0o100


class PlannedMoves(msgspec.Struct, frozen=True):
    """The moves of a delivery, and every content before and after them."""

    moves: tuple[FileMove, ...]
    contents: tuple[bytes, ...]


def plan_moves(project: Path, patch: bytes) -> PlannedMoves:
    """Apply a patch to copies of the files that it touches."""
    names = _touched(patch)
    before = {name: read_entry(project, name) for name in names}
    with tempfile.TemporaryDirectory(prefix="loopwright-deliver-") as scratch:
        copy = Path(scratch) / "files"
        make_folder(copy)
        for name, entry in before.items():
            if isinstance(entry, FileEntry | LinkEntry):
                write_entry(copy, name, entry)
        if names:
            git.make_private(Path(scratch) / "git", copy).run("apply", *APPLY, stdin=patch)
        after = {name: read_entry(copy, name) for name in names}
    moves = tuple(
        FileMove(
            path=name, before=_digest(before[name]), after=_digest(after[name]), mode=_mode(after[name]),
            was_mode=_mode(before[name]),
        )
        for name in names
    )  # fmt: skip
    changed = tuple(move for move in moves if move.before != move.after or move.mode != move.was_mode)
    entries = [side[move.path] for move in changed for side in (before, after)]
    return PlannedMoves(changed, tuple(data for entry in entries if (data := _content(entry)) is not None))


def obstacle(project: Path, moves: tuple[FileMove, ...], *, undoing: bool = False) -> str | None:
    """A file, link or folder of the person in the place of a new entry; None if every file can be changed."""
    ends = {move.path: (move.after, move.before) if undoing else (move.before, move.after) for move in moves}
    removed = frozenset(path for path, (_, end) in ends.items() if not end)
    for path, (start, end) in ends.items():
        if end:
            left = obstacle_to(project, path, gone=removed)
            if left is None and not start:
                left = _left_in(project, path, removed)
            if left is not None:
                return left
    return None


def _left_in(project: Path, name: str, removed: frozenset[str]) -> str | None:
    """A file in the folder of this name that the change does not remove."""
    entry = read_entry(project, name)
    if not isinstance(entry, FolderEntry):
        return None if entry is None or name in removed else name
    found = (_left_in(project, f"{name}/{below}", removed) for below in entry.names)
    return next((left for left in found if left is not None), None)


class UnfinishedDelivery(msgspec.Struct, frozen=True):
    """Why a delivery or an undo could not be finished: these files were changed meanwhile, and stay as they are.

    All other files are as they were before it, except those in `not_restored`.
    """

    changed: tuple[str, ...]
    not_restored: tuple[str, ...] = ()

    def sentence(self) -> str:
        """What happened, for a person."""
        changed, left = (few(tuple(map(shown, paths))) for paths in (self.changed, self.not_restored))
        text = f"these files were changed meanwhile: {changed}"
        return f"{text}; these could not be restored: {left}" if left else text


def carry_out(project: Path, objects: Path, plan: DeliveryPlan) -> UnfinishedDelivery | None:
    """Change every file that is not changed yet, or none: what was changed is restored if a person changed a file."""
    changed = [move.path for move in plan.moves if _state(project, move, plan) is FileState.CHANGED]
    if not changed:
        first = next(_move_files(project, objects, plan), None)
        changed = [] if first is None else [first]
    if not changed:
        return None
    back = msgspec.structs.replace(plan, undoing=not plan.undoing)
    left = tuple(_move_files(project, objects, back))
    return UnfinishedDelivery(tuple(changed), tuple(path for path in left if path not in changed))


def _move_files(project: Path, objects: Path, plan: DeliveryPlan) -> Iterator[str]:
    """Change every file that is not changed yet; the files that a person changed stay, and are named."""
    ends = {move.path: (move.before, move.was_mode) if plan.undoing else (move.after, move.mode) for move in plan.moves}
    # A removal makes room for a new entry.
    for move in sorted(plan.moves, key=lambda move: bool(ends[move.path][0])):
        digest, mode = ends[move.path]
        # Read at the last moment: a person works in these files.
        match _state(project, move, plan):
            case FileState.CHANGED:
                yield move.path
            case FileState.BEFORE if not digest:
                remove_entry(project, move.path)
            case FileState.AFTER if not digest:
                drop_empty_folders(project, move.path)  # a kill may have come between the file and its folder
            case FileState.BEFORE:
                data = (objects / digest.removeprefix(_LINK)).read_bytes()
                entry = LinkEntry(data) if digest.startswith(_LINK) else FileEntry(data, mode)
                if not _is_written(project, move.path, entry):
                    yield move.path
            case FileState.AFTER:
                pass


def _is_written(project: Path, path: str, entry: FileEntry | LinkEntry) -> bool:
    """Whether the entry could be written. What a person put in its way stays."""
    try:
        write_entry(project, path, entry)
    except InTheWay:
        return False
    return True


def digest_of(project: Path, path: str) -> str:
    """The digest of a file or link; empty if there is neither."""
    return _digest(read_entry(project, path))


def _state(project: Path, move: FileMove, plan: DeliveryPlan) -> FileState:
    entry = read_entry(project, move.path)
    state = state_of(move, _digest(entry), undoing=plan.undoing)
    if state is FileState.AFTER and move.before == move.after:
        # Only the mode changes. Of a mode, git knows whether the owner may execute the file.
        end = move.was_mode if plan.undoing else move.mode
        return FileState.AFTER if (_mode(entry) ^ end) & _EXECUTABLE == 0 else FileState.BEFORE
    return state


def _touched(patch: bytes) -> list[str]:
    """Every path in the patch, including both sides of a rename."""
    if not patch:
        return []
    with tempfile.TemporaryDirectory(prefix="loopwright-deliver-") as scratch:
        reader = git.make_private(Path(scratch) / "git", Path(scratch))
        # git names only the resulting side, so ask in both directions. With -z no name is quoted.
        both = [reader.run("apply", "--numstat", "-z", *way, "-", stdin=patch) for way in ((), ("-R",))]
    rows = (row for listed in both for row in listed.split(b"\0") if row.count(b"\t") >= 2)
    return sorted({os.fsdecode(row.split(b"\t", 2)[2]) for row in rows})


def _content(entry: Entry | None) -> bytes | None:
    match entry:
        case FileEntry(data):
            return data
        case LinkEntry(target):
            return target
        case _:
            return None


def _digest(entry: Entry | None) -> str:
    data = _content(entry)
    if data is None:
        return ""
    return f"{_LINK}{sha256(data)}" if isinstance(entry, LinkEntry) else sha256(data)


def _mode(entry: Entry | None) -> int:
    return entry.mode if isinstance(entry, FileEntry) and entry.mode is not None else 0o644
