"""The blocks of probed tests. Probed test files hold this module as text: only the standard library."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol

_frame = sys._getframe


class GoesOn(Protocol):
    """The probes of one file."""

    def goes_on(self, key: str, error: BaseException, frame: Any) -> bool:
        """Whether a test goes on after this failure of an assertion, which is recorded."""
        ...


class SoftAssertion:
    """An assertion on its own line."""

    def __init__(self, probes: GoesOn, key: str) -> None:
        self._probes = probes
        self._key = key

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        return isinstance(error, Exception) and self._probes.goes_on(self._key, error, _frame(1))


class SoftBlock:
    """A block that expects an exception or a warning."""

    def __init__(self, probes: GoesOn, key: str, manager: Any) -> None:
        self._probes = probes
        self._key = key
        self._manager = manager

    def __getattr__(self, name: str) -> Any:
        return getattr(self._manager, name)

    def __enter__(self) -> Any:
        return type(self._manager).__enter__(self._manager)

    def __exit__(self, *raised: Any) -> Any:
        try:
            handled = type(self._manager).__exit__(self._manager, *raised)
        except BaseException as error:
            # Those of pytest are no exceptions.
            if (isinstance(error, Exception) or type(error).__name__ == "Failed") and self._probes.goes_on(
                self._key, error, _frame(1)
            ):
                return True
            raise
        if handled or not isinstance(raised[1], Exception):
            return handled
        return self._probes.goes_on(self._key, raised[1], _frame(1))


class ProbedBlock:
    """Ends a block with a failure that its context manager must let through; the test goes on."""

    def __init__(self, manager: Any, record: Callable[[bool], None]) -> None:
        self._manager = manager
        self._record = record

    def __enter__(self) -> Any:
        return type(self._manager).__enter__(self._manager)

    def __exit__(self, *raised: Any) -> Any:
        end = type(self._manager).__exit__
        if raised[0] is not None:
            return end(self._manager, *raised)
        try:
            swallows = bool(end(self._manager, *_failure()))
        except Exception:
            swallows = False
        self._record(swallows)
        return None

    async def __aenter__(self) -> Any:
        return await type(self._manager).__aenter__(self._manager)

    async def __aexit__(self, *raised: Any) -> Any:
        end = type(self._manager).__aexit__
        if raised[0] is not None:
            return await end(self._manager, *raised)
        try:
            swallows = bool(await end(self._manager, *_failure()))
        except Exception:
            swallows = False
        self._record(swallows)
        return None


def _failure() -> tuple[Any, Any, Any]:
    try:
        raise AssertionError("changed")
    except AssertionError:
        return sys.exc_info()
