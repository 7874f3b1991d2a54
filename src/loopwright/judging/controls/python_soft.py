"""Lets Python tests go on after a changed assertion that fails: it must not hide the next one.

At its end a test passes if one of its changed assertions held, else it fails.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from loopwright.judging.controls.marks import Marks
from loopwright.judging.controls.python_assertions import is_exit
from loopwright.judging.syntax.edits import Edits
from loopwright.judging.syntax.python_source import Function, PythonSource

_SCOPES = (*Function.__args__, ast.ClassDef, ast.Lambda)


def soften(
    source: PythonSource, edits: Edits, marks: Marks, owner: Function | ast.Module, changed: Iterable[ast.AST]
) -> None:
    """Let a test or a script go on to its end. The changes of these nodes must be among the edits already."""
    nodes = {id(node) for node in changed}
    body = _without_docstring(owner)
    statements = [
        node for node in _own(body) if isinstance(node, ast.stmt) and _expects(node, nodes) and is_alone(source, node)
    ]
    if not statements or not _comes_to_end(owner) or not is_alone(source, body[0]):
        return
    held = b"_" + marks.text + b"_held"
    first = _indentation(source, body[0])
    edits.insert(source.span(body[0])[0], held + b" = False\n" + first)
    for node in statements:
        start, end = source.span(node)
        space = _indentation(source, node)
        edits.insert(start, b"try: ")
        edits.insert(end, b"\n%sexcept Exception: pass\n%selse: %s = True" % (space, space, held))
    edits.insert(source.span(body[-1])[1], b"\n%sassert %s" % (first, held))


def _without_docstring(owner: Function | ast.Module) -> list[ast.stmt]:
    """The statements, without those that must come first."""
    body = list(owner.body)
    while len(body) > 1:
        match body[0]:
            case ast.Expr(value=ast.Constant()) | ast.ImportFrom(module="__future__"):
                body = body[1:]
            case _:
                break
    return body


def _expects(node: ast.AST, changed: set[int]) -> bool:
    match node:
        case ast.Assert():
            return id(node) in changed
        case ast.Expr(value=ast.Call() as call):
            return id(call) in changed
        case _:
            return False


def _own(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes outside inner functions and classes."""
    for node in nodes:
        yield node
        if not isinstance(node, _SCOPES):
            yield from _own(ast.iter_child_nodes(node))


def _comes_to_end(owner: Function | ast.Module) -> bool:
    """Whether nothing ends the code before its end, as far as it shows."""
    return not any(
        isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) or (isinstance(node, ast.Call) and is_exit(node))
        for node in _own(owner.body)
    )


def is_alone(source: PythonSource, node: ast.stmt) -> bool:
    """Whether a statement has its lines for itself."""
    if getattr(node, "decorator_list", None):
        return False
    start, end = source.span(node)
    after = source.source[end:].partition(b"\n")[0].strip()
    return not _line_before(source, start).strip() and (not after or after.startswith(b"#"))


def _indentation(source: PythonSource, node: ast.stmt) -> bytes:
    return _line_before(source, source.span(node)[0])


def _line_before(source: PythonSource, start: int) -> bytes:
    return source.source[source.source.rfind(b"\n", 0, start) + 1 : start]
