"""Reads a child's output until the child ends, and freezes and thaws the child on request."""

from __future__ import annotations

import math
import os
import selectors
import signal
import time
from collections.abc import Callable
from enum import StrEnum
from typing import IO, Protocol

import msgspec

from loopwright.kernel import family, process_tree
from loopwright.kernel.cancellation import Cancellation
from loopwright.kernel.cgroup import Cgroup
from loopwright.kernel.family import ProcessFamily
from loopwright.kernel.freezing import FreezeListener

# One attempt to freeze must not keep the reader of the output waiting. A failed attempt is retried soon.
_TRY_S = 0.2
_RETRY_S = 0.02
# Another program may let a process continue, or a stray process may turn out to be in this family.
_RECHECK_S = 0.5
_NAP_S = 0.0005
# How long to wait for one generation of processes to stop before their children are stopped.
_GENERATION_S = 0.005
_POLL_S = 0.0001
# A process in uninterruptible sleep counts as frozen if it did not wake up for this long.
_DEEP_S = 0.1
# Moving a command into a control group takes about 10 ms; shorter commands need no group.
_ENCLOSE_S = 0.03
# Stopped, stopped by a debugger, dead.
_STILL = frozenset("TtZXx")


class _Look(msgspec.Struct, frozen=True):
    """A snapshot of a family: running processes, and whether one sleeps too deeply to react to a stop signal yet."""

    members: frozenset[int]
    wrapper_processes: frozenset[int]
    running: frozenset[int]
    is_quiet: bool
    waiting: bool


