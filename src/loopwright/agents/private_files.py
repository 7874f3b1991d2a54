"""Writes files and folders below an agent's home or mailbox, where an earlier turn may have left traps."""

from __future__ import annotations

import os
from pathlib import Path

from loopwright.kernel.files import clear_path, restore_access, storage


def write_private_file(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Write a file for an agent's program; a link that an earlier turn left under its name is not followed."""
    clear_path(path)
    with storage(path):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)


def private_folder(home: Path, *parts: str) -> Path:
    """A folder below an agent's home or mailbox, created if needed; a link in its place is not followed."""
    folder = home
    restore_access(folder)
    for part in parts:
        folder = folder / part
        if folder.is_symlink() or not folder.is_dir():
            clear_path(folder)
            folder.mkdir(mode=0o700)
        restore_access(folder)
    return folder
