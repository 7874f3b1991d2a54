"""Everything that one command started, however it got away, and ending it. Knows who of all processes is ours."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Protocol, TypeVar

from loopwright.kernel import cgroup, process_tree
from loopwright.kernel.cgroup import Cgroup

MARK_VARIABLE = "LOOPWRIGHT_PROCESS_MARK"
_SWEEP_S = 2.0
_ROUNDS = 5

_numbers = itertools.count(1)
_lock = threading.Lock()
_ours: dict[int, str] = {}
# The control groups of those that have one, by their marks: who is in it is nobody else's.
_groups: dict[str, Cgroup] = {}
# Marks of the families that are being held still.
_held: set[str] = set()
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


class ProcessFamily:
    """One command's processes: its leader, all below it, and those that came back to us as orphans."""

    def __init__(self, leader: int, mark: str, *, wrapped: bool) -> None:
        self.leader = leader
        self.group: Cgroup | None = None
        # Whether the last look at the members met somebody who had died since the one before, and who can't be another
        # family's: then somebody runs, also when nobody was seen.
        self.had_deaths = False
        self._mark = mark
        self._wrapped = wrapped
        self._first: int | None = None

    def enclose(self) -> None:
        """Give it a control group of its own, where the system has one for us.

        A wrapper needs none: nobody leaves its namespace, and moving costs each command some 10 ms.
        """
        group = None if self._wrapped else cgroup.fresh()
        if group is None:
            return
        if not group.add(self.leader):
            group.remove(0.0)
            return
        self.group = group
        with _lock:
            _groups[self._mark] = group
        for _ in range(_ROUNDS):
            # What it had started before it was moved in. Who slips through is found as if there were no group.
            inside = set(group.members())
            moved = [group.add(pid) for pid in self.members() if pid not in inside]
            if not any(moved):
                return

    def members(self, *, to_hold: bool = False) -> list[int]:
        """All but the leader, parents before their children.

        To be held are also strays that nobody can tell apart, once everybody whose they could be is held as well.
        """
        orphans = self._orphans(to_hold=to_hold)
        found = dict.fromkeys([*orphans, *process_tree.descendants(self.leader, *orphans), *self._inside()])
        found.pop(self.leader, None)
        return list(found)

    def keepers(self, members: list[int]) -> frozenset[int]:
        """Of these members a wrapper's own: the leader, and the first process of the namespace that it made."""
        if not self._wrapped:
            return frozenset()
        if self._first is None:
            self._first = next((pid for pid in members if process_tree.parent(pid) == self.leader), None)
        return frozenset({self.leader} if self._first is None else {self.leader, self._first})

    def hold(self) -> None:
        """It is being held still: unmarked strays may be taken for somebody's who is held."""
        with _lock:
            _held.add(self._mark)

    def let_go(self) -> None:
        """It is held no longer."""
        with _lock:
            _held.discard(self._mark)

    def signal(self, number: signal.Signals) -> None:
        """Signal everybody; a wrapper is spared until it has to be killed."""
        if not process_tree.KNOWS_DESCENDANTS:
            process_tree.kill_group(self.leader, number)
            return
        if self.group is not None and number is signal.SIGKILL:
            self.group.kill()
        members = self.members()
        spare_leader = self._wrapped and members and number is not signal.SIGKILL
        process_tree.kill_all(members if spare_leader else [self.leader, *members], number)

    def sweep(self) -> None:
        """End and collect what the leader left behind."""
        until = time.monotonic() + _SWEEP_S
        self.let_go()
        self._sweep_orphans(until)
        if self.group is None:
            return
        if self.group.members():
            self.group.kill()
            self._sweep_orphans(until)
        self.group.remove(until)
        with _lock:
            _groups.pop(self._mark, None)

    def _sweep_orphans(self, until: float) -> None:
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

    def _inside(self) -> list[int]:
        return self.group.members() if self.group is not None else []

    def _orphans(self, *, to_hold: bool = False) -> list[int]:
        with _lock:
            _dying.difference_update(process_tree.collect(_dying))
            strays = set(process_tree.own_children()) - _ours.keys() - _dying
            # Whoever is over is collected, whosever it was: a busy command leaves thousands behind.
            gone = process_tree.collect(strays)
            strays -= gone
            others = {mark for mark in _ours.values() if mark and mark != self._mark}
            unheld = others - _held if to_hold else others
            for group in [group for mark, group in _groups.items() if mark != self._mark] if strays else []:
                strays.difference_update(group.members())
        self.had_deaths = bool(gone) and not unheld
        inside = set(self._inside()) if strays else set()
        return [pid for pid in strays if pid in inside or self._is_mine(pid, others, unheld)]

    def _is_mine(self, pid: int, others: set[str], unheld: set[str]) -> bool:
        if _has_mark(pid, self._mark) or _session(pid) == self.leader:
            return True
        # One that wiped its mark and left its session can't be told apart while others run; the last of them ends it.
        return not unheld and not any(_has_mark(pid, other) for other in others)


def _has_mark(pid: int, mark: str) -> bool:
    return process_tree.environment_has(pid, f"{MARK_VARIABLE}={mark}".encode() + b"\0")


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0
