"""A control group (version 2) for one command: all its processes are frozen and killed together.

Some systems do not allow it (a container, a session without delegation). Callers then get None and use no group.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from loopwright.kernel import process_tree

_PREFIX = "loopwright"
_POLL_S = 0.001
# Groups that were not empty when they were released. The next `remove` tries to remove them again.
_unremoved: set[Path] = set()


class Cgroup:
    """A group that holds one command and every process it starts afterwards. Processes can't leave the group."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, pid: int) -> bool:
        """Move a process into the group; False if the process has ended or may not be moved."""
        return _write(self._folder / "cgroup.procs", str(pid))

    def members(self) -> list[int]:
        """The pids of all processes in the group and in groups below it."""
        pids: list[int] = []
        for folder in _folders(self._folder):
            with suppress(OSError):
                pids += [int(pid) for pid in (folder / "cgroup.procs").read_text().split()]
        # The kernel writes 0 for a process that this process can't see.
        return [pid for pid in pids if pid]

    def contains_all_threads(self, pid: int) -> bool:
        """Whether all living threads of a process are in the group; `members` misses one whose first thread ended."""
        groups = process_tree.control_groups(pid)
        return bool(groups) and all(f"/{self._folder.name}/" in f"{name}/" for name in groups)

    def freeze(self) -> bool:
        """Request a freeze; `is_frozen` tells when all processes have stopped."""
        return _write(self._folder / "cgroup.freeze", "1")

    def thaw(self) -> None:
        """Let all processes continue."""
        _write(self._folder / "cgroup.freeze", "0")

    @property
    def is_frozen(self) -> bool:
        """Whether all processes in the group are frozen."""
        return self._tells("frozen 1")

    def kill(self) -> None:
        """Kill all processes in the group, also frozen processes and those that are just being started."""
        _write(self._folder / "cgroup.kill", "1")

    def remove(self, until: float) -> None:
        """Remove the group once it is empty. Killed processes may take a moment to leave."""
        while self._tells("populated 1") and time.monotonic() < until:
            time.sleep(_POLL_S)
        _unremoved.add(self._folder)
        for folder in tuple(_unremoved):
            if _removed(folder):
                _unremoved.discard(folder)

    def _tells(self, line: str) -> bool:
        with suppress(OSError):
            return line in (self._folder / "cgroup.events").read_text().splitlines()
        return False


def new_group() -> Cgroup | None:
    """A new, empty group below this process's own group; None if the system does not allow it."""
    home = own_folder()
    if home is None:
        return None
    folder = home / f"{_PREFIX}-{os.getpid()}-{secrets.token_hex(6)}"
    try:
        folder.mkdir()
    except OSError:
        return None
    if not (folder / "cgroup.freeze").exists():
        _removed(folder)
        return None
    return Cgroup(folder)


@cache
def own_folder() -> Path | None:
    """The folder of this process's own group; None if it is not writable."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return None
    own = next((line.removeprefix("0::") for line in lines if line.startswith("0::")), None)
    for mount in mounts:
        before, _, after = mount.partition(" - ")
        if own is None or not after.startswith("cgroup2 "):
            continue
        top, place = before.split()[3:5]
        if top not in ("/", own) and not own.startswith(top + "/"):
            continue
        folder = Path(place.replace("\\040", " ")) / own.removeprefix(top).lstrip("/")
        if os.access(folder / "cgroup.procs", os.W_OK):
            return folder
    return None


def remove_leftovers() -> None:
    """Remove groups that killed Loopwright processes left behind. The kernel refuses to remove a group in use."""
    home = own_folder()
    for folder in home.glob(f"{_PREFIX}-*-*") if home is not None else ():
        pid = folder.name.split("-")[1]
        if not Path("/proc", pid).exists():
            _removed(folder)


def _folders(top: Path) -> Iterator[Path]:
    for folder, _, _ in os.walk(top):
        yield Path(folder)


def _removed(folder: Path) -> bool:
    # Processes may have created groups below this one; those must be removed first.
    for below in reversed(list(_folders(folder))):
        with suppress(OSError):
            below.rmdir()
    return not folder.exists()


def _write(file: Path, text: str) -> bool:
    try:
        handle = os.open(file, os.O_WRONLY)
    except OSError:
        return False
    try:
        os.write(handle, text.encode())
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
