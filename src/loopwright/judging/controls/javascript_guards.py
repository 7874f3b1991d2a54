"""Conditions that fail a JavaScript test: `if (wrong) throw …`, `right || assert.fail()`, `default: throw …`.

An inverted condition is true if the work is right. A probed one keeps its value, so that the test takes its own path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from loopwright.judging.controls.javascript_values import JavaScriptValues, is_literal
from loopwright.judging.syntax.edits import Edits, any_done
from loopwright.judging.syntax.javascript_source import FUNCTIONS, JavaScriptSource, arguments, field, unwrapped

if TYPE_CHECKING:
    from tree_sitter import Node

_BLOCKS = frozenset({"statement_block", "else_clause", "switch_default", "switch_case"})
_ORDERS = frozenset({"<", "<=", ">", ">="})
_FAIL = frozenset({"fail", "unreachable"})
_OK = frozenset({"assert", "ok", "true", "truthy", "isTrue", "isOk"})
# Functions that a test gets, and that take its error.
_ENDS = frozenset({"done", "cb", "callback", "next", "end", "t.end", "reject", "Promise.reject"})
_ERROR = re.compile(r"new\s+([\w.]*Error)\b")


class _Guard(msgspec.Struct, frozen=True):
    # The conditions that lead to the failure, the last one at its place.
    conditions: tuple[Node, ...]
    fails_if_true: bool
    # Whether it fails as assertions do. Another error may belong to an object that a test gives to the work.
    is_assertion: bool


class JavaScriptGuards:
    """Changes such conditions of one source, or adds probes to them."""

    def __init__(self, source: JavaScriptSource, edits: Edits, values: JavaScriptValues, probe: str = "") -> None:
        """`probe` is the name of the probes; without one the conditions change."""
        self._source = source
        self._edits = edits
        self._values = values
        self._probe = probe

    def change(self, node: Node) -> bool:
        """Change the condition of one node, or add a probe; False if it does not fail a test."""
        if node.type == "switch_statement":
            return self._change_switch(node)
        guard = self._guard(node)
        if guard is None:
            return False
        if self._probe:
            return not _is_repeated(node) and self._add_probes(node, guard)
        change = self._values.make_true if guard.fails_if_true else self._values.falsify
        return any_done(change(unwrapped(condition)) for condition in guard.conditions)

    def _guard(self, node: Node) -> _Guard | None:
        """The conditions, if one branch fails and the other one does not."""
        match node.type:
            case "if_statement" | "ternary_expression":
                condition = field(node, "condition")
                branches = field(node, "consequence"), field(node, "alternative")
            case "binary_expression" if self._operator(node) in {"&&", "||"}:
                condition, right = field(node, "left"), field(node, "right")
                branches = (right, None) if self._operator(node) == "&&" else (None, right)
            case _:
                return None
        failures = [next(self._failures(branch), None) if branch is not None else None for branch in branches]
        failing = [failure for failure in failures if failure is not None]
        if condition is None or len(failing) != 1 or is_literal(condition):
            return None
        fails_if_true = failures[0] is not None
        before = () if fails_if_true else tuple(self._conditions_before(node))
        return _Guard((*before, condition), fails_if_true, self._is_assertion(failing[0]))

    def _conditions_before(self, node: Node) -> Iterator[Node]:
        """The conditions of the same chain of `else if`, outer ones first, up to a branch that fails, too."""
        clause = node.parent
        chain = clause.parent if clause is not None and clause.type == "else_clause" else None
        if chain is None or next(self._failures(field(chain, "consequence")), None) is not None:
            return
        yield from self._conditions_before(chain)
        condition = field(chain, "condition")
        if condition is not None:
            yield condition

    def _change_switch(self, node: Node) -> bool:
        """`default: throw …`: come to it with every value."""
        value, body = field(node, "value"), field(node, "body")
        if value is None or body is None:
            return False
        cases = {case: next(self._failures(case), None) for case in body.named_children if case.type in _BLOCKS}
        failure = next((failure for case, failure in cases.items() if case.type == "switch_default"), None)
        if failure is None or all(cases.values()):
            return False
        if not self._probe:
            return self._values.replace_value(unwrapped(value))
        return self._wrap(node, unwrapped(value), "reach", self._is_assertion(failure))

    def _add_probes(self, node: Node, guard: _Guard) -> bool:
        method = "guard" if guard.fails_if_true else "branch"
        done = [self._wrap(node, unwrapped(condition), method, guard.is_assertion) for condition in guard.conditions]
        if guard.fails_if_true:
            self._compare(unwrapped(guard.conditions[-1]))
        return any(done)

    def _wrap(self, node: Node, value: Node, method: str, is_assertion: bool) -> bool:
        row, column = node.start_point
        before = f'{self._probe}.{method}("{row + 1}:{column}", {str(is_assertion).lower()}, ('
        return self._edits.wrap(value.start_byte, value.end_byte, before.encode(), b"))")

    def _compare(self, condition: Node) -> None:
        """Let the probes see both sides of comparisons: one with NaN is always false."""
        left, right, operator = (field(condition, name) for name in ("left", "right", "operator"))
        if condition.type != "binary_expression" or left is None or right is None or operator is None:
            return
        if operator.type == "||":
            self._compare(unwrapped(left))
            self._compare(unwrapped(right))
        elif operator.type in _ORDERS:
            before = f'{self._probe}.compare("{operator.type}", '.encode()
            self._edits.wrap(condition.start_byte, condition.end_byte, before, b")")
            self._edits.replace(operator.start_byte, operator.end_byte, b",")

    def _operator(self, node: Node) -> str:
        operator = field(node, "operator")
        return operator.type if operator is not None else ""

    def _failures(self, node: Node | None) -> Iterator[Node]:
        """The statements and calls of a branch that fail whenever the branch is taken."""
        if node is None:
            return
        match node.type:
            case kind if kind in _BLOCKS:
                for part in node.named_children:
                    yield from self._failures(part)
            case "throw_statement":
                if not self._throws_again(node):
                    yield node
            case "expression_statement" | "return_statement" | "await_expression" | "parenthesized_expression":
                for part in node.named_children[:1]:
                    yield from self._failures(part)
            case "call_expression" if self._call_fails(node):
                yield node

    def _throws_again(self, node: Node) -> bool:
        """Whether a `catch` only passes its error on: a changed condition would hide that it may swallow the error."""
        thrown, around = self._source.text(node.named_children[0]) if node.named_children else "", node.parent
        while around is not None and around.type not in FUNCTIONS:
            if around.type == "catch_clause":
                return thrown == self._source.text(field(around, "parameter"))
            around = around.parent
        return False

    def _call_fails(self, call: Node) -> bool:
        name, found = self._source.text(field(call, "function")), arguments(call)
        last = name.rpartition(".")[2]
        if name == "process.exit":
            return bool(found) and is_literal(found[0]) and self._source.text(found[0]) != "0"
        if name in _ENDS:
            return bool(found) and _ERROR.match(self._source.text(found[0])) is not None
        return last in _FAIL or (last in _OK and bool(found) and self._source.text(found[0]) in {"false", "0"})

    def _is_assertion(self, failure: Node) -> bool:
        error = _ERROR.search(self._source.text(failure))
        if failure.type == "throw_statement":
            return error is not None and error[1].endswith("AssertionError")
        return self._source.text(field(failure, "function")) not in _ENDS


def _is_repeated(node: Node) -> bool:
    """Whether a condition limits how long a test waits: quicker work need not come to it."""
    around = node.parent
    while around is not None and around.type not in FUNCTIONS:
        if around.type in {"while_statement", "do_statement"}:
            return True
        around = around.parent
    return False
