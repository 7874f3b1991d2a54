"""Inverts the exit code of a Python script that checks without assertions."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from loopwright.judging.controls.python_assertions import is_exit
from loopwright.judging.controls.python_values import PythonValues, is_literal
from loopwright.judging.syntax.edits import any_done


def change_exits(values: PythonValues, nodes: Iterable[ast.AST]) -> bool:
    """Turn each computed exit code into its opposite; a constant code tells nothing about the work."""
    codes = [node.args[0] for node in nodes if isinstance(node, ast.Call) and is_exit(node) and len(node.args) == 1]
    return any_done(_change(values, code) for code in codes)


def _change(values: PythonValues, code: ast.expr) -> bool:
    match code:
        case ast.IfExp(test=test, body=ast.Constant(value=body), orelse=ast.Constant(value=orelse)):
            if not body and orelse:
                return values.falsify(test)
            return bool(body) and not orelse and values.negate(test)
        case _:
            return not is_literal(code) and values.negate(code)
