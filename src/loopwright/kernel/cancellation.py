"""A request to stop, that selectors can wait for, and the block of work that heeds it. Ends no process itself."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Protocol


class Stopped(Exception):
    """A stop was requested while a helper command was at work, or before it could start."""


class Helper(Protocol):
    """A short command that can be ended."""

    def kill(self) -> None:
        """End it at once."""
        ...


class Cancellation:
    """A request to stop that selectors can wait for. The first reason stays."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self._reason: str | None = None
        self._inner: list[Cancellation] = []
        self._helpers: list[Helper] = []

    @contextmanager
    def nested(self) -> Iterator[Cancellation]:
        """A request of its own for a part of the work; what stops the whole stops the part, not the reverse."""
        inner = Cancellation()
        self._inner.append(inner)
        if self._reason is not None:
            inner.request(self._reason)
        try:
            yield inner
        finally:
            self._inner.remove(inner)
            inner.close()

    @property
    def reason(self) -> str | None:
        """Why to stop, or None to go on."""
        return self._reason

    def request(self, reason: str) -> None:
        """Ask; safe in a signal handler and from any thread."""
        if self._reason is None:
            self._reason = reason
            with suppress(OSError):
                os.write(self._write, b"!")
        for inner in tuple(self._inner):
            inner.request(reason)
        for helper in tuple(self._helpers):
            helper.kill()

    @contextmanager
    def ending(self, helper: Helper) -> Iterator[None]:
        """End this helper command the moment a stop is requested; `Stopped` when one was."""
        self._helpers.append(helper)
        try:
            if self._reason is not None:
                helper.kill()
            yield
        finally:
            self._helpers.remove(helper)
        self.raise_if_requested()

    def raise_if_requested(self) -> None:
        """For long work between commands."""
        if self._reason is not None:
            raise Stopped(self._reason)

    def fileno(self) -> int:
        """Readable once a stop was requested."""
        return self._read

    def close(self) -> None:
        """Give the descriptors back."""
        for handle in (self._read, self._write):
            with suppress(OSError):
                os.close(handle)


def wait_for_request(cancellation: Cancellation, timeout_s: float) -> bool:
    """Wait until a stop is requested, at most this long."""
    return bool(select.select([cancellation], [], [], timeout_s)[0])


_heeded: ContextVar[Cancellation | None] = ContextVar("heeded", default=None)


@contextmanager
def heeding(cancellation: Cancellation) -> Iterator[None]:
    """Let every helper command in this block, however deep, end when a stop is requested, as `Stopped`."""
    before = _heeded.set(cancellation)
    try:
        cancellation.raise_if_requested()
        yield
    finally:
        _heeded.reset(before)


def heeded() -> Cancellation | None:
    """The request that the block we are in heeds."""
    return _heeded.get()


def go_on() -> None:
    """Between two pieces of long work: `Stopped` if the block that we are in was asked to stop."""
    if (request := _heeded.get()) is not None:
        request.raise_if_requested()
