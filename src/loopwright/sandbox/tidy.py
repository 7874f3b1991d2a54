"""Moves files out of a sandbox that git can't record. Runs when no process is left in the sandbox."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from loopwright.kernel.files import shown, special_kind

# Names that git refuses in any tree, because they would be a repository on this or another system.
_REFUSED = (b".git", b"git~1")


def move_aside_refused_files(work_tree: Path, aside: Path) -> list[str]:
    """Move such files away and return their names; the top-level `.git` is skipped."""
    left_out: list[str] = []
    top = os.fsencode(work_tree)
    for folder, entry in _walk(top):
        path = folder + b"/" + entry.name
        name = shown(path[len(top) + 1 :])
        if entry.name.lower() in _REFUSED:
            _move(path, aside, len(left_out))
            left_out.append(f"{name} (git can't record a repository inside a project)")
        elif kind := _special(entry):
            left_out.append(f"{name} ({kind})")
            if entry.name.startswith(b".git"):
                # Git would open this file to read its rules, and would wait for a writer.
                _move(path, aside, len(left_out))
    return left_out


def _walk(top: bytes) -> Iterator[tuple[bytes, os.DirEntry[bytes]]]:
    pending = [top]
    while pending:
        folder = pending.pop()
        with suppress(OSError):
            for entry in list(os.scandir(folder)):
                if folder == top and entry.name == b".git":
                    continue
                if entry.is_dir(follow_symlinks=False) and entry.name.lower() not in _REFUSED:
                    pending.append(entry.path)
                else:
                    yield folder, entry


def _special(entry: os.DirEntry[bytes]) -> str | None:
    if entry.is_file(follow_symlinks=False) or entry.is_symlink():
        return None
    return special_kind(entry.stat(follow_symlinks=False).st_mode)


def _move(path: bytes, aside: Path, number: int) -> None:
    aside.mkdir(exist_ok=True)
    Path(os.fsdecode(path)).rename(aside / str(number))
