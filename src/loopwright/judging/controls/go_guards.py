"""Finds the assertions of Go tests: conditions that fail a test, and calls that get the test. Changes nothing.

A condition fails a test if each way through one of its branches reports a failure to a test that a name stands for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from loopwright.judging.controls.go_assertions import FAILS, FUNCTIONS, HELPER
from loopwright.judging.syntax.go_source import GoSource, parts, within

if TYPE_CHECKING:
    from tree_sitter import Node

_STATES = frozenset({"*testing.T", "testing.TB", "*testing.F"})
# A test in a field of a type, or the answer of a method of testify's suites.
_HELD_STATE = re.compile(r"[\w.]+\.(?:t|T|tb|TB|T\(\))")
_ASSERTS = re.compile(r"(?:assert|require|is|must)\.[A-Z]\w*")
_CHOICES = frozenset({"expression_switch_statement", "type_switch_statement", "select_statement"})
_CASES = frozenset({"expression_case", "type_case", "communication_case", "default_case"})
_LISTS = frozenset({"block", "statement_list"})
_PARTS_OF_CONDITIONS = frozenset({"unary_expression", "binary_expression", "parenthesized_expression"})
_LIMITS_TIME = re.compile(r"(?i)time|deadline|since|elapsed|after|attempt|retr|tries|wait")


class AssertionForm(StrEnum):
    """How an assertion is written."""

    # A condition that fails the test if it is true.
    GUARD = "guard"
    # A condition or a call with an answer, which does not say whether the test fails.
    SEEN = "seen"
    # A statement that calls something with the test, and a statement that chooses among several ways.
    CALL = "call"
    CHOICE = "choice"


class GoAssertion(msgspec.Struct, frozen=True):
    """One assertion."""

    form: AssertionForm
    # The statement or the call.
    node: Node
    # The source of the test to which a failure is reported.
    state: str
    # Whether the function that is called is in none of the test files: it may belong to the product.
    is_foreign: bool = False

    @property
    def position(self) -> str:
        """The line and the column of the assertion."""
        row, column = self.node.start_point
        return f"{row + 1}:{column}"

    @property
    def condition(self) -> Node:
        """The condition of a statement, or the call that is one."""
        return self.node.child_by_field_name("condition") or self.node

    @property
    def is_in_goroutine(self) -> bool:
        """Whether a goroutine of the test runs it: the test may come to its end before."""
        around = self.node.parent
        while around is not None and around.type != "go_statement":
            around = around.parent
        return around is not None

    @property
    def is_in_branch(self) -> bool:
        """Whether a test may pass without it: a condition decides whether the test comes to it."""
        node, around = self.node, self.node.parent
        while around is not None:
            if around.type in _CASES or (around.type == "if_statement" and not _is_condition(node, around)):
                return True
            node, around = around, around.parent
        return False


class GoGuards:
    """The assertions of one source."""

    def __init__(self, source: GoSource, helpers: frozenset[str]) -> None:
        """`helpers` are the functions of the test files of the same package."""
        self._source = source
        self._helpers = helpers

    def all(self) -> Iterator[GoAssertion]:
        """All assertions, outer ones first."""
        for node in within(self._source.root):
            found = self._at(node)
            if found is not None and not self._limits_time(node):
                yield found

    def _at(self, node: Node) -> GoAssertion | None:
        match node.type:
            case "if_statement":
                return self._condition(node)
            case "call_expression":
                return self._call(node)
            case kind if kind in _CHOICES and _is_statement(node):
                failures = [self._failure(case) for case in parts(node) if case.type in _CASES]
                state = next(filter(None, failures), "")
                return GoAssertion(AssertionForm.CHOICE, node, state) if state and "" in failures else None
            case _:
                return None

    def _condition(self, node: Node) -> GoAssertion | None:
        """The condition of a statement whose one branch fails, or the first one before an `else` that fails."""
        form, state = AssertionForm.GUARD, self._failure(node.child_by_field_name("consequence"))
        if not state and (node.parent is None or node.parent.type != "if_statement"):
            form, state = AssertionForm.SEEN, self._last_failure(node)
        return GoAssertion(form, node, state) if state and not self._is_hidden(node, state) else None

    def _last_failure(self, node: Node) -> str:
        """The state to which the last `else` of a chain reports."""
        last = node.child_by_field_name("alternative")
        while last is not None and last.type == "if_statement":
            last = last.child_by_field_name("alternative")
        return self._failure(last)

    def _is_hidden(self, node: Node, state: str) -> bool:
        """Whether the statement has a name of its own for the state, which its condition does not see yet."""
        before = node.child_by_field_name("initializer")
        names = before.child_by_field_name("left") if before is not None else None
        return state.partition(".")[0] in map(self._source.text, parts(names))

    def _failure(self, block: Node | None) -> str:
        """The state to which a block always reports a failure; empty if there is none."""
        ahead = parts(block)
        while ahead:
            node = ahead.pop()
            if node.type == "call_expression" and (state := self._reported(node)):
                return state
            if node.type == "if_statement":
                if state := self._failure_of_all(node):
                    return state
            elif node.type not in {"for_statement", *_CHOICES, *FUNCTIONS}:
                ahead += parts(node)
        return ""

    def _failure_of_all(self, statement: Node) -> str:
        """The state to which both branches of a statement report a failure."""
        other = statement.child_by_field_name("alternative")
        if other is None or not self._failure(statement.child_by_field_name("consequence")):
            return ""
        return self._failure_of_all(other) if other.type == "if_statement" else self._failure(other)

    def _reported(self, call: Node) -> str:
        function = call.child_by_field_name("function")
        name = self._source.text(function)
        state, _, _ = name.rpartition(".")
        if function is None or not FAILS.fullmatch(f"t.{name.rpartition('.')[2]}"):
            return ""
        return state if self._is_state(state, call) else ""

    def _is_state(self, name: str, at: Node) -> bool:
        """Whether a name stands for a test: a parameter of a function around, or what a value holds."""
        function: Node | None = at
        while function is not None:
            for parameter in parts(function.child_by_field_name("parameters")) if function.type in FUNCTIONS else ():
                if name in map(self._source.text, parameter.children_by_field_name("name")):
                    return self._source.text(parameter.child_by_field_name("type")) in _STATES
            function = function.parent
        return _HELD_STATE.fullmatch(name) is not None

    def _call(self, call: Node) -> GoAssertion | None:
        """A call that gets a test and may fail it."""
        name = self._source.text(call.child_by_field_name("function"))
        arguments = parts(call.child_by_field_name("arguments"))
        state = self._source.text(arguments[0]) if arguments else ""
        is_assert = _ASSERTS.fullmatch(name) is not None and name.rpartition(".")[2] != "New"
        if not state or not (is_assert or HELPER.fullmatch(name)) or not self._is_state(state, call):
            return None
        is_foreign = not is_assert and name not in self._helpers
        if call.parent is not None and call.parent.type == "expression_statement" and _is_statement(call.parent):
            return GoAssertion(AssertionForm.CALL, call, state, is_foreign)
        around = call
        while around.parent is not None and around.parent.type in _PARTS_OF_CONDITIONS:
            around = around.parent
        is_condition = around.parent is not None and _is_condition(around, around.parent)
        return GoAssertion(AssertionForm.SEEN, call, state) if is_assert and is_condition else None

    def _limits_time(self, node: Node) -> bool:
        """Whether a condition limits how long a test waits: quicker work need not come to it."""
        condition = self._source.text(node.child_by_field_name("condition"))
        if node.type != "if_statement" or not _LIMITS_TIME.search(condition):
            return False
        around = node.parent
        while around is not None and around.type not in FUNCTIONS:
            if around.type == "for_statement":
                clauses = {"range_clause", "for_clause"}
                return not any(child.type in clauses for child in parts(around))
            around = around.parent
        return False


def _is_statement(node: Node) -> bool:
    """Whether another statement may stand before this one."""
    return node.parent is not None and node.parent.type in _LISTS


def _is_condition(node: Node, around: Node) -> bool:
    return around.type == "if_statement" and node == around.child_by_field_name("condition")
