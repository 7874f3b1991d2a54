"""Parts of a source file that let tests fail: assertion helpers, fixtures and hooks of a test runner.

If the work changes such a part, the tests of the base still pass, but perhaps they can't fail any more.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import msgspec

from loopwright.judging.controls.raising_javascript import functions_by_name
from loopwright.judging.judge_helpers import asserted_about_parameters
from loopwright.judging.syntax.javascript_source import SUFFIXES, parse_javascript
from loopwright.judging.syntax.python_source import Function, dotted_name, parse_python

_PYTHON = (".py", ".pyw")
_HOOK = "pytest_"
_FIXTURE = "fixture"
_ASSERTS_IN_JAVASCRIPT = re.compile(r"\b(?:assert|expect)\s*[.(]|\bAssertionError\b")
_Code = dict[str, str]


class PartsOfTests(msgspec.Struct, frozen=True):
    """Names of changed functions: a runner loads the first by itself; the others count if a test calls them."""

    loaded: frozenset[str] = frozenset()
    asserting: frozenset[str] = frozenset()


def changed_parts_of_tests(path: str, before: bytes, after: bytes) -> PartsOfTests:
    """The parts of a source file on the base that the work changed or deleted."""
    if path.endswith(_PYTHON):
        old, new = _PythonFile(before), _PythonFile(after)
        return PartsOfTests(_changed(old.loaded(), new.all()), _changed(old.asserting(), new.all()))
    if path.endswith(SUFFIXES):
        functions = _javascript(path, before).items()
        asserting = {name: code for name, code in functions if _ASSERTS_IN_JAVASCRIPT.search(code)}
        return PartsOfTests(asserting=_changed(asserting, _javascript(path, after)))
    return PartsOfTests()


def _changed(parts: _Code, now: _Code) -> frozenset[str]:
    return frozenset(name for name, code in parts.items() if now.get(name) != code)


class _PythonFile:
    """All statements at the top of a file, by the names that they bind."""

    def __init__(self, source: bytes) -> None:
        parsed = parse_python(source)
        self._bound: dict[str, list[ast.stmt]] = {}
        for node in parsed.tree.body if parsed is not None else ():
            for name in _names_bound_by(node):
                self._bound.setdefault(name, []).append(node)

    def all(self) -> _Code:
        """The code of each name. An assertion helper brings the functions that its assertions ask."""
        return {name: self._code(name) for name in self._bound}

    def loaded(self) -> _Code:
        return {name: self._code(name) for name, nodes in self._bound.items() if any(map(_is_loaded, nodes))}

    def asserting(self) -> _Code:
        return {name: self._code(name) for name in self._bound if any(self._conditions(name))}

    def _conditions(self, name: str) -> Iterator[ast.expr]:
        for node in self._bound[name]:
            yield from asserted_about_parameters(node) if isinstance(node, Function) else ()

    def _code(self, name: str) -> str:
        known, ahead = dict.fromkeys([name]), list[ast.AST](self._conditions(name))
        while ahead:
            for used in (part.id for part in ast.walk(ahead.pop()) if isinstance(part, ast.Name)):
                if used in self._bound and used not in known:
                    known[used] = None
                    ahead += self._bound[used]
        return "\n".join(_structure(node) for used in known for node in self._bound[used])


def _names_bound_by(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (name.asname or name.name.partition(".")[0] for name in names)
        case _:
            parts = (part for part in ast.walk(node) if isinstance(part, ast.Name))
            yield from dict.fromkeys(part.id for part in parts if isinstance(part.ctx, ast.Store))


def _structure(node: ast.stmt) -> str:
    """A statement without its position. A text that stands by itself is documentation."""
    if not isinstance(node, Function):
        return ast.dump(node)
    body = [part for part in node.body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))]
    return "\n".join(map(ast.dump, (node.args, *node.decorator_list, *body)))


def _is_loaded(node: ast.stmt) -> bool:
    """Whether a test runner finds the function by its name or its decorator."""
    if not isinstance(node, Function):
        return False
    decorators = (item.func if isinstance(item, ast.Call) else item for item in node.decorator_list)
    is_fixture = any(dotted_name(item).rpartition(".")[2] == _FIXTURE for item in decorators)
    return node.name.startswith(_HOOK) or is_fixture


def _javascript(path: str, source: bytes) -> _Code:
    parsed = parse_javascript(path, source)
    return functions_by_name(parsed) if parsed is not None else {}
