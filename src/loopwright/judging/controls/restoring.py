"""Restores changed code to the base and keeps changed constants: a command that still passes is about data."""

from __future__ import annotations

import ast

from loopwright.judging.syntax.nesting import unless_too_deep
from loopwright.judging.syntax.python_source import parse_python


def restore_code(path: str, before: bytes | None, after: bytes) -> bytes | None:
    """The old file with the new constants of a Python module; None if the file is new and has none."""
    constants: list[bytes] = []
    if path.endswith((".py", ".pyw")):
        constants = unless_too_deep(constants, lambda: _new_constants(before or b"", after))
    if not constants:
        return before
    return b"\n".join((before or b"", *constants, b""))


def _new_constants(before: bytes, after: bytes) -> list[bytes]:
    """Assignments of literals at the top level that the old file does not have."""
    old, new = parse_python(before), parse_python(after)
    if new is None:
        return []
    known = {ast.dump(node) for node in old.tree.body} if old is not None else set()
    return [new.text(node) for node in new.tree.body if ast.dump(node) not in known and _is_constant(node)]


def _is_constant(node: ast.stmt) -> bool:
    match node:
        case ast.Assign(targets=targets, value=value) if all(isinstance(target, ast.Name) for target in targets):
            pass
        case ast.AnnAssign(target=ast.Name(), value=ast.expr() as value):
            pass
        case _:
            return False
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True
