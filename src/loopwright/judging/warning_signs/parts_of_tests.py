"""Parts of a source file that let tests fail: assertion helpers, fixtures and hooks of a test runner.

If the work changes such a part, the tests of the base still pass, but perhaps they can't fail any more.
"""

from __future__ import annotations

import ast
import re
import unittest
from collections.abc import Iterator

import msgspec

from loopwright.judging.controls.raising_javascript import functions_by_name
from loopwright.judging.judge_helpers import asserted_about_parameters
from loopwright.judging.syntax.javascript_source import SUFFIXES, parse_javascript
from loopwright.judging.syntax.nesting import unless_too_deep
from loopwright.judging.syntax.python_source import Function, dotted_name, parse_python

_PYTHON = (".py", ".pyw")
_HOOK = "pytest_"
_FIXTURE = "fixture"
_ASSERTS_IN_JAVASCRIPT = re.compile(r"\b(?:assert|expect)\s*[.(]|\bAssertionError\b")
_ASSERTS_IN_UNITTEST = re.compile(r"assert[A-Z_]|fail(?:If|Unless|[A-Z]\w*)?$")
_BASES = "()"
_Code = dict[str, str]


class PartsOfTests(msgspec.Struct, frozen=True):
    """Names of changed parts: a runner loads the first by itself; tests call the second, and inherit from the third."""

    loaded: frozenset[str] = frozenset()
    asserting: frozenset[str] = frozenset()
    inherited: frozenset[str] = frozenset()


def changed_parts_of_tests(path: str, before: bytes, after: bytes) -> PartsOfTests:
    """The parts of a source file on the base that the work changed or deleted."""
    found = unless_too_deep(None, lambda: _changed_parts(path, before, after))
    # Parts of the work that can't be read count as deleted.
    return found or unless_too_deep(PartsOfTests(), lambda: _changed_parts(path, before, b""))


def _changed_parts(path: str, before: bytes, after: bytes) -> PartsOfTests:
    if path.endswith(_PYTHON):
        old, new = _PythonFile(before), _PythonFile(after)
        inherited = frozenset(_changed_classes(old, new))
        return PartsOfTests(_changed(old.loaded(), new.all()), _changed(old.asserting(), new.all()), inherited)
    if path.endswith(SUFFIXES):
        functions = _javascript(path, before).items()
        asserting = {name: code for name, code in functions if _ASSERTS_IN_JAVASCRIPT.search(code)}
        return PartsOfTests(asserting=_changed(asserting, _javascript(path, after)))
    return PartsOfTests()


def _changed(parts: _Code, now: _Code) -> frozenset[str]:
    return frozenset(name for name, code in parts.items() if now.get(name) != code)


def _changed_classes(old: _PythonFile, new: _PythonFile) -> Iterator[str]:
    """The classes that assert, if a part of them changed, or if a new part replaces one of every test case."""
    for name in old.classes():
        before, after = old.members(name), new.members(name)
        kept = {part: code for part, code in after.items() if part in before or hasattr(unittest.TestCase, part)}
        parts = old.asserting_parts(name)
        if any(after.get(part) != before[part] for part in parts) or kept.keys() - before.keys():
            yield name


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

    def classes(self) -> list[str]:
        """The names of classes that assert."""
        return [name for name in self._bound if self.asserting_parts(name)]

    def asserting_parts(self, name: str) -> frozenset[str]:
        """The names in a class by which tests fail."""
        classes = (node for node in self._bound[name] if isinstance(node, ast.ClassDef))
        return frozenset(part for node in classes for part in _asserting_parts(node))

    def members(self, name: str) -> _Code:
        """The code of each name in a class, and of its bases."""
        found: _Code = {}
        for node in self._bound.get(name, []):
            if isinstance(node, ast.ClassDef):
                found[_BASES] = "\n".join(map(ast.dump, node.bases))
                for member in node.body:
                    found |= dict.fromkeys(_names_bound_by(member), self._code("", [member]))
        return found

    def _conditions(self, name: str) -> Iterator[ast.expr]:
        for node in self._bound.get(name, []):
            yield from asserted_about_parameters(node) if isinstance(node, Function) else ()

    def _code(self, name: str, parts: list[ast.stmt] | None = None) -> str:
        known, ahead = dict.fromkeys([name] if parts is None else []), [*(parts or ()), *self._conditions(name)]
        while ahead:
            for used in (part.id for part in ast.walk(ahead.pop()) if isinstance(part, ast.Name)):
                if used in self._bound and used not in known:
                    known[used] = None
                    ahead += self._bound[used]
        used_nodes = (node for used in known for node in self._bound[used])
        return "\n".join(map(_structure, (*(parts or ()), *used_nodes)))


def _names_bound_by(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (name.asname or name.name.partition(".")[0] for name in names)
        case _:
            parts = (part for part in ast.walk(node) if isinstance(part, ast.Name))
            yield from dict.fromkeys(part.id for part in parts if isinstance(part.ctx, ast.Store))


def classes_and_bases(source: bytes) -> Iterator[tuple[str, str]]:
    """Each class of a Python file with the name of a base class, as the module of the base class calls it."""
    parsed = parse_python(source)
    nodes = list(ast.walk(parsed.tree)) if parsed is not None else []
    names = {
        name.asname: name.name
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for name in node.names
        if name.asname
    }
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            bases = (dotted_name(base).rpartition(".")[2] for base in node.bases)
            yield from ((node.name, names.get(name, name)) for name in bases)


def _asserting_parts(node: ast.ClassDef) -> Iterator[str]:
    """All names in a test case, and in a class that calls methods of one; else the methods that assert."""
    calls = (part.func for part in ast.walk(node) if isinstance(part, ast.Call))
    methods = (call.attr for call in calls if isinstance(call, ast.Attribute) and dotted_name(call.value) == "self")
    is_case = any("TestCase" in ast.unparse(base) for base in node.bases)
    if is_case := is_case or any(map(_ASSERTS_IN_UNITTEST.match, methods)):
        yield _BASES
    for member in node.body:
        if is_case or (isinstance(member, Function) and any(asserted_about_parameters(member))):
            yield from _names_bound_by(member)


def _structure(node: ast.stmt) -> str:
    """A statement without its position. A text that stands by itself is documentation."""
    if not isinstance(node, Function):
        return "" if _is_text(node) else ast.dump(node)
    body = [part for part in node.body if not _is_text(part)]
    return "\n".join(map(ast.dump, (node.args, *node.decorator_list, *body)))


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


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
