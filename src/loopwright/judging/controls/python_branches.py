"""Finds the lines of a Python test that right work may leave out, and those where a failure does not end the test.

Pure.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import msgspec

from loopwright.judging.controls.python_assertions import is_guard
from loopwright.judging.syntax.python_source import Function, called_name

_HANDLING = ("raises", "suppress")


class UncertainLines(msgspec.Struct, frozen=True):
    """Lines of one file, from 1."""

    # A condition, an exception or an early exit decides whether a test comes there.
    branches: tuple[int, ...] = ()
    # The test handles a failure there, or expects it.
    handled: tuple[int, ...] = ()


def uncertain_lines(tree: ast.Module) -> UncertainLines:
    """The uncertain lines of all functions of a file."""
    found = _Lines()
    for node in ast.walk(tree):
        if isinstance(node, Function):
            found.add_block(node.body)
    return UncertainLines(tuple(sorted(found.branches)), tuple(sorted(found.handled)))


class _Lines:
    def __init__(self) -> None:
        self.branches: set[int] = set()
        self.handled: set[int] = set()

    def add_block(self, body: Iterable[ast.stmt]) -> None:
        """The lines of statements that follow each other."""
        may_have_left = False
        for statement in body:
            if may_have_left:
                self.branches.update(_lines([statement]))
            self._add(statement)
            may_have_left = may_have_left or _may_leave(statement)

    def _add(self, statement: ast.stmt) -> None:
        match statement:
            case ast.If(orelse=[]) if is_guard(statement):
                return
            case ast.If(body=body, orelse=orelse) | ast.While(body=body, orelse=orelse):
                self._add_branch([*body, *orelse])
            case ast.For(body=body, orelse=orelse) | ast.AsyncFor(body=body, orelse=orelse):
                self._add_branch(orelse)
                self.add_block(body)
            case ast.Try(handlers=[]) | ast.TryStar(handlers=[]):
                self.add_block([*statement.body, *statement.finalbody])
            case ast.Try(body=body, orelse=orelse) | ast.TryStar(body=body, orelse=orelse):
                self.handled.update(_lines(body))
                self._add_branch([*body, *orelse, *(part for each in statement.handlers for part in each.body)])
                self.add_block(statement.finalbody)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                if any(_handles(item.context_expr) for item in items):
                    self.handled.update(_lines(body))
                    self._add_branch(body)
                self.add_block(body)
            case ast.Match(cases=cases):
                self._add_branch([part for case in cases for part in case.body])
            case _:
                return

    def _add_branch(self, body: list[ast.stmt]) -> None:
        self.branches.update(_lines(body))
        self.add_block(body)


def _lines(body: Iterable[ast.stmt]) -> Iterator[int]:
    for node in body:
        yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _handles(manager: ast.expr) -> bool:
    name = called_name(manager).lower() if isinstance(manager, ast.Call) else ""
    return any(word in name for word in _HANDLING)


def _may_leave(node: ast.AST, *, in_loop: bool = False) -> bool:
    """Whether a statement may end the block around it, other than by an exception."""
    match node:
        case ast.If(orelse=[]) if is_guard(node):
            return False
        case ast.Return():
            return True
        case ast.Break() | ast.Continue():
            return not in_loop
        case ast.expr() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            return False
        case _:
            is_loop = in_loop or isinstance(node, ast.For | ast.AsyncFor | ast.While)
            return any(_may_leave(child, in_loop=is_loop) for child in ast.iter_child_nodes(node))
