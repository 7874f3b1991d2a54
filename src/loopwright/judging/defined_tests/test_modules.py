"""Whether a file is one of tests by what it holds, whatever its name is. Pure."""

from __future__ import annotations

import ast
import re
from functools import partial
from typing import TYPE_CHECKING

from loopwright.judging.syntax.javascript_source import (
    SUFFIXES,
    JavaScriptSource,
    arguments,
    field,
    parse_javascript,
)
from loopwright.judging.syntax.nesting import unless_too_deep
from loopwright.judging.syntax.python_source import parse_python

if TYPE_CHECKING:
    from tree_sitter import Node

_DEFINING = frozenset({"describe", "context", "suite", "test", "it", "specify"})
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
# A file that imports one of these defines tests, or helps to. Products do not import them.
_TEST_LIBRARIES = re.compile(
    rb"""(?:\bfrom\s*|\bimport\s*|\brequire\s*\(\s*)["'](?:node:test|vitest|@jest/globals|bun:test|mocha|ava|tape|tap|uvu|qunit|jasmine)["']"""
)
_CALLS = re.compile(rb"\b(?:describe|context|suite|test|it|specify)\b\s*[.(]")


def holds_tests(path: str, source: bytes) -> bool:
    """Whether a file of Python or JavaScript defines tests at its top, or imports what only tests need."""
    if path.endswith(".py"):
        return b"test" in source and unless_too_deep(False, lambda: _in_python(source))
    if not path.endswith(SUFFIXES) or not (_TEST_LIBRARIES.search(source) or _CALLS.search(source)):
        return False
    return _in_javascript(path, source)


def _in_python(source: bytes) -> bool:
    parsed = parse_python(source)
    return parsed is not None and any(_is_test(node) or _is_case(node) for node in parsed.tree.body)


def _is_test(node: ast.stmt) -> bool:
    """Whether a function is a test: its name says so, and it asserts. Products test connections, but return it."""
    is_named = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    return is_named and any(isinstance(part, ast.Assert) for part in ast.walk(node))


def _is_case(node: ast.stmt) -> bool:
    """Whether a class has tests. One without tests is a base for the tests of others."""
    if not isinstance(node, ast.ClassDef):
        return False
    is_case = any(ast.unparse(base).rpartition(".")[2].endswith("TestCase") for base in node.bases)
    methods = (row for row in node.body if isinstance(row, ast.FunctionDef | ast.AsyncFunctionDef))
    if is_case:
        return any(row.name.startswith("test") for row in methods)
    return node.name.startswith("Test") and any(map(_is_test, methods))


def _in_javascript(path: str, source: bytes) -> bool:
    parsed = parse_javascript(path, source)
    return parsed is not None and any(map(partial(_defines_tests, parsed), parsed.root.named_children))


def _defines_tests(source: JavaScriptSource, statement: Node) -> bool:
    call = statement.named_children[0] if statement.type == "expression_statement" else None
    if call is not None and call.type == "call_expression":
        word = source.text(field(call, "function")).partition(".")[0].partition("(")[0]
        if word in _DEFINING and arguments(call) and arguments(call)[-1].type in _FUNCTIONS:
            return True
    is_import = statement.type in {"import_statement", "lexical_declaration", "variable_declaration"}
    return (is_import or call is not None) and _TEST_LIBRARIES.search(source.text(statement).encode()) is not None
