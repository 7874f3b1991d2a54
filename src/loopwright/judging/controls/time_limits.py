"""Limits the time of each altered test in a Python file: an altered number can make a test run for ever.

The limit is in the file, not in the environment: there, the code under test could tell this run from others.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable

from loopwright.judging.controls import limit_tests


def with_time_limit(source: bytes, tests: Iterable[str], seconds: float) -> bytes:
    """The file with a limit for each of these tests, by their names in the file. A script at its top level has none."""
    names = sorted(test for test in tests if all(part.isidentifier() for part in test.split(".")))
    if not names:
        return source
    # In a namespace of its own: the module of the tests gets no new name.
    load = f"exec({inspect.getsource(limit_tests)!r}, _limits := dict(__name__='limits'))"
    call = f"_limits.pop('limit_tests')(globals(), {names!r}, {seconds!r})"
    return b"\n".join((source, b"", load.encode(), call.encode(), b""))
