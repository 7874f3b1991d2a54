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
    # pytest shows the code of all its own frames if the only other frame has no file name.
    code = b"compile(%r, 'limits', 'exec')" % inspect.getsource(limit_tests)
    load = b"exec(%s, _limits := dict(__name__='limits'))" % code
    call = b"_limits.pop('limit_tests')(globals(), %r, %r)" % (names, seconds)
    return b"\n".join((source, b"", load, call, b""))
