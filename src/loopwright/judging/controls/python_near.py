"""Edits that change what Python tests expect only slightly: `hello Anm` for `hello Ann`, 43 for 42.

Only exact expectations change, so that no tolerance hides the change; all others stay as they are.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from loopwright.judging.controls.compared_names import ComparedNames
from loopwright.judging.controls.marks import Marks
from loopwright.judging.controls.near_texts import near_texts, near_word
from loopwright.judging.controls.python_assertions import EQUAL, fails, is_exit, is_guard
from loopwright.judging.controls.python_parameters import PythonParameters
from loopwright.judging.controls.python_values import OPENING_QUOTE, is_literal
from loopwright.judging.syntax.edits import Edits, any_done
from loopwright.judging.syntax.python_source import Function, PythonSource, called_name

# These have a tolerance, or do not look at the order: two changes could cancel each other.
_INEXACT = re.compile(r"lmost|close|Count|Items|QuerySet|[Ss]et")
# One literal with many letters in escapes could make each look at it slow.
_MOST_TRIED = 64


class NearPythonAssertions:
    """Changes assertions of one source. Names in `local` are functions of the same file: their own bodies change."""

    def __init__(self, source: PythonSource, edits: Edits, local: frozenset[str], marks: Marks) -> None:
        self._source = source
        self._edits = edits
        self._local = local
        self._marks = marks
        self._function: Function | None = None
        self._parameters: PythonParameters | None = None
        self._done: dict[int, bool] = {}
        self._names = ComparedNames(source.tree)
        self._shown = {id(part) for node in ast.walk(source.tree) for shown in _shown(node) for part in ast.walk(shown)}

    def begin(self, function: Function) -> None:
        """Know the function that changes next."""
        self._function = function
        self._parameters = PythonParameters(self._source, self._edits, function)

    def change(self, node: ast.AST) -> bool:
        """Change what one node expects; False if it expects nothing exactly, or nothing that can be changed."""
        match node:
            case ast.Assert(test=test):
                return self._hold(test)
            case ast.Call():
                return self._change_call(node)
            case ast.If(test=test) if is_guard(node):
                return self._differ(test) if fails(node.body[-1]) else self._hold(test)
            case ast.Expr(value=ast.BoolOp(op=ast.Or(), values=[condition, ast.Call() as call])):
                return fails(ast.Expr(value=call)) and self._hold(condition)
            case _:
                return False

    def change_exit(self, node: ast.AST) -> bool:
        """Change what decides about an exit code: `sys.exit(0 if f() == 1 else 2)`, `return f() == 1`."""
        match node:
            case ast.Call(args=[code]) if is_exit(node):
                return self._change_compared(code)
            case ast.Return(value=ast.expr() as code):
                return self._change_compared(code)
            case ast.If(test=test, body=[*_, ast.Return(value=ast.Constant(value=code))]) if code:
                return self._change_compared(test)
            case _:
                return False

    def _change_compared(self, node: ast.expr) -> bool:
        return any_done(
            self._equal(part.left, part.comparators[0])
            for part in ast.walk(node)
            if isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.Eq | ast.NotEq)
        )

    def _change_call(self, call: ast.Call) -> bool:
        name = called_name(call)
        if name in self._local or any(isinstance(arg, ast.Starred) for arg in call.args):
            return False
        match name, call.args:
            case name, [left, right, *_] if name in EQUAL and not _INEXACT.search(name):
                return self._equal(left, right)
            case "assertIn", [member, *_]:
                return self._change_text(member, is_part=True)
            case "assertTrue" | "assert_", [condition, *_]:
                return self._hold(condition)
            case "assertFalse", [condition, *_]:
                return self._differ(condition)
            case _:
                return False

    def _hold(self, node: ast.expr) -> bool:
        """Change a condition that is true for honest work."""
        match node:
            case ast.BoolOp(op=ast.And(), values=values):
                return any_done(map(self._hold, values))
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                return self._equal(left, right)
            case ast.Compare(left=left, ops=[ast.In()]):
                return self._change_text(left, is_part=True)
            case _:
                return False

    def _differ(self, node: ast.expr) -> bool:
        """Change a condition that is false for honest work."""
        match node:
            case ast.BoolOp(op=ast.Or(), values=values):
                return any_done(map(self._differ, values))
            case ast.Compare(left=left, ops=[ast.NotEq()], comparators=[right]):
                return self._equal(left, right)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._hold(operand)
            case _:
                return False

    def _equal(self, left: ast.expr, right: ast.expr) -> bool:
        if (is_literal(left) and is_literal(right)) or _has_tolerance(left) or _has_tolerance(right):
            return False
        return any(self._change_value(side) for side in (right, left))

    def _change_value(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return self._change_named(node.id)
        return any_done(map(self._change_leaf, _leaves(node)))

    def _change_leaf(self, leaf: ast.expr) -> bool:
        if id(leaf) not in self._done:
            value = leaf.value if isinstance(leaf, ast.Constant) else None
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            self._done[id(leaf)] = self._change_number(leaf, value) if is_number else self._change_text(leaf)
        return self._done[id(leaf)]

    def _change_number(self, leaf: ast.expr, value: object) -> bool:
        match value:
            case int():
                other: int | float = value + self._marks.number_step
            case float() if abs(value) < 1e300:
                other = value + self._marks.number_step * (abs(value) + 1) / 32
            case _:
                return False
        return self._edits.replace(*self._source.span(leaf), repr(other).encode())

    def _change_text(self, leaf: ast.expr, *, is_part: bool = False) -> bool:
        if not isinstance(leaf, ast.Constant) or not isinstance(leaf.value, str | bytes):
            return False
        start, end = self._source.span(leaf)
        text, step = self._source.source[start:end], self._marks.step
        near = (
            iter([word] if (word := near_word(text, step)) is not None else []) if is_part else near_texts(text, step)
        )
        for _, other in zip(range(_MOST_TRIED), near, strict=False):
            if _is_near(leaf.value, other):
                place = next(index for index in range(len(text)) if text[index] != other[index])
                return self._edits.replace(start + place, start + place + 1, other[place : place + 1])
        quote = OPENING_QUOTE.match(text)
        return not is_part and quote is not None and self._edits.insert(start + quote.end(), self._marks.text[:1])

    def _change_named(self, name: str) -> bool:
        """Change the literals that a name stands for, if it is only compared and shown."""
        scope = self._names.scope(name, self._function)
        if sum(id(node) not in self._shown for node in scope.loads.get(name, ())) != 1:
            return False
        if self._parameters is not None and (rows := self._parameters.values(name)):
            can_change = all(any(_leaves(row)) for row in rows)
            return can_change and self._parameters.keep_names(name) and self._change_all(rows)
        passed = self._names.passed(name, self._function) if self._function is not None else ()
        return self._change_all([*scope.assigned.get(name, ()), *passed])

    def _change_all(self, values: list[ast.expr]) -> bool:
        """Change all of these values: an assertion holds for one that stays as it is."""
        if not all(any(_leaves(value)) for value in values):
            return False
        return any_done(self._change_leaf(leaf) for value in values for leaf in _leaves(value))


def _shown(node: ast.AST) -> list[ast.AST]:
    """The parts of a node that only show values."""
    match node:
        case ast.JoinedStr() | ast.Raise():
            return [node]
        case ast.Assert(msg=ast.expr() as message):
            return [message]
        case ast.Call() if called_name(node) in {"print", "subTest", "fail"}:
            return [node]
        case _:
            return []


def _leaves(node: ast.expr) -> Iterator[ast.expr]:
    """The literals of a value that is compared exactly. In a set, changes could cancel each other."""
    match node:
        case ast.Constant(value=str() | bytes() | int() | float() as value) if not isinstance(value, bool):
            yield node
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            yield from _leaves(operand)
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts):
            for part in parts:
                yield from _leaves(part)
        case _:
            return


def _has_tolerance(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Call) and "approx" in called_name(part).lower() for part in ast.walk(node))


def _is_near(value: str | bytes, source: bytes) -> bool:
    """Whether a source is a text that differs in one place."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other = ast.literal_eval(f"({source.decode()})")
    except (SyntaxError, ValueError):
        return False
    if type(other) is not type(value) or len(other) != len(value):
        return False
    return sum(left != right for left, right in zip(value, other, strict=True)) == 1
