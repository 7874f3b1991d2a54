"""A disk that loses power: synced data survives, and of the rest only as little as a file system may keep."""

from __future__ import annotations

import os
import stat
from pathlib import Path

# Which names and contents remain that were written but never synced.
KEPT, LOST, EMPTY, ZEROS = "all of it", "nothing", "names of empty files", "names of files full of zeros"
START = "names, and the first block of large files"
LOSSES = (KEPT, LOST, EMPTY, ZEROS, START)
_BLOCK = 4096


class PowerCut(BaseException):
    """The process ends without any error handler."""


class Disk:
    """Everything below a folder; new folders are durable at once."""

    def __init__(self, top: Path, monkeypatch) -> None:
        self._top = top
        self._contents: dict[int, bytes] = {}
        self._names: dict[str, dict[str, int]] = {}
        self._until: int | None = None
        self._held: list[int] = []
        self._real = os.fsync
        self.syncs = 0
        monkeypatch.setattr(os, "fsync", self._fsync)

    def fail_at(self, number: int) -> None:
        """Let power fail at the sync of this number, before the sync has an effect."""
        self._until = number

    def _fsync(self, handle: int) -> None:
        self.syncs += 1
        if self._until is not None and self.syncs >= self._until:
            raise PowerCut
        found = os.fstat(handle)
        # While a file is open, no other file gets its inode number.
        self._held.append(os.dup(handle))
        path = Path(f"/proc/self/fd/{handle}").readlink()
        if stat.S_ISDIR(found.st_mode):
            self._names[str(path)] = {entry.name: entry.inode() for entry in os.scandir(path)}
        else:
            self._contents[found.st_ino] = path.read_bytes()

    def come_back(self, loss: str) -> None:
        """Restore power, with the disk in the state of the last syncs."""
        self._until = None
        if loss != KEPT:
            for folder, _, names in list(os.walk(self._top)):
                self._lose(Path(folder), names, loss)
        for handle in self._held:
            os.close(handle)
        self._held = []

    def _lose(self, folder: Path, names: list[str], loss: str) -> None:
        here = {name: (folder / name).stat().st_ino for name in names}
        durable = self._names.get(str(folder), {}) if loss == LOST else self._names.get(str(folder), {}) | here
        for name in here.keys() - durable.keys():
            (folder / name).unlink()
        for name, inode in durable.items():
            path = folder / name
            if path.is_dir():
                continue
            written = path.read_bytes() if path.is_file() else b""
            synced = self._contents.get(inode, b"")
            if loss == ZEROS:
                synced = synced.ljust(len(written), b"\0")
            if loss == START and inode not in self._contents and len(written) > _BLOCK:
                synced = written[:_BLOCK]
            path.write_bytes(synced)
