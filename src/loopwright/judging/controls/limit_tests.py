"""Limits the time of tests, and lets them fail at their end.

Altered test files hold this module as text, so it imports only the standard library.
"""

from __future__ import annotations

import functools
import inspect
import signal
import types
from collections.abc import Callable, Iterable
from typing import Any


class OutOfTime(BaseException):
    """The time for one test is over. `except Exception` does not catch it."""


def limit_tests(space: dict[str, Any], tests: Iterable[str], seconds: float, probes: str = "") -> None:
    """Limit these tests of a module, by their names in the file, such as `TestClass.test_name`.

    With the name of the module's probes, each test also tells them that it came to its end, and fails there.
    """
    for test in tests:
        *owners, method = test.split(".")
        owner: Any = None
        found: Any = space
        for part in owners:
            owner = found.get(part)
            found = getattr(owner, "__dict__", {})
        function = found.get(method)
        if not isinstance(function, types.FunctionType):
            continue
        if probes:
            function = _failing(function, space[probes], test)
        if not inspect.iscoroutinefunction(function):
            function = _limited(function, seconds)
        if owner is None:
            space[method] = function
        else:
            setattr(owner, method, function)


def _failing(test: Callable[..., Any], probes: Any, name: str) -> Callable[..., Any]:
    """The test, which fails at its end. The probes get to know where it ended."""
    if inspect.isgeneratorfunction(test) or inspect.isasyncgenfunction(test):
        return test
    if inspect.iscoroutinefunction(test):

        @functools.wraps(test)
        async def run_async(*args: Any, **options: Any) -> Any:
            try:
                await test(*args, **options)
            except BaseException as error:
                probes.stop(name, args, error)
                raise
            probes.end(name, args)
            raise AssertionError

        return run_async

    @functools.wraps(test)
    def run(*args: Any, **options: Any) -> Any:
        try:
            test(*args, **options)
        except BaseException as error:
            probes.stop(name, args, error)
            raise
        probes.end(name, args)
        raise AssertionError

    return run


def _limited(test: Callable[..., Any], seconds: float) -> Callable[..., Any]:
    @functools.wraps(test)
    def run(*args: Any, **options: Any) -> Any:
        try:
            before = signal.signal(signal.SIGALRM, _stop)
        except ValueError:
            return test(*args, **options)  # not in the main thread
        # Again and again: the code under test may catch every exception.
        signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)
        try:
            return test(*args, **options)
        except KeyboardInterrupt:
            # A failed comparison asks the product for its texts, and the product must not stop the runner.
            raise AssertionError from None
        except BaseException as error:  # noqa: BLE001  # it is raised again
            # A runner shows code and values of each frame. That is slow for many failures, and it can fail itself.
            raise error.with_traceback(None) from None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    return run


def _stop(number: int, frame: object) -> None:
    del number, frame
    raise OutOfTime
