"""A request to stop. Selectors can wait for the request, and helper commands end when it comes."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Protocol


class Stopped(Exception):
    """A stop was requested before or during a helper command."""


class Helper(Protocol):
    """A short command that can be killed."""

    def kill(self) -> None:
        """Kill the command at once."""
        ...


class Cancellation:
    """A request to stop. The first reason is kept."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self._reason: str | None = None
        self._inner: list[Cancellation] = []
        self._helpers: list[Helper] = []

    @contextmanager
    def nested(self) -> Iterator[Cancellation]:
        """A separate request for a part of the work. Stopping the whole stops the part, but not the reverse."""
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
        """The reason to stop; None if no stop was requested."""
        return self._reason

    def request(self, reason: str) -> None:
        """Request a stop; safe in a signal handler and from any thread."""
        if self._reason is None:
            self._reason = reason
            with suppress(OSError):
                os.write(self._write, b"!")
        for inner in tuple(self._inner):
            inner.request(reason)
        for helper in tuple(self._helpers):
            helper.kill()

    @contextmanager
    def killing_on_request(self, helper: Helper) -> Iterator[None]:
        """Kill this helper command when a stop is requested, then raise `Stopped`."""
        self._helpers.append(helper)
        try:
            if self._reason is not None:
                helper.kill()
            yield
        finally:
            self._helpers.remove(helper)
        self.raise_if_requested()

    def raise_if_requested(self) -> None:
        """Raise `Stopped` if a stop was requested; for long work between commands."""
        if self._reason is not None:
            raise Stopped(self._reason)

    def fileno(self) -> int:
        """A descriptor that becomes readable when a stop is requested."""
        return self._read

    def close(self) -> None:
        """Close the descriptors."""
        for handle in (self._read, self._write):
            with suppress(OSError):
                os.close(handle)


def wait_for_request(cancellation: Cancellation, timeout_s: float) -> bool:
    """Wait for a stop request, at most `timeout_s` seconds. Return whether a stop was requested."""
    return bool(select.select([cancellation], [], [], timeout_s)[0])


_current: ContextVar[Cancellation | None] = ContextVar("current_cancellation", default=None)


@contextmanager
def stopping_on(cancellation: Cancellation) -> Iterator[None]:
    """Every helper command in this block, at any depth, ends when a stop is requested; the block raises `Stopped`."""
    token = _current.set(cancellation)
    try:
        cancellation.raise_if_requested()
        yield
    finally:
        _current.reset(token)


def current_cancellation() -> Cancellation | None:
    """The request that applies to the current block."""
    return _current.get()


def check_for_stop() -> None:
    """Raise `Stopped` if a stop of the current block was requested; for long work."""
    if (request := _current.get()) is not None:
        request.raise_if_requested()
