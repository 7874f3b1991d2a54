"""A Python source as a syntax tree whose nodes have byte positions."""

from __future__ import annotations

import ast
import codecs
import re
import warnings

MOST_BYTES = 1 << 20
_LINE_END = re.compile(rb"\r\n|\r|\n")

Function = ast.FunctionDef | ast.AsyncFunctionDef


class PythonSource:
    """The bytes and the tree of one file."""

    def __init__(self, source: bytes, tree: ast.Module) -> None:
        self.source = source
        self.tree = tree
        first = len(codecs.BOM_UTF8) if source.startswith(codecs.BOM_UTF8) else 0
        self._lines = [first, *(match.end() for match in _LINE_END.finditer(source))]

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """The byte positions of a node's begin and end."""
        last_line, last_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self._lines[node.lineno - 1] + node.col_offset, self._lines[last_line - 1] + last_column

    def text(self, node: ast.expr | ast.stmt) -> bytes:
        """The source of a node."""
        start, end = self.span(node)
        return self.source[start:end]


def parse_python(source: bytes) -> PythonSource | None:
    """The tree; None for a source that is too large, is not UTF-8 or can't be parsed."""
    if len(source) > MOST_BYTES:
        return None
    try:
        source.decode("utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return PythonSource(source, ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError, SystemError):  # SystemError: a bug of Python 3.11
        return None


def called_name(node: ast.expr) -> str:
    """The last part of a called name: `raises` for `pytest.raises(…)`; empty for other expressions."""
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name
        case _:
            return ""


def dotted_name(node: ast.expr | None) -> str:
    """`a.b.c` for names and attributes; empty for other expressions."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr):
            owner = dotted_name(value)
            return f"{owner}.{attr}" if owner else ""
        case _:
            return ""
