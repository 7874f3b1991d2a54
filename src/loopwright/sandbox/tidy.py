"""Takes out of a sandbox what git can't record or would stumble over, once no process is left in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from loopwright.kernel.files import shown, special_kind

# Names that git refuses in any tree: they would be a repository, on this system or on another.
_REFUSED = (b".git", b"git~1")


def set_aside_what_git_refuses(work_tree: Path, aside: Path) -> list[str]:
    """Move such things out of the way and say what they were; the top's own `.git` is not looked at."""
    left_out: list[str] = []
    top = os.fsencode(work_tree)
    for folder, entry in _walk(top):
        path = folder + b"/" + entry.name
        name = shown(path[len(top) + 1 :])
        if entry.name.lower() in _REFUSED:
            _move(path, aside, len(left_out))
            left_out.append(f"{name} (git keeps no repository inside a project)")
        elif kind := _special(entry):
            left_out.append(f"{name} ({kind})")
            if entry.name.startswith(b".git"):
                # Git opens its rule files and would wait for somebody to write to this one.
                _move(path, aside, len(left_out))
    return left_out


def _walk(top: bytes) -> Iterator[tuple[bytes, os.DirEntry[bytes]]]:
    ahead = [top]
    while ahead:
        folder = ahead.pop()
        with suppress(OSError):
            for entry in list(os.scandir(folder)):
                if folder == top and entry.name == b".git":
                    continue
                if entry.is_dir(follow_symlinks=False) and entry.name.lower() not in _REFUSED:
                    ahead.append(entry.path)
                else:
                    yield folder, entry


def _special(entry: os.DirEntry[bytes]) -> str | None:
    if entry.is_file(follow_symlinks=False) or entry.is_symlink():
        return None
    return special_kind(entry.stat(follow_symlinks=False).st_mode)


def _move(path: bytes, aside: Path, number: int) -> None:
    aside.mkdir(exist_ok=True)
    Path(os.fsdecode(path)).rename(aside / str(number))
