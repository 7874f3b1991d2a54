"""Code that can't run but can be read, and code that can't be read: only a reader of the text tells them apart.

An import fails in the same way for both, so nothing that runs the code, and nothing in it, can tell them apart.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from loopwright.judging.syntax import javascript_source
from loopwright.judging.syntax.comments import PYTHON
from loopwright.judging.syntax.nesting import unless_too_deep
from loopwright.judging.syntax.python_source import parse_python

if TYPE_CHECKING:
    from tree_sitter import Node

_OPEN_BRACKET = b"\n(\n"
# Linters know neither value, so the code behind it is not unreachable, and imports may follow.
_PYTHON = b"if __name__:\n    raise SyntaxError\n"
_JAVASCRIPT = b"if (Math.PI) throw new SyntaxError()"
# Their modules run before any statement of the file.
_CODE_AS_ADDRESS = (b"data:", b"blob:")
_DECLARATIONS = (".pyi", ".d.ts", ".d.mts", ".d.cts")


def unrunnable(path: str, source: bytes) -> bytes | None:
    """The file with a syntax error that is raised before anything else runs; None if that can't be done."""
    if path.endswith(_DECLARATIONS):
        return source
    if path.endswith(PYTHON):
        return unless_too_deep(None, lambda: _raise_in_python(source))
    if path.endswith(javascript_source.SUFFIXES):
        return unless_too_deep(None, lambda: _throw_in_javascript(path, source))
    return None


def unreadable(source: bytes) -> bytes:
    """The file with an open bracket at its end."""
    return source + _OPEN_BRACKET


def _raise_in_python(source: bytes) -> bytes | None:
    parsed = parse_python(source)
    if parsed is None:
        return None
    first = list(parsed.tree.body)
    last: ast.stmt | None = None
    while first and (_is_docstring(first[0], last) or _is_future(first[0])):
        last = first.pop(0)
    if last is not None:
        end = source.find(b"\n", parsed.span(last)[1])
        # A statement behind `;` on the same line would run first.
        if first and first[0].lineno <= (last.end_lineno or last.lineno):
            return None
        return source + b"\n\n" + _PYTHON if end < 0 else source[: end + 1] + b"\n" + _PYTHON + source[end + 1 :]
    if not first:
        return source + _PYTHON
    decorators = getattr(first[0], "decorator_list", [])
    start = parsed.span(first[0])[0] - first[0].col_offset
    if decorators:
        start = source.rfind(b"\n", 0, parsed.span(decorators[0])[0]) + 1
    is_definition = isinstance(first[0], ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    return source[:start] + _PYTHON + (b"\n\n" if is_definition else b"\n") + source[start:]


def _is_docstring(node: ast.stmt, before: ast.stmt | None) -> bool:
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return is_text and before is None


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__" and node.level == 0


def _throw_in_javascript(path: str, source: bytes) -> bytes | None:
    parsed = javascript_source.parse_javascript(path, source)
    if parsed is None:
        return None
    imports = [node for node in parsed.root.named_children if node.type in {"import_statement", "export_statement"}]
    if any(mark in source[node.start_byte : node.end_byte] for node in imports for mark in _CODE_AS_ADDRESS):
        return None
    following = (node for node in parsed.root.named_children if not _is_head(node))
    start = next((node.start_byte for node in following), len(source))
    end = b";\n\n" if b";\n" in source else b"\n\n"
    return source[:start] + _JAVASCRIPT + end + source[start:]


def _is_head(node: Node) -> bool:
    """Whether a statement runs before all others, or is a directive such as "use strict"."""
    if node.type == "expression_statement":
        return any(child.type == "string" for child in node.named_children)
    return node.type in {"import_statement", "comment", "hash_bang_line"}
