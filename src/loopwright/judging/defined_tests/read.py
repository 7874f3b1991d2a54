"""Reads the tests of a file in one of the known languages."""

from __future__ import annotations

from loopwright.judging.defined_tests.go_tests import go_tests
from loopwright.judging.defined_tests.javascript_tests import javascript_tests
from loopwright.judging.defined_tests.model import DefinedTests
from loopwright.judging.defined_tests.python_tests import python_tests
from loopwright.judging.syntax import go_source, javascript_source
from loopwright.judging.syntax.nesting import unless_too_deep


def read_tests(path: str, source: bytes, package: str = "") -> DefinedTests | None:
    """The tests of the file; None if the file is of another language or can't be parsed.

    `package` is the path under which Go imports the file's package.
    """
    return unless_too_deep(None, lambda: _read(path, source, package))


def _read(path: str, source: bytes, package: str) -> DefinedTests | None:
    if path.endswith(".py"):
        return python_tests(path, source)
    if path.endswith(go_source.SUFFIX):
        return go_tests(path, source, package)
    return javascript_tests(path, source) if path.endswith(javascript_source.SUFFIXES) else None
