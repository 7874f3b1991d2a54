"""Finds expected values in the rows of `pytest.mark.parametrize`, where a product would read them.

Names of tests are made from rows, so a changed row gets its old name as an explicit id. Where the name is uncertain,
the rows stay, and the assertion changes.
"""

from __future__ import annotations

import ast
from collections import Counter

from loopwright.judging.syntax.edits import Edits
from loopwright.judging.syntax.python_source import Function, PythonSource, called_name


class PythonParameters:
    """The parameters of one test that its body uses once: a second use would see the changed value, too."""

    def __init__(self, source: PythonSource, edits: Edits, function: Function) -> None:
        self._source = source
        self._edits = edits
        self._tables: dict[str, tuple[ast.Call, list[str]]] = {}
        self._named: set[int] = set()
        used = Counter(node.id for part in function.body for node in ast.walk(part) if isinstance(node, ast.Name))
        for decorator in function.decorator_list:
            match decorator:
                case ast.Call(args=[names, _], keywords=[]) if called_name(decorator) == "parametrize":
                    known = _names(names)
                    self._tables |= {name: (decorator, known) for name in known if used[name] == 1}
                case _:
                    continue

    def values(self, name: str) -> list[ast.expr]:
        """The values of a parameter in all rows; empty if names of tests can't be kept."""
        if name not in self._tables:
            return []
        call, names = self._tables[name]
        rows = _rows(call.args[1], len(names))
        if None in [_identifier(names, row, number) for number, row in enumerate(rows)]:
            return []
        return [row[names.index(name)] for row in rows]

    def keep_names(self, name: str) -> bool:
        """Give the tests of a parameter's table their present names."""
        call, names = self._tables[name]
        if id(call) in self._named:
            return True
        end, last = self._source.span(call.args[1])[1], self._source.span(call)[1]
        if self._source.source[end:last].strip(b" \t\r\n,") != b")":
            # Brackets around the rows, or a comment.
            return False
        self._named.add(id(call))
        ids = [_identifier(names, row, number) for number, row in enumerate(_rows(call.args[1], len(names)))]
        return self._edits.insert(end, b", ids=" + repr(ids).encode())


def _names(node: ast.expr) -> list[str]:
    match node:
        case ast.Constant(value=str() as text):
            return [name.strip() for name in text.split(",") if name.strip()]
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        case _:
            return []


def _rows(node: ast.expr, width: int) -> list[list[ast.expr]]:
    """The rows of a table; empty if one of them is not written out."""
    rows: list[list[ast.expr]] = []
    for row in node.elts if isinstance(node, ast.List | ast.Tuple) else []:
        if width == 1:
            rows.append([row])
        elif isinstance(row, ast.Tuple | ast.List) and len(row.elts) == width:
            rows.append(row.elts)
        else:
            return []
    return rows


def _identifier(names: list[str], row: list[ast.expr], number: int) -> str | None:
    """The id that pytest makes from a row; None if that is uncertain."""
    parts = [_part(name, value, number) for name, value in zip(names, row, strict=True)]
    known = [part for part in parts if part is not None]
    return "-".join(known) or None if len(known) == len(parts) else None


def _part(name: str, value: ast.expr, number: int) -> str | None:
    if isinstance(value, ast.List | ast.Tuple | ast.Dict | ast.Set):
        return f"{name}{number}"
    try:
        constant = ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError):
        return None
    if isinstance(constant, str):
        return constant if constant.isascii() and constant.isprintable() and "\\" not in constant else None
    return None if isinstance(constant, bytes) else str(constant)
