"""The request that commands stand still, from any thread to the threads that run them; watched.py carries it out."""

from __future__ import annotations

import os
import selectors
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from loopwright.kernel.cancellation import Cancellation


class Freezer:
    """A wish that commands stand still, or go on. Many commands may share it; the last wish counts."""

    def __init__(self) -> None:
        self._frozen = False
        self._followers: list[FreezeListener] = []
        # Its lock may be taken again by the thread that has it: a signal handler may come at any moment.
        self._changed = threading.Condition(threading.RLock())

    def freeze(self) -> None:
        """Ask for it; safe in a signal handler and from any thread. A command that has not begun waits."""
        self._wish(frozen=True)

    def thaw(self) -> None:
        """Let them go on where they were."""
        self._wish(frozen=False)

    @property
    def is_frozen(self) -> bool:
        """What was asked for last; `settled` says whether it is so."""
        return self._frozen

    def settled(self, timeout_s: float) -> bool:
        """Wait until all commands do as was asked for last, at most this long; whether they do."""
        with self._changed:
            return self._changed.wait_for(self._is_settled, timeout_s)

    @contextmanager
    def followed(self) -> Iterator[FreezeListener]:
        """For the thread that is to run a command: the wish, with a descriptor of its own."""
        follower = FreezeListener(self)
        with self._changed:
            self._followers.append(follower)
        try:
            yield follower
        finally:
            # Under the lock: a wish that is being passed on must not write to a descriptor that is somebody else's now.
            with self._changed:
                self._followers.remove(follower)
                follower.close()
                self._changed.notify_all()

    def note_change(self) -> None:
        """A follower did something: whoever waits may look again."""
        with self._changed:
            self._changed.notify_all()

    def _wish(self, *, frozen: bool) -> None:
        with self._changed:
            self._frozen = frozen
            for follower in tuple(self._followers):
                follower.wake()
            self._changed.notify_all()

    def _is_settled(self) -> bool:
        return all(follower.is_still == self._frozen for follower in tuple(self._followers))


class FreezeListener:
    """One command's ear for the wish, which selectors can wait for."""

    def __init__(self, freezer: Freezer) -> None:
        self._freezer = freezer
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        self._is_still = False

    @property
    def is_still(self) -> bool:
        """Whether the command stands still."""
        return self._is_still

    def is_wished(self) -> bool:
        """Whether it is to stand still, as of now: what woke us is answered by this."""
        with suppress(BlockingIOError):
            while os.read(self._read, 4096):
                pass
        return self._freezer.is_frozen

    def tell(self, *, still: bool) -> None:
        """Say what the command does now."""
        if still != self._is_still:
            self._is_still = still
            self._freezer.note_change()

    def wait_for_thaw(self, cancellation: Cancellation | None) -> float:
        """Before a command begins: wait while it is to stand still and no stop is requested. How long that was."""
        if not self.is_wished():
            return 0.0
        began = time.monotonic()
        with selectors.DefaultSelector() as selector:
            for handle in (self, cancellation):
                if handle is not None:
                    selector.register(handle, selectors.EVENT_READ)
            while self.is_wished() and (cancellation is None or cancellation.reason is None):
                self.tell(still=True)
                selector.select()
        self.tell(still=False)
        return time.monotonic() - began

    def wake(self) -> None:
        """The wish changed."""
        with suppress(OSError):
            os.write(self._write, b"!")

    def fileno(self) -> int:
        """Readable once the wish changed."""
        return self._read

    def close(self) -> None:
        """Give the descriptors back."""
        handles, self._read, self._write = (self._read, self._write), -1, -1
        for handle in handles:
            os.close(handle)
