"""Whether a file is one of tests by what it holds, whatever its name is. Pure."""

from __future__ import annotations

import ast

from loopwright.judging.syntax.javascript_source import SUFFIXES, arguments, field, parse_javascript
from loopwright.judging.syntax.nesting import unless_too_deep
from loopwright.judging.syntax.python_source import parse_python

_WORDS = (b"describe", b"test", b"it(", b"it.", b"suite", b"specify", b"context(")
_DEFINING = frozenset({"describe", "context", "suite", "test", "it", "specify"})
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})


def holds_tests(path: str, source: bytes) -> bool:
    """Whether the top of a file of Python or JavaScript defines tests of a usual runner."""
    if path.endswith(".py"):
        return b"test" in source and unless_too_deep(False, lambda: _in_python(source))
    return path.endswith(SUFFIXES) and any(word in source for word in _WORDS) and _in_javascript(path, source)


def _in_python(source: bytes) -> bool:
    parsed = parse_python(source)
    if parsed is None:
        return False
    names = {name for node in parsed.tree.body for name in _imported(node)}
    functions = [node for node in parsed.tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    by_functions = bool(names & {"pytest"}) and any(node.name.startswith("test_") for node in functions)
    return by_functions or any(isinstance(node, ast.ClassDef) and _is_case(node) for node in parsed.tree.body)


def _imported(node: ast.stmt) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [name.name.partition(".")[0] for name in names]
        case ast.ImportFrom(module=str(module), level=0):
            return [module.partition(".")[0]]
        case _:
            return []


def _is_case(node: ast.ClassDef) -> bool:
    """Whether a class is a test case with tests. One without tests is a base for the tests of others."""
    is_case = any(ast.unparse(base).rpartition(".")[2].endswith("TestCase") for base in node.bases)
    return is_case and any(
        isinstance(row, ast.FunctionDef | ast.AsyncFunctionDef) and row.name.startswith("test") for row in node.body
    )


def _in_javascript(path: str, source: bytes) -> bool:
    parsed = parse_javascript(path, source)
    if parsed is None:
        return False
    for statement in parsed.root.named_children:
        call = statement.named_children[0] if statement.type == "expression_statement" else None
        if call is None or call.type != "call_expression":
            continue
        word = parsed.text(field(call, "function")).partition(".")[0].partition("(")[0]
        if word in _DEFINING and arguments(call) and arguments(call)[-1].type in _FUNCTIONS:
            return True
    return False
