"""Limits the time of each altered test in a Python file: an altered number can make a test run for ever.

The limit is in the file, not in the environment: there, the code under test could tell this run from others.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable

from loopwright.judging.controls import limit_tests
from loopwright.judging.syntax.python_source import Function, parse_python


def with_time_limit(source: bytes, tests: Iterable[str], seconds: float, *, probes: str = "") -> bytes:
    """The file with a limit for each of these tests, by their names in the file. A script at its top level has none.

    With the name of the file's probes, each test also fails at its end.
    """
    names = sorted(test for test in tests if all(part.isidentifier() for part in test.split(".")))
    if not names:
        return source
    # In a namespace of its own: the module of the tests gets no new name.
    # pytest shows the code of all its own frames if the only other frame has no file name.
    code = b"compile(%r, 'limits', 'exec')" % inspect.getsource(limit_tests)
    load = b"exec(%s, _limits := dict(__name__='limits'))" % code
    call = b"_limits.pop('limit_tests')(globals(), %r, %r, %r)" % (names, seconds, probes)
    place = _after_definitions(source)
    return b"\n".join((source[:place], b"", load, call, b"")) + source[place:]


def _after_definitions(source: bytes) -> int:
    """The end of the line of the last definition: a script runs its tests after that."""
    parsed = parse_python(source)
    definitions = [node for node in parsed.tree.body if _defines(node)] if parsed is not None else []
    end = source.find(b"\n", parsed.span(definitions[-1])[1]) if parsed is not None and definitions else -1
    return len(source) if end < 0 else end


def _defines(node: ast.stmt) -> bool:
    """Whether a statement defines something, perhaps under a condition, and is not the main part of a script."""
    parts = list(ast.walk(node))
    is_main = any(isinstance(part, ast.Constant) and part.value == "__main__" for part in parts)
    return isinstance(node, Function | ast.ClassDef) or (
        not is_main and any(isinstance(part, Function | ast.ClassDef) for part in parts)
    )
