"""A child that is read from until it ends, and the pauses that freeze it meanwhile."""

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

# One try may not keep the reader of the output waiting; one that was in vain is soon followed by the next.
_TRY_S = 0.2
_RETRY_S = 0.02
# Somebody else may let a member go on, or a stray may turn out to be ours.
_RECHECK_S = 0.5
_NAP_S = 0.0005
# How long the children of one generation wait for their parents to stand.
_GENERATION_S = 0.005
_GLANCE_S = 0.0001
# Who sleeps too deeply to be stopped is taken for still when it did not wake for so long.
_DEEP_S = 0.1
# Moving a command into a group of its own takes the kernel some 10 ms: those that are over sooner need none.
_ENCLOSE_S = 0.03
# Stopped, stopped by a debugger, dead.
_STILL = frozenset("TtZXx")


class _Look(msgspec.Struct, frozen=True):
    """One look at a family: who runs, and whether anybody sleeps too deeply to notice yet that we stopped it."""

    members: frozenset[int]
    keepers: frozenset[int]
    running: frozenset[int]
    is_quiet: bool
    waiting: bool


class PausableCommand:
    """One running command under a wish: stops its family, lets it go on, and keeps its clock."""

    def __init__(self, family: ProcessFamily, follower: FreezeListener | None, began: float) -> None:
        self._family = family
        self._follower = follower
        self._began = began
        self._frozen_s = 0.0
        self._since: float | None = None
        self._stopped: dict[int, float] = {}
        self._out_of_reach: set[int] = set()
        self._look_at: float | None = None
        self._enclose_at = None if follower is None else began + _ENCLOSE_S

    @property
    def is_still(self) -> bool:
        """Whether the command's clock stands."""
        return self._since is not None

    @property
    def frozen_s(self) -> float:
        """How long it stood still."""
        return self._frozen_s + (0.0 if self._since is None else time.monotonic() - self._since)

    @property
    def worked_s(self) -> float:
        """How long it worked."""
        return time.monotonic() - self._began - self.frozen_s

    @property
    def look_in_s(self) -> float | None:
        """When to call `heed` again at the latest."""
        moments = [moment for moment in (self._look_at, self._enclose_at) if moment is not None]
        return max(0.0, min(moments) - time.monotonic()) if moments else None

    def heed(self) -> None:
        """Do what is wished for now, as far as that goes at once."""
        if self._follower is None:
            return
        wished = self._follower.is_wished()
        if self._enclose_at is not None and (wished or time.monotonic() >= self._enclose_at):
            self._enclose_at = None
            self._family.enclose()
        if not wished:
            if self._look_at is not None:
                self.let_go()
        elif self._look_at is None or time.monotonic() >= self._look_at:
            self._family.hold()
            still, waiting = self._stop_all() if process_tree.KNOWS_DESCENDANTS else self._stop_group()
            if still and self._since is None:
                self._since = time.monotonic()
                self._follower.tell(still=True)
            look_in_s = _RETRY_S if not still else _DEEP_S if waiting else _RECHECK_S
            self._look_at = time.monotonic() + look_in_s

    def let_go(self) -> None:
        """Let everybody go on that we stopped, children first: no parent is to see a child that is stopped."""
        if self._look_at is None or self._follower is None:
            return
        if not process_tree.KNOWS_DESCENDANTS:
            process_tree.kill_group(self._family.leader, signal.SIGCONT)
        process_tree.kill_all(reversed(self._stopped), signal.SIGCONT)
        if self._family.group is not None:
            self._family.group.thaw()
        self._family.let_go()
        self._frozen_s, self._since, self._look_at = self.frozen_s, None, None
        self._stopped.clear()
        self._out_of_reach.clear()
        self._follower.tell(still=False)

    def _stop_all(self) -> tuple[bool, bool]:
        """Stop until nobody runs; whether that is so, and whether somebody is still on the way there."""
        until = time.monotonic() + _TRY_S
        group = self._family.group if self._family.group is not None and self._family.group.freeze() else None
        before: _Look | None = None
        while True:
            # Who was born while we looked, or changed parents, is met by the next look: only two in a row that see the
            # same quiet are an answer.
            look = self._look(group)
            if look.is_quiet and look == before:
                return True, look.waiting
            changed = before is not None and look.members != before.members
            before = look
            if time.monotonic() > until:
                return False, True
            self._bring_on(look, changed=changed)

    def _bring_on(self, look: _Look, *, changed: bool) -> None:
        """Stop whoever runs; a wrapper's own processes last.

        They bury the others' dead: stopped too early, they would let these pile up until every look takes too long.
        """
        others = look.running - look.keepers
        if others or changed:
            buriers = [pid for pid in look.keepers if self._stopped.pop(pid, None) is not None]
            process_tree.kill_all(buriers, signal.SIGCONT)
        if not self._stop_in_order(others or look.running):
            time.sleep(_NAP_S)

    def _stop_in_order(self, running: frozenset[int]) -> bool:
        """Parents stand before their children are stopped: they start no more, and do not see one that is stopped.

        One generation after the other, without a look at everybody in between: who hops from child to child would
        always be gone by then. Whose parent does not stand soon is left to the next look. Whether anybody is new.
        """
        left, awake = set(running), set[int]()
        before = len(self._stopped)
        while ready := {pid for pid in left if process_tree.parent(pid) not in left | awake}:
            for pid in ready:
                self._stop(pid)
            left -= ready
            until = time.monotonic() + _GENERATION_S
            while left and (moving := {pid for pid in ready if process_tree.states(pid) - _STILL}):
                if time.monotonic() > until:
                    awake |= moving
                    break
                time.sleep(_GLANCE_S)
        return len(self._stopped) > before

    def _stop_group(self) -> tuple[bool, bool]:
        process_tree.kill_group(self._family.leader, signal.SIGSTOP)
        return True, False

    def _look(self, group: Cgroup | None) -> _Look:
        members = [self._family.leader, *self._family.members(to_hold=True)]
        inside = set(group.members()) if group is not None else set()
        running: list[int] = []
        waiting = False
        for pid in members:
            if pid in inside or pid in self._out_of_reach:
                continue
            awake = process_tree.states(pid) - _STILL
            if awake == {"D"} and time.monotonic() - self._stopped.get(pid, math.inf) > _DEEP_S:
                # It waits in the kernel (for a disk, for a child that is to become another program) and stops before
                # it does anything of its own. Not at once taken for still: what it asked for, a child for one, comes
                # first, and its child is let go so far that it wakes up.
                waiting = True
            elif awake and not (group is not None and group.has_all_of(pid)):
                running.append(pid)
        is_quiet = not running and not self._family.had_deaths and (group is None or group.is_frozen)
        return _Look(frozenset(members), self._family.keepers(members), frozenset(running), is_quiet, waiting)

    def _stop(self, pid: int) -> None:
        try:
            os.kill(pid, signal.SIGSTOP)
        except ProcessLookupError:
            return
        except PermissionError:
            # Another user's (sudo): only a control group reaches it. What we can't stop must not keep us trying.
            self._out_of_reach.add(pid)
            return
        self._stopped.setdefault(pid, time.monotonic())


