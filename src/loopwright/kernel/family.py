"""All processes that one command started, including those that tried to escape. Finds them and ends them."""

from __future__ import annotations

import os
import secrets
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

_lock = threading.Lock()
_ours: dict[int, str] = {}
# Control groups by mark. A process in a control group belongs to that group's family only.
_groups: dict[str, Cgroup] = {}
# Marks of the families that are frozen.
_frozen: set[str] = set()
# The init processes of namespaces that are empty and killed. They run nothing and only have to be collected.
_dying: set[int] = set()


class _Started(Protocol):
    @property
    def pid(self) -> int: ...


_S = TypeVar("_S", bound=_Started)


def mark_of(family: str) -> str:
    """A unique mark for a new process of this family. The process can read it, so it does not count processes."""
    return f"{family}:{os.getpid()}:{secrets.token_hex(6)}"


def note_start(start: Callable[[], _S], mark: str) -> _S:
    """Start a child and record it in one step, so that a sweep in another thread does not take it for an orphan."""
    with _lock:
        child = start()
        _ours[child.pid] = mark
    return child


def note_end(pid: int) -> None:
    """Forget a child that was collected."""
    with _lock:
        _ours.pop(pid, None)


class ProcessFamily:
    """The processes of one command: its leader, all descendants, and orphans that were reparented to this process."""

    def __init__(self, leader: int, mark: str, *, wrapped: bool) -> None:
        self.leader = leader
        self.group: Cgroup | None = None
        # True if the last look found processes of this family that died since the look before. Then some process is
        # still running, even if none was seen.
        self.had_deaths = False
        self._mark = mark
        self._wrapped = wrapped
        self._first: int | None = None

    def enclose(self) -> None:
        """Give the family a control group if the system allows one.

        A wrapper needs no group: its processes can't leave its namespace, and moving costs about 10 ms per command.
        """
        group = None if self._wrapped else cgroup.new_group()
        if group is None:
            return
        if not group.add(self.leader):
            group.remove(0.0)
            return
        self.group = group
        with _lock:
            _groups[self._mark] = group
        for _ in range(_ROUNDS):
            # Move processes that started before the leader moved. Any that are missed are found without the group.
            inside = set(group.members())
            moved = [group.add(pid) for pid in self.members() if pid not in inside]
            if not any(moved):
                return

    def members(self, *, to_freeze: bool = False) -> list[int]:
        """All processes but the leader, parents before their children.

        With `to_freeze`, also orphans of unknown origin, once every family they could belong to is frozen.
        """
        orphans = self._orphans(to_freeze=to_freeze)
        pids = dict.fromkeys([*orphans, *process_tree.descendants(self.leader, *orphans), *self._inside()])
        pids.pop(self.leader, None)
        return list(pids)

    def wrapper_processes(self, members: list[int]) -> frozenset[int]:
        """The wrapper's own processes among the members: the leader, and the init process of its namespace."""
        if not self._wrapped:
            return frozenset()
        if self._first is None:
            self._first = next((pid for pid in members if process_tree.parent(pid) == self.leader), None)
        return frozenset({self.leader} if self._first is None else {self.leader, self._first})

    def mark_frozen(self) -> None:
        """Mark the family as frozen. Orphans without a mark may then be assigned to a frozen family."""
        with _lock:
            _frozen.add(self._mark)

    def mark_thawed(self) -> None:
        """Mark the family as no longer frozen."""
        with _lock:
            _frozen.discard(self._mark)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all processes. A wrapper gets only SIGKILL."""
        if not process_tree.KNOWS_DESCENDANTS:
            process_tree.kill_group(self.leader, number)
            return
        if self.group is not None and number is signal.SIGKILL:
            self.group.kill()
        members = self.members()
        spare_leader = self._wrapped and members and number is not signal.SIGKILL
        process_tree.kill_all(members if spare_leader else [self.leader, *members], number)

    def sweep(self) -> None:
        """Kill and collect the processes that the leader left behind."""
        until = time.monotonic() + _SWEEP_S
        self.mark_thawed()
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
                    # The wrapper's namespace is empty. Unmounting it takes time and needs no waiting.
                    _dying.add(orphan)
            waited_for = set(orphans) - _dying
            if not waited_for:
                return
            process_tree.reap(waited_for, until)
            if time.monotonic() > until:
                return

    def _inside(self) -> list[int]:
        return self.group.members() if self.group is not None else []

    def _orphans(self, *, to_freeze: bool = False) -> list[int]:
        with _lock:
            _dying.difference_update(process_tree.collect(_dying))
            strays = set(process_tree.own_children()) - _ours.keys() - _dying
            # Collect every dead child, of any family: a busy command leaves thousands behind.
            gone = process_tree.collect(strays)
            strays -= gone
            others = {mark for mark in _ours.values() if mark and mark != self._mark}
            unfrozen = others - _frozen if to_freeze else others
            for group in [group for mark, group in _groups.items() if mark != self._mark] if strays else []:
                strays.difference_update(group.members())
        self.had_deaths = bool(gone) and not unfrozen
        inside = set(self._inside()) if strays else set()
        return [pid for pid in strays if pid in inside or self._belongs_to_family(pid, others, unfrozen)]

    def _belongs_to_family(self, pid: int, others: set[str], unfrozen: set[str]) -> bool:
        if _has_mark(pid, self._mark) or _session(pid) == self.leader:
            return True
        # A process without its mark and session can't be assigned while other families run. The last family ends it.
        return not unfrozen and not any(_has_mark(pid, other) for other in others)


def _has_mark(pid: int, mark: str) -> bool:
    return process_tree.environment_has(pid, f"{MARK_VARIABLE}={mark}".encode() + b"\0")


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0
