"""The request to freeze commands, from any thread to the threads that run the commands. watched.py carries it out."""

from __future__ import annotations

import os
import selectors
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from loopwright.kernel.cancellation import Cancellation


class Freezer:
    """A request to freeze or thaw commands. Many commands may share it; the last request counts."""

    def __init__(self) -> None:
        self._frozen = False
        self._listeners: list[FreezeListener] = []
        # Reentrant, because a signal handler may run in the thread that holds the lock.
        self._changed = threading.Condition(threading.RLock())

    def freeze(self) -> None:
        """Request a freeze; safe in a signal handler and from any thread. Commands that have not started wait."""
        self._request(frozen=True)

    def thaw(self) -> None:
        """Let the commands continue."""
        self._request(frozen=False)

    @property
    def is_frozen(self) -> bool:
        """The last request; `settled` tells whether the commands follow it."""
        return self._frozen

    def settled(self, timeout_s: float) -> bool:
        """Wait until all commands follow the last request, at most `timeout_s` seconds. Return whether they do."""
        with self._changed:
            return self._changed.wait_for(self._is_settled, timeout_s)

    @contextmanager
    def listen(self) -> Iterator[FreezeListener]:
        """For the thread that runs a command: a listener with its own descriptor."""
        listener = FreezeListener(self)
        with self._changed:
            self._listeners.append(listener)
        try:
            yield listener
        finally:
            # Under the lock: a request must not be written to a descriptor number that is already reused.
            with self._changed:
                self._listeners.remove(listener)
                listener.close()
                self._changed.notify_all()

    def notify(self) -> None:
        """Wake the waiting threads after a listener changed."""
        with self._changed:
            self._changed.notify_all()

    def _request(self, *, frozen: bool) -> None:
        with self._changed:
            self._frozen = frozen
            for listener in tuple(self._listeners):
                listener.wake()
            self._changed.notify_all()

    def _is_settled(self) -> bool:
        return all(listener.is_frozen == self._frozen for listener in tuple(self._listeners))


class FreezeListener:
    """Receives freeze requests for one command. Selectors can wait for it."""

    def __init__(self, freezer: Freezer) -> None:
        self._freezer = freezer
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        self._is_frozen = False

    @property
    def is_frozen(self) -> bool:
        """Whether the command is frozen."""
        return self._is_frozen

    def should_freeze(self) -> bool:
        """Whether the command should be frozen now. Also clears the wake-up."""
        with suppress(BlockingIOError):
            while os.read(self._read, 4096):
                pass
        return self._freezer.is_frozen

    def report(self, *, frozen: bool) -> None:
        """Report whether the command is frozen now."""
        if frozen != self._is_frozen:
            self._is_frozen = frozen
            self._freezer.notify()

    def wait_for_thaw(self, cancellation: Cancellation | None) -> float:
        """Before a command starts: wait for a thaw or a stop request. Return how long that took."""
        if not self.should_freeze():
            return 0.0
        began = time.monotonic()
        with selectors.DefaultSelector() as selector:
            for handle in (self, cancellation):
                if handle is not None:
                    selector.register(handle, selectors.EVENT_READ)
            while self.should_freeze() and (cancellation is None or cancellation.reason is None):
                self.report(frozen=True)
                selector.select()
        self.report(frozen=False)
        return time.monotonic() - began

    def wake(self) -> None:
        """Wake the listener's thread after a request."""
        with suppress(OSError):
            os.write(self._write, b"!")

    def fileno(self) -> int:
        """A descriptor that becomes readable after a request."""
        return self._read

    def close(self) -> None:
        """Close the descriptors."""
        handles, self._read, self._write = (self._read, self._write), -1, -1
        for handle in handles:
            os.close(handle)