class PausableCommand:
    """A running command that can be frozen: stops its family, lets it continue, and measures its time."""

    def __init__(self, family: ProcessFamily, listener: FreezeListener | None, began: float) -> None:
        self._family = family
        self._listener = listener
        self._began = began
        self._frozen_s = 0.0
        self._since: float | None = None
        self._stopped: dict[int, float] = {}
        self._out_of_reach: set[int] = set()
        self._look_at: float | None = None
        self._enclose_at = None if listener is None else began + _ENCLOSE_S

    @property
    def is_frozen(self) -> bool:
        """Whether the command's clock is stopped."""
        return self._since is not None

    @property
    def frozen_s(self) -> float:
        """How long the command was frozen."""
        return self._frozen_s + (0.0 if self._since is None else time.monotonic() - self._since)

    @property
    def worked_s(self) -> float:
        """How long the command ran, without frozen time."""
        return time.monotonic() - self._began - self.frozen_s

    @property
    def look_in_s(self) -> float | None:
        """How soon `apply_request` must be called again; None if there is no need."""
        moments = [moment for moment in (self._look_at, self._enclose_at) if moment is not None]
        return max(0.0, min(moments) - time.monotonic()) if moments else None

    def apply_request(self) -> None:
        """Carry out the last freeze or thaw request, as far as possible at once."""
        if self._listener is None:
            return
        should_freeze = self._listener.should_freeze()
        if self._enclose_at is not None and (should_freeze or time.monotonic() >= self._enclose_at):
            self._enclose_at = None
            self._family.enclose()
        if not should_freeze:
            if self._look_at is not None:
                self.thaw()
        elif self._look_at is None or time.monotonic() >= self._look_at:
            self._family.mark_frozen()
            still, waiting = self._stop_all() if process_tree.KNOWS_DESCENDANTS else self._stop_group()
            if still and self._since is None:
                self._since = time.monotonic()
                self._listener.report(frozen=True)
            look_in_s = _RETRY_S if not still else _DEEP_S if waiting else _RECHECK_S
            self._look_at = time.monotonic() + look_in_s

    def thaw(self) -> None:
        """Let all stopped processes continue, children first: a parent should not see a stopped child."""
        if self._look_at is None or self._listener is None:
            return
        if not process_tree.KNOWS_DESCENDANTS:
            process_tree.kill_group(self._family.leader, signal.SIGCONT)
        process_tree.kill_all(reversed(self._stopped), signal.SIGCONT)
        if self._family.group is not None:
            self._family.group.thaw()
        self._family.mark_thawed()
        self._frozen_s, self._since, self._look_at = self.frozen_s, None, None
        self._stopped.clear()
        self._out_of_reach.clear()
        self._listener.report(frozen=False)

    def _stop_all(self) -> tuple[bool, bool]:
        """Stop processes until none runs. Return whether that succeeded, and whether one has yet to react."""
        until = time.monotonic() + _TRY_S
        group = self._family.group if self._family.group is not None and self._family.group.freeze() else None
        before: _Look | None = None
        while True:
            # The next look sees processes that were started or reparented during this look. So only two equal, quiet
            # looks in a row are an answer.
            look = self._look(group)
            if look.is_quiet and look == before:
                return True, look.waiting
            changed = before is not None and look.members != before.members
            before = look
            if time.monotonic() > until:
                return False, True
            self._stop_running(look, changed=changed)

    def _stop_running(self, look: _Look, *, changed: bool) -> None:
        """Stop the running processes; a wrapper's own processes last.

        The wrapper collects dead processes. Stopped too early, it would let them pile up and slow down every look.
        """
        others = look.running - look.wrapper_processes
        if others or changed:
            collectors = [pid for pid in look.wrapper_processes if self._stopped.pop(pid, None) is not None]
            process_tree.kill_all(collectors, signal.SIGCONT)
        if not self._stop_in_order(others or look.running):
            time.sleep(_NAP_S)

    def _stop_in_order(self, running: frozenset[int]) -> bool:
        """Stop parents before their children, so that parents start no more and do not see a stopped child.

        Goes from generation to generation without a full look in between, because a process that moves from child to
        child would escape. If a parent does not stop soon, its children are left to the next look. Return whether a
        process was newly stopped.
        """
        pending, awake = set(running), set[int]()
        before = len(self._stopped)
        while ready := {pid for pid in pending if process_tree.parent(pid) not in pending | awake}:
            for pid in ready:
                self._stop(pid)
            pending -= ready
            until = time.monotonic() + _GENERATION_S
            while pending and (moving := {pid for pid in ready if process_tree.states(pid) - _STILL}):
                if time.monotonic() > until:
                    awake |= moving
                    break
                time.sleep(_POLL_S)
        return len(self._stopped) > before

    def _stop_group(self) -> tuple[bool, bool]:
        process_tree.kill_group(self._family.leader, signal.SIGSTOP)
        return True, False

    def _look(self, group: Cgroup | None) -> _Look:
        members = [self._family.leader, *self._family.members(to_freeze=True)]
        inside = set(group.members()) if group is not None else set()
        running: list[int] = []
        waiting = False
        for pid in members:
            if pid in inside or pid in self._out_of_reach:
                continue
            awake = process_tree.states(pid) - _STILL
            if awake == {"D"} and time.monotonic() - self._stopped.get(pid, math.inf) > _DEEP_S:
                # The process waits in the kernel (for a disk, for a child in vfork) and stops before it runs again. It
                # does not count as frozen at once: what it asked for, such as a child, comes first, and that child is
                # allowed to run until the process wakes up.
                waiting = True
            elif awake and not (group is not None and group.contains_all_threads(pid)):
                running.append(pid)
        is_quiet = not running and not self._family.had_deaths and (group is None or group.is_frozen)
        return _Look(frozenset(members), self._family.wrapper_processes(members), frozenset(running), is_quiet, waiting)

    def _stop(self, pid: int) -> None:
        try:
            os.kill(pid, signal.SIGSTOP)
        except ProcessLookupError:
            return
        except PermissionError:
            # Another user's process (sudo): only a control group reaches it. Do not retry.
            self._out_of_reach.add(pid)
            return
        self._stopped.setdefault(pid, time.monotonic())


_CHUNK = 1 << 18
_GRACE_S = 2.0
# A selector accepts at most some weeks; longer waits are split.
_LONGEST_WAIT_S = 3600.0
_DRAIN_S = 2.0
Sink = Callable[[bytes], None]


class Ending(StrEnum):
    """Why a command ended."""

    EXITED = "exited"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"


class Child(Protocol):
    """A started process, as `subprocess` returns it."""

    @property
    def pid(self) -> int:
        """The process id."""
        ...

    @property
    def stdout(self) -> IO[bytes] | None:
        """Its standard output."""
        ...

    @property
    def stderr(self) -> IO[bytes] | None:
        """Its standard error."""
        ...

    def poll(self) -> int | None:
        """The return code, or None while the process runs."""
        ...

    def wait(self) -> int:
        """Wait for the end and return the return code."""
        ...


