"""A control group of one's own for a command, where this system lets us make one: frozen, and killed, as one thing.

Version 2 only. Whoever can't have one (a container, a session that nobody delegated) gets None and does without.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from loopwright.kernel import process_tree

_PREFIX = "loopwright"
_NAP_S = 0.001
_numbers = itertools.count(1)
# Groups that were not empty yet when they were given up: the next one that ends takes them along.
_left: set[Path] = set()


class Cgroup:
    """A group that holds one command, and all that it starts from then on, whatever that does to get away."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, pid: int) -> bool:
        """Move a process in; False when it is gone or may not be moved."""
        return _write(self._folder / "cgroup.procs", str(pid))

    def members(self) -> list[int]:
        """Who is in it, or in a group that one of them made below it."""
        found: list[int] = []
        for folder in _folders(self._folder):
            with suppress(OSError, ValueError):
                found += [int(pid) for pid in (folder / "cgroup.procs").read_text().split()]
        # 0 stands for a process that can't be seen from here.
        return [pid for pid in found if pid]

    def has_all_of(self, pid: int) -> bool:
        """Whether every living thread of a process is in it: one whose first thread is over is not listed."""
        groups = process_tree.control_groups(pid)
        return bool(groups) and all(f"/{self._folder.name}/" in f"{name}/" for name in groups)

    def freeze(self) -> bool:
        """Ask for it; `is_frozen` says when nobody runs any more."""
        return _write(self._folder / "cgroup.freeze", "1")

    def thaw(self) -> None:
        """Let everybody go on."""
        _write(self._folder / "cgroup.freeze", "0")

    @property
    def is_frozen(self) -> bool:
        """Whether everybody in it stands still."""
        return self._event("frozen") == "1"

    def kill(self) -> None:
        """End everybody in it, also those that are being started this very moment, frozen or not."""
        _write(self._folder / "cgroup.kill", "1")

    def remove(self, until: float) -> None:
        """Give it back once it is empty, which killed processes may take a moment for."""
        while self._event("populated") == "1" and time.monotonic() < until:
            time.sleep(_NAP_S)
        _left.add(self._folder)
        for folder in tuple(_left):
            if _removed(folder):
                _left.discard(folder)

    def _event(self, name: str) -> str:
        with suppress(OSError):
            for line in (self._folder / "cgroup.events").read_text().splitlines():
                if line.startswith(name + " "):
                    return line.rpartition(" ")[2]
        return ""


def fresh() -> Cgroup | None:
    """A new, empty group below our own; None where we can't have one."""
    home = own_folder()
    if home is None:
        return None
    folder = home / f"{_PREFIX}-{os.getpid()}-{next(_numbers)}"
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
    """Where this process's own group is mounted, if it may write there."""
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
    """Take away what earlier instances of us, that were killed, could not; a group that is in use refuses."""
    home = own_folder()
    for folder in home.glob(f"{_PREFIX}-*-*") if home is not None else ():
        pid = folder.name.split("-")[1]
        if not Path("/proc", pid).exists():
            _removed(folder)


def _folders(top: Path) -> Iterator[Path]:
    for folder, _, _ in os.walk(top):
        yield Path(folder)


def _removed(folder: Path) -> bool:
    # A process may have made groups of its own in it: those go first.
    for below in reversed(list(_folders(folder))):
        with suppress(OSError):
            below.rmdir()
    return not folder.exists()


def _write(file: Path, text: str) -> bool:
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        os.write(handle, text.encode())
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
