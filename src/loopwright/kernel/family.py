"""Everything that one command started, however it got away, and ending it. Knows who of all processes is ours."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Protocol, TypeVar

from loopwright.kernel import process_tree

MARK_VARIABLE = "LOOPWRIGHT_PROCESS_MARK"
_SWEEP_S = 2.0

_numbers = itertools.count(1)
_lock = threading.Lock()
_ours: dict[int, str] = {}
# First processes of namespaces that are empty and killed: nothing of them can run, they only have to be collected.
_dying: set[int] = set()


class _Started(Protocol):
    @property
    def pid(self) -> int: ...


_S = TypeVar("_S", bound=_Started)


def mark_of(family: str) -> str:
    """A mark for a new process of this family; no two are the same."""
    return f"{family}:{os.getpid()}:{next(_numbers)}"


def note_start(start: Callable[[], _S], mark: str) -> _S:
    """Start a child and note it as one step: a sweep in another thread must not take it for an orphan."""
    with _lock:
        child = start()
        _ours[child.pid] = mark
    return child


def note_end(pid: int) -> None:
    """This child was collected."""
    with _lock:
        _ours.pop(pid, None)


class Family:
    """One command's processes: its leader, all below it, and those that came back to us as orphans."""

    def __init__(self, leader: int, mark: str, *, wrapped: bool) -> None:
        self.leader = leader
        self._mark = mark
        self._wrapped = wrapped

    def members(self) -> list[int]:
        """All but the leader, parents before their children."""
        members = process_tree.descendants(self.leader)
        for orphan in self._orphans():
            members += [orphan, *process_tree.descendants(orphan)]
        return members

    def signal(self, number: signal.Signals) -> None:
        """Signal everybody; a wrapper is spared until it has to be killed."""
        if not process_tree.KNOWS_DESCENDANTS:
            process_tree.kill_group(self.leader, number)
            return
        members = self.members()
        spare_leader = self._wrapped and members and number is not signal.SIGKILL
        process_tree.kill_all(members if spare_leader else [self.leader, *members], number)

    def sweep(self) -> None:
        """End and collect what the leader left behind."""
        until = time.monotonic() + _SWEEP_S
        while orphans := self._orphans():
            for orphan in orphans:
                below = process_tree.descendants(orphan)
                process_tree.kill_all([*below, orphan], signal.SIGKILL)
                if self._wrapped and not below:
                    # A wrapper's namespace with nobody left in it: taking its mounts down is not worth waiting for.
                    _dying.add(orphan)
            waited_for = set(orphans) - _dying
            if not waited_for:
                return
            process_tree.reap(waited_for, until)
            if time.monotonic() > until:
                return

    def _orphans(self) -> list[int]:
        with _lock:
            _dying.difference_update(process_tree.collect(_dying))
            strays = [pid for pid in process_tree.own_children() if pid not in _ours and pid not in _dying]
            others = {mark for mark in _ours.values() if mark and mark != self._mark}
        return [pid for pid in strays if self._is_mine(pid, others)]

    def _is_mine(self, pid: int, other_marks: set[str]) -> bool:
        # One that wiped its mark can't be told apart while others run; the last of them ends it.
        own = f"{MARK_VARIABLE}={self._mark}".encode() + b"\0"
        return not other_marks or process_tree.environment_has(pid, own)