_CHUNK = 1 << 18
_GRACE_S = 2.0
# A selector takes no more than some weeks; whoever waits longer looks again.
_LONGEST_WAIT_S = 3600.0
_DRAIN_S = 2.0
Sink = Callable[[bytes], None]


class Ending(StrEnum):
    """Why a command is over."""

    EXITED = "exited"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"


class Child(Protocol):
    """A started process, as `subprocess` gives it."""

    @property
    def pid(self) -> int:
        """Its number."""
        ...

    @property
    def stdout(self) -> IO[bytes] | None:
        """What it prints."""
        ...

    @property
    def stderr(self) -> IO[bytes] | None:
        """What it complains about."""
        ...

    def poll(self) -> int | None:
        """Its return code once it is over."""
        ...

    def wait(self) -> int:
        """Its return code, when it is over."""
        ...


class Watched:
    """A child that is read from until it is over, by itself or by us."""

    def __init__(self, child: Child, members: ProcessFamily, hold: PausableCommand, sinks: tuple[Sink, Sink]) -> None:
        self._child = child
        self._family = members
        self._hold = hold
        self._selector = selectors.DefaultSelector()
        for pipe, sink in zip((child.stdout, child.stderr), sinks, strict=True):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                self._selector.register(pipe, selectors.EVENT_READ, sink)
        self._exit_handle = process_tree.exit_handle(child.pid)

    def follow(
        self, timeout_s: float | None, cancellation: Cancellation | None, follower: FreezeListener | None
    ) -> Ending:
        """Read until the child exits; when its time is up or on request, end it: TERM, then KILL."""
        for handle in (self._exit_handle, cancellation, follower):
            if handle is not None:
                self._selector.register(handle, selectors.EVENT_READ, None)
        ending = Ending.EXITED
        kill_at: float | None = None
        while self._child.poll() is None:
            requested = cancellation is not None and cancellation.reason is not None
            if kill_at is None and (requested or self._left_s(timeout_s) == 0):
                ending = Ending.CANCELLED if requested else Ending.TIMED_OUT
                kill_at = time.monotonic() + _GRACE_S
                for handle in (cancellation, follower):
                    if handle is not None:
                        self._selector.unregister(handle)
                # Whoever was stopped meets the signal first when it goes on, before anything of its own.
                self._family.signal(signal.SIGTERM)
                self._hold.let_go()
            if kill_at is None:
                self._hold.heed()
            elif time.monotonic() >= kill_at:
                self._family.signal(signal.SIGKILL)
                kill_at = time.monotonic() + _GRACE_S
            self._read_once(self._pause(timeout_s, kill_at))
        return ending

    def finish(self) -> None:
        """End what is left of the family, then take what the pipes still hold."""
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
        """What is left of the child's own time; the clock stands while it is held still."""
        return None if timeout_s is None or self._hold.is_still else max(0.0, timeout_s - self._hold.worked_s)

    def _pause(self, timeout_s: float | None, kill_at: float | None) -> float | None:
        """How long to wait for the selector at most; None for as long as it takes."""
        # Without an exit handle (no pidfd on this system) the child has to be looked at now and then.
        waits = [None if self._exit_handle is not None else 0.02]
        if kill_at is not None:
            waits.append(max(0.0, kill_at - time.monotonic()))
        else:
            waits += [self._left_s(timeout_s), self._hold.look_in_s]
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
        """What is in the pipes now; nobody is left to write more, and a pipe that stays open is not waited for."""
        until = time.monotonic() + _DRAIN_S
        pipes = [key for key in self._selector.get_map().values() if key.data is not None]
        while pipes and time.monotonic() < until:
            if not self._read_once(0):
                break
            pipes = [key for key in self._selector.get_map().values() if key.data is not None]
