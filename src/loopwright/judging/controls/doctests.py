"""Changes the expected output of doctests."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from loopwright.judging.controls.marks import Marks
from loopwright.judging.controls.near_texts import near_texts
from loopwright.judging.syntax.edits import Edits, any_done
from loopwright.judging.syntax.python_source import Function, PythonSource

_PREFIX = "doctest:"
_EXPECTED = re.compile(rb"^[ \t]*>>>[^\n]*\n(?:[ \t]*\.\.\.[^\n]*\n)*[ \t]*(?=\S)(?!>>>|\"\"\"|''')", re.MULTILINE)


def change_examples(source: PythonSource, edits: Edits, only: frozenset[str] | None, marks: Marks) -> list[str]:
    """Change the examples of docstrings; returns their ids, `doctest:` and the documented name."""
    changed = []
    for name, node in _documented(source.tree, ""):
        identifier = f"{_PREFIX}{name}"
        if (only is None or identifier in only) and _change(edits, source.source, *source.span(node), marks):
            changed.append(identifier)
    return changed


def example_id(path: str, name: str) -> str:
    """The id of the examples that a runner calls by the module and the documented name."""
    module = path.removesuffix(".py").removesuffix("/__init__").rpartition("/")[2]
    return _PREFIX + f".{name}.".rpartition(f".{module}.")[2].strip(".")


def _change(edits: Edits, source: bytes, start: int, end: int, marks: Marks) -> bool:
    text = source[start:end]
    if marks.is_near:
        return any_done(
            _change_slightly(edits, source, start + found.end(), marks) for found in _EXPECTED.finditer(text)
        )
    return any_done(edits.insert(start + found.end(), marks.text) for found in _EXPECTED.finditer(text))


def _change_slightly(edits: Edits, source: bytes, start: int, marks: Marks) -> bool:
    line = source[start:].partition(b"\n")[0].partition(b'"""')[0]
    near = next(near_texts(line, marks.step), None)
    return near is not None and edits.replace(start, start + len(line), near)


def _documented(node: ast.AST, name: str) -> Iterator[tuple[str, ast.expr]]:
    match getattr(node, "body", None):
        case [ast.Expr(value=ast.Constant(value=str()) as text), *_] if isinstance(
            node, ast.Module | ast.ClassDef | Function
        ):
            yield name, text
    for child in ast.iter_child_nodes(node):
        inner = f"{name}.{child.name}".lstrip(".") if isinstance(child, ast.ClassDef | Function) else name
        yield from _documented(child, inner)
