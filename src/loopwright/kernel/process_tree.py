"""Who descends from whom, and ending them. Knows `/proc`; on systems without it, process groups only."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

_PROC = Path("/proc")
KNOWS_DESCENDANTS = (_PROC / "self" / "stat").exists()
_PR_SET_CHILD_SUBREAPER = 36


@cache
def adopt_orphans() -> bool:
    """Make this process the new parent of every daemon below it; True where the system can."""
    if not KNOWS_DESCENDANTS:
        return False
    return int(ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) == 0


def exit_handle(pid: int) -> int | None:
    """A descriptor that becomes readable when the process is over, where the system has them."""
    if not hasattr(os, "pidfd_open"):
        return None
    with suppress(OSError):
        return os.pidfd_open(pid)
    return None


def own_children() -> list[int]:
    """The direct children of this process, adopted ones and zombies included."""
    return _children(os.getpid())


def descendants(pid: int) -> list[int]:
    """Everything below a process, nearest first."""
    found: list[int] = []
    ahead = [pid]
    while ahead:
        for child in _children(ahead.pop(0)):
            found.append(child)
            ahead.append(child)
    return found


def all_processes() -> list[int]:
    """Every process that can be seen, but this one."""
    if not KNOWS_DESCENDANTS:
        return []
    return [int(name) for name in os.listdir(_PROC) if name.isdigit() and int(name) != os.getpid()]


def ancestors(pid: int) -> list[int]:
    """The parent, its parent, and so on."""
    found: list[int] = []
    while (parent := _parent(pid)) > 0 and parent not in found:
        found.append(parent)
        pid = parent
    return found


def began(pid: int) -> str:
    """The moment at which a process began, in the system's own count: with it a process id is unique."""
    try:
        text = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return ""
    return text.rsplit(b")", 1)[1].split()[19].decode()


def environment_has(pid: int, text: bytes) -> bool:
    """Whether the process was started with this in its environment."""
    try:
        return text in (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return False


def works_in(pid: int, folder: str) -> bool:
    """Whether the process's current folder is this one or below it."""
    try:
        place = os.readlink(_PROC / str(pid) / "cwd")  # noqa: PTH115 -- may be deleted
    except OSError:
        return False
    return place == folder or place.startswith(folder + "/")


def kill_all(pids: Iterable[int], number: signal.Signals) -> int:
    """Signal each; one that is gone already is no error. How many took it."""
    took = 0
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
            took += 1
    return took


def kill_group(leader: int, number: signal.Signals) -> None:
    """Signal a whole process group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def collect(pids: Iterable[int]) -> set[int]:
    """Those of our children that are over, taken off the system's list."""
    gone: set[int] = set()
    for pid in tuple(pids):
        try:
            over, _ = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            over = pid
        if over:
            gone.add(pid)
    return gone


def reap(pids: Iterable[int], until: float) -> None:
    """Collect adopted children that were killed, as far as they die before the deadline."""
    left = set(pids)
    while left:
        left -= collect(left)
        if left:
            if time.monotonic() > until:
                return
            time.sleep(0.001)


def _children(pid: int) -> list[int]:
    if _lists_children():
        found: list[int] = []
        with suppress(OSError):
            for task in (_PROC / str(pid) / "task").iterdir():
                with suppress(OSError):
                    found += [int(child) for child in (task / "children").read_text().split()]
        return found
    return [other for other in all_processes() if _parent(other) == pid]


@cache
def _lists_children() -> bool:
    return (_PROC / "self" / "task" / str(os.getpid()) / "children").exists()


def _parent(pid: int) -> int:
    try:
        text = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return 0
    # The name in parentheses may hold anything, also parentheses.
    return int(text.rsplit(b")", 1)[1].split()[1])
