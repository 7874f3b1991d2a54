"""Makes the forms of an assertion in which one literal is changed slightly, each with its twin.

A twin compares the expected value with its own changed form. If they are equal, the form can't tell right values from
wrong ones: `assert version() == Version("1.0")` also holds with `Version("1.0.0")`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import product

import msgspec

from loopwright.judging.controls.marks import Marks
from loopwright.judging.controls.python_assertions import exact_value
from loopwright.judging.controls.python_operands import KeptOperands, on_one_line
from loopwright.judging.controls.python_values import Nearness, PythonValues, single_literals
from loopwright.judging.syntax.edits import Edits
from loopwright.judging.syntax.python_source import PythonSource, called_name, dotted_name

# These compare plain values as `==` does. Others may have a tolerance, or read a text: `assertJSONEqual`.
_PLAIN_EQUAL = frozenset({
    "assertEqual", "assertEquals", "assertListEqual", "assertDictEqual", "assertTupleEqual", "assertSequenceEqual",
    "assertMultiLineEqual", "assertIs", "eq_",
})  # fmt: skip


class SlightForm(msgspec.Struct, frozen=True):
    """An assertion with one changed literal, and its twin: an expression that is true if both values are equal.

    The twin is empty if the values differ in any case.
    """

    text: str
    twin: str = ""


class SlightForms:
    """Makes the forms of the assertions of one statement, which share their kept operands."""

    def __init__(self, source: PythonSource, marks: Marks, kept: KeptOperands) -> None:
        self._source = source
        self._marks = marks
        self._kept = kept

    def of(self, node: ast.expr, expected: ast.expr | None = None) -> Iterator[SlightForm]:
        """The forms of an assertion: none of them may be without effect."""
        expected = expected or exact_value(node)
        if expected is None:
            return
        changing, in_calls = single_literals(expected), _in_calls(expected)
        for leaf, nearness in product(changing, Nearness):
            is_in_call = id(leaf) in in_calls
            # What a call makes of a text may not depend on case or blanks: `Decimal("1 ")`.
            if is_in_call and nearness in (Nearness.CASE, Nearness.BLANK):
                continue
            if nearness is Nearness.SECOND_NEXT and len(changing) > 1:
                continue
            if text := self._form(node, leaf, nearness):
                may_be_equal = is_in_call or not _compares_plainly(node)
                yield SlightForm(text, self._twin(node, expected, leaf, nearness) if may_be_equal else "")

    def _form(self, node: ast.expr, leaf: ast.expr, nearness: Nearness) -> str:
        edits = Edits(self._source.source)
        if not self._change(edits, leaf, nearness):
            return ""
        if isinstance(node, ast.Call):
            self._kept.keep_arguments(node, edits)
        else:
            self._kept.keep(node, edits)
        return self._applied(node, edits)

    def _twin(self, node: ast.expr, expected: ast.expr, leaf: ast.expr, nearness: Nearness) -> str:
        plain, altered = Edits(self._source.source), Edits(self._source.source)
        self._change(altered, leaf, nearness)
        if _calls_functions(expected):
            # They are not called again: their values are kept.
            self._kept.keep(expected, altered)
            self._kept.keep(expected, plain)
        before, after = self._applied(expected, plain), self._applied(expected, altered)
        match node:
            case ast.Call(func=func) if before and after and dotted_name(func):
                # An assertion that holds raises nothing.
                return f"({dotted_name(func)}({before}, {after}), True)[1]"
            case ast.Compare(ops=[ast.NotEq()]) if before and after:
                return f"not {before} != {after}"
            case ast.Compare() if before and after:
                return f"{before} == {after}"
            case _:
                return ""

    def _change(self, edits: Edits, leaf: ast.expr, nearness: Nearness) -> bool:
        return PythonValues(self._source, edits, self._marks).change_slightly(leaf, nearness)

    def _applied(self, node: ast.expr, edits: Edits) -> str:
        return on_one_line(edits.applied_within(*self._source.span(node))) or ""


def _in_calls(node: ast.expr) -> set[int]:
    """The literals inside the calls of an expected value."""
    calls = (part for part in ast.walk(node) if isinstance(part, ast.Call))
    return {id(part) for call in calls for part in ast.walk(call)}


def _compares_plainly(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare) or called_name(node) in _PLAIN_EQUAL


def _calls_functions(node: ast.expr) -> bool:
    """Whether a value needs more than new objects of classes: `now()`."""
    return any(isinstance(part, ast.Call) and not called_name(part)[:1].isupper() for part in ast.walk(node))