class Watched:
    """A child whose output is read until the child exits or is ended."""

    def __init__(
        self, child: Child, members: ProcessFamily, pausable: PausableCommand, sinks: tuple[Sink, Sink]
    ) -> None:
        self._child = child
        self._family = members
        self._pausable = pausable
        self._selector = selectors.DefaultSelector()
        for pipe, sink in zip((child.stdout, child.stderr), sinks, strict=True):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                self._selector.register(pipe, selectors.EVENT_READ, sink)
        self._exit_handle = process_tree.exit_handle(child.pid)

    def follow(
        self, timeout_s: float | None, cancellation: Cancellation | None, listener: FreezeListener | None
    ) -> Ending:
        """Read until the child exits. At its timeout or on request end the child: TERM, then KILL."""
        for handle in (self._exit_handle, cancellation, listener):
            if handle is not None:
                self._selector.register(handle, selectors.EVENT_READ, None)
        ending = Ending.EXITED
        kill_at: float | None = None
        while self._child.poll() is None:
            requested = cancellation is not None and cancellation.reason is not None
            if kill_at is None and (requested or self._left_s(timeout_s) == 0):
                ending = Ending.CANCELLED if requested else Ending.TIMED_OUT
                kill_at = time.monotonic() + _GRACE_S
                for handle in (cancellation, listener):
                    if handle is not None:
                        self._selector.unregister(handle)
                # A stopped process receives TERM first when it continues, before it runs its own code.
                self._family.signal(signal.SIGTERM)
                self._pausable.thaw()
            if kill_at is None:
                self._pausable.apply_request()
            elif time.monotonic() >= kill_at:
                self._family.signal(signal.SIGKILL)
                kill_at = time.monotonic() + _GRACE_S
            self._read_once(self._pause(timeout_s, kill_at))
        return ending

    def finish(self) -> None:
        """End the rest of the family, then read what is left in the pipes."""
        if self._child.poll() is None:
            process_tree.kill_all([*process_tree.descendants(self._child.pid), self._child.pid], signal.SIGKILL)
            self._child.wait()
        family.note_end(self._child.pid)
        self._family.sweep()
        try:
            self._drain()
        finally:
            self._selector.close()
            for pipe in (self._child.stdout, self._child.stderr):
                if pipe is not None:
                    pipe.close()
            if self._exit_handle is not None:
                os.close(self._exit_handle)

    def _left_s(self, timeout_s: float | None) -> float | None:
        """The rest of the child's time limit; the clock stops while the child is frozen."""
        return None if timeout_s is None or self._pausable.is_frozen else max(0.0, timeout_s - self._pausable.worked_s)

    def _pause(self, timeout_s: float | None, kill_at: float | None) -> float | None:
        """The longest wait for the selector; None to wait without a limit."""
        # Without an exit handle (no pidfd on this system) the child must be polled.
        waits = [None if self._exit_handle is not None else 0.02]
        if kill_at is not None:
            waits.append(max(0.0, kill_at - time.monotonic()))
        else:
            waits += [self._left_s(timeout_s), self._pausable.look_in_s]
        return min((min(wait, _LONGEST_WAIT_S) for wait in waits if wait is not None), default=None)

    def _read_once(self, timeout: float | None) -> bool:
        got = False
        for key, _ in self._selector.select(timeout):
            sink: Sink | None = key.data
            if sink is None:
                continue
            try:
                data = os.read(key.fd, _CHUNK)
            except BlockingIOError:
                continue
            if data:
                got = True
                sink(data)
            else:
                self._selector.unregister(key.fileobj)
        return got

    def _drain(self) -> None:
        """Read what is left in the pipes. No process writes any more; a pipe that stays open is not waited for."""
        until = time.monotonic() + _DRAIN_S
        pipes = [key for key in self._selector.get_map().values() if key.data is not None]
        while pipes and time.monotonic() < until:
            if not self._read_once(0):
                break
            pipes = [key for key in self._selector.get_map().values() if key.data is not None]
