"""Finds the descendants of a process and ends them. Uses `/proc`; on systems without it, only process groups."""

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
# Children that are not Loopwright's: the shell that became this process started them, as in `> >(tee log)`.
_inherited: set[int] = set()


@cache
def adopt_orphans() -> bool:
    """Make this process the new parent of every orphan below it; True if the system supports that."""
    if not KNOWS_DESCENDANTS:
        return False
    _inherited.update(_children(os.getpid()))
    return int(ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) == 0


def exit_handle(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends; None if the system has no pidfd."""
    if not hasattr(os, "pidfd_open"):
        return None
    with suppress(OSError):
        return os.pidfd_open(pid)
    return None


def own_children() -> list[int]:
    """The direct children of this process, including adopted children and zombies, but no inherited children."""
    return [pid for pid in _children(os.getpid()) if pid not in _inherited]


def descendants(*pids: int) -> list[int]:
    """All processes below these processes, nearest first."""
    children = _children if _lists_children() else _children_by_parent().__getitem__
    pids_below: list[int] = []
    pending = list(pids)
    while pending:
        below = children(pending.pop(0))
        pids_below += below
        pending += below
    return pids_below


def all_processes() -> list[int]:
    """Every visible process except this process."""
    if not KNOWS_DESCENDANTS:
        return []
    return [int(name) for name in os.listdir(_PROC) if name.isdigit() and int(name) != os.getpid()]


def parent(pid: int) -> int:
    """The parent of the process; 0 if the process has ended."""
    fields = _stat(str(pid))
    return int(fields[1]) if fields else 0


def ancestors(pid: int) -> list[int]:
    """The parent, its parent, and so on."""
    pids: list[int] = []
    while (pid := parent(pid)) > 0 and pid not in pids:
        pids.append(pid)
    return pids


def began(pid: int) -> str:
    """The start time of a process in clock ticks. Process id and start time together are unique."""
    fields = _stat(str(pid))
    return fields[19].decode() if fields else ""


def states(pid: int) -> set[str]:
    """The kernel's state letters (R, S, D, T, …) of all threads; empty if the process has ended.

    All threads count: the first thread may have ended or stopped while others still run.
    """
    letters: set[str] = set()
    with suppress(OSError):
        for thread in os.listdir(_PROC / str(pid) / "task"):
            if fields := _stat(f"{pid}/task/{thread}"):
                letters.add(fields[0].decode())
    return letters


def control_groups(pid: int) -> set[str]:
    """The version 2 control groups of all living threads."""
    groups: set[str] = set()
    with suppress(OSError):
        for thread in os.listdir(_PROC / str(pid) / "task"):
            fields = _stat(f"{pid}/task/{thread}")
            if fields and fields[0] not in (b"Z", b"X"):
                lines = (_PROC / str(pid) / "task" / thread / "cgroup").read_text().splitlines()
                groups.update(line.removeprefix("0::") for line in lines if line.startswith("0::"))
    return groups


def environment_has(pid: int, text: bytes) -> bool:
    """Whether the process was started with this text in its environment."""
    try:
        return text in (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return False


def works_in(pid: int, folder: str) -> bool:
    """Whether the process's working folder is this folder or below it."""
    try:
        place = os.readlink(_PROC / str(pid) / "cwd")  # noqa: PTH115 -- may be deleted
    except OSError:
        return False
    return place == folder or place.startswith(folder + "/")


def kill_all(pids: Iterable[int], number: signal.Signals) -> int:
    """Send a signal to each process; skip processes that have ended. Return how many got the signal."""
    signalled = 0
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
            signalled += 1
    return signalled


def kill_group(leader: int, number: signal.Signals) -> None:
    """Signal a whole process group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def collect(pids: Iterable[int]) -> set[int]:
    """Collect the children that have ended, and return them."""
    gone: set[int] = set()
    for pid in tuple(pids):
        try:
            collected, _ = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            collected = pid
        if collected:
            gone.add(pid)
    return gone


def reap(pids: Iterable[int], until: float) -> None:
    """Collect killed children until the deadline."""
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
    pids: list[int] = []
    with suppress(OSError):
        for task in (_PROC / str(pid) / "task").iterdir():
            with suppress(OSError):
                pids += [int(child) for child in (task / "children").read_text().split()]
    return pids


def _children_by_parent() -> defaultdict[int, list[int]]:
    # Some kernels do not list children. Then one pass over all processes gives the children of each process.
    by_parent: defaultdict[int, list[int]] = defaultdict(list)
    for pid in all_processes():
        by_parent[parent(pid)].append(pid)
    return by_parent


@cache
def _lists_children() -> bool:
    return (_PROC / "self" / "task" / str(os.getpid()) / "children").exists()


def _stat(name: str) -> list[bytes]:
    """The fields of `stat` after the process's name: state, parent, …; empty if the process has ended."""
    try:
        handle = os.open(f"{_PROC}/{name}/stat", os.O_RDONLY)
    except OSError:
        return []
    try:
        text = os.read(handle, 4096)
    except OSError:
        return []
    finally:
        os.close(handle)
    # The name in parentheses may contain any character, including parentheses.
    return text.rsplit(b")", 1)[1].split()
