"""One streamed child: its pipes, its limits, its exit, and the end of all that it started. Starts nothing itself."""

from __future__ import annotations

import os
import selectors
import signal
import time
from collections.abc import Callable
from enum import StrEnum
from typing import IO, Protocol

from loopwright.kernel import family, process_tree
from loopwright.kernel.cancellation import Cancellation
from loopwright.kernel.family import ProcessFamily
from loopwright.kernel.freezing import FreezeListener
from loopwright.kernel.hold import PausableCommand

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
