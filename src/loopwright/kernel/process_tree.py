"""Who descends from whom, and ending them. Knows `/proc`; on systems without it, process groups only."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections import defaultdict
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


def descendants(*pids: int) -> list[int]:
    """Everything below these processes, nearest first."""
    children = _children if _lists_children() else _children_by_parent().__getitem__
    found: list[int] = []
    ahead = list(pids)
    while ahead:
        below = children(ahead.pop(0))
        found += below
        ahead += below
    return found


def all_processes() -> list[int]:
    """Every process that can be seen, but this one."""
    if not KNOWS_DESCENDANTS:
        return []
    return [int(name) for name in os.listdir(_PROC) if name.isdigit() and int(name) != os.getpid()]


def parent(pid: int) -> int:
    """The process that started it, or adopted it; 0 when it is gone."""
    fields = _stat(str(pid))
    return int(fields[1]) if fields else 0


def ancestors(pid: int) -> list[int]:
    """The parent, its parent, and so on."""
    found: list[int] = []
    while (pid := parent(pid)) > 0 and pid not in found:
        found.append(pid)
    return found


def began(pid: int) -> str:
    """The moment at which a process began, in the system's own count: with it a process id is unique."""
    fields = _stat(str(pid))
    return fields[19].decode() if fields else ""


def states(pid: int) -> set[str]:
    """What its threads do, in the kernel's letters (R, S, D, T, …); nothing when it is gone.

    Every thread is asked: the first one may be over, or stopped, while others still work.
    """
    found: set[str] = set()
    with suppress(OSError):
        for thread in os.listdir(_PROC / str(pid) / "task"):
            if fields := _stat(f"{pid}/task/{thread}"):
                found.add(fields[0].decode())
    return found


def control_groups(pid: int) -> set[str]:
    """The version 2 groups that its living threads are in."""
    found: set[str] = set()
    with suppress(OSError):
        for thread in os.listdir(_PROC / str(pid) / "task"):
            fields = _stat(f"{pid}/task/{thread}")
            if fields and fields[0] not in (b"Z", b"X"):
                lines = (_PROC / str(pid) / "task" / thread / "cgroup").read_text().splitlines()
                found.update(line.removeprefix("0::") for line in lines if line.startswith("0::"))
    return found


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
    if not _lists_children():
        return _children_by_parent()[pid]
    found: list[int] = []
    with suppress(OSError):
        for task in (_PROC / str(pid) / "task").iterdir():
            with suppress(OSError):
                found += [int(child) for child in (task / "children").read_text().split()]
    return found


def _children_by_parent() -> defaultdict[int, list[int]]:
    # Where the kernel lists no children, one look at everybody serves every question about this moment.
    found: defaultdict[int, list[int]] = defaultdict(list)
    for pid in all_processes():
        found[parent(pid)].append(pid)
    return found


@cache
def _lists_children() -> bool:
    return (_PROC / "self" / "task" / str(os.getpid()) / "children").exists()


def _stat(name: str) -> list[bytes]:
    """What follows the process's name in its `stat`: state, parent, …; nothing when it is gone."""
    try:
        handle = os.open(f"{_PROC}/{name}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        text = os.read(handle, 4096)
    except OSError:
        return []
    finally:
        os.close(handle)
    # The name in parentheses may hold anything, also parentheses.
    return text.rsplit(b")", 1)[1].split()
