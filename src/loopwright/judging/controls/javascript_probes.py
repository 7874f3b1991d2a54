"""Adds probes to JavaScript tests: changed assertions record that they fail, and the test goes on to its end.

In Python a probe follows the right assertion. Here it takes its place, so that nothing is evaluated twice. Conditions
that fail a test keep their values (`javascript_guards`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from loopwright.judging.controls.javascript_branches import uncertain_lines
from loopwright.judging.controls.marks import records_name
from loopwright.judging.controls.model import Inverted
from loopwright.judging.syntax.edits import Edits
from loopwright.judging.syntax.javascript_source import FUNCTIONS, JavaScriptSource, arguments, field, within

if TYPE_CHECKING:
    from tree_sitter import Node

_SUPPORT = Path(__file__).with_name("javascript_probe_support.js")
# Their tests end before what they call: the function of a test says when it is over.
_FOREIGN = ("tape", "tap", "ava", "uvu")
_NO_STATEMENTS = frozenset({"comment", "hash_bang_line"})
_CHAIN = {"member_expression": "object", "call_expression": "function", "non_null_expression": ""}
# An expression of an arrow function is the function's body.
_STATEMENTS = frozenset({"expression_statement", "return_statement", "arrow_function"})


class ProbedJavaScript(Inverted, frozen=True):
    """A test file with probes."""

    # The ids of the tests that go on to their ends, without the path.
    probed: frozenset[str] = frozenset()


class JavaScriptProbes:
    """Adds probes to the edits of one source. Tests must be added before their assertions."""

    def __init__(self, source: JavaScriptSource, edits: Edits, path: str, salt: str, soft: Iterable[str] = ()) -> None:
        """`soft` are tests by their ids that failed, and go on after a condition that fails them."""
        self._source = source
        self._edits = edits
        self._path = path
        self._salt = salt
        self._soft = sorted(test for test in soft if test.startswith(f"{path}::"))
        self.name = f"_{salt}"
        self._name = self.name.encode()
        self.tests: set[str] = set()
        modules = {self._source.text(node).strip("'\"`") for node in within(source.root) if node.type == "string"}
        self._can_probe = not modules.intersection(_FOREIGN)
        self._passes_context = "node:test" in modules

    def add_tests(self, tests: Iterable[tuple[str, Node]]) -> None:
        """Let tests, by their names, go on to their ends. Load the probes before the first statement, on its line."""
        for name, call in tests:
            self._add_test(name, call)
        statements = [node for node in self._source.root.named_children if node.type not in _NO_STATEMENTS]
        first = next((node for node in statements if not _is_directive(node)), None)
        if first is not None and self.tests:
            # Each file has a text of its own: V8 would compile equal texts once, and stacks would name another file.
            own, records = json.dumps(self._path), json.dumps(records_name(self._path, self._salt))
            lines = json.dumps(uncertain_lines(self._source) if self._soft else ())
            known = f"file = {own}, records = {records}, soft = {json.dumps(self._soft)}, branches = {lines}"
            text = f"'use strict'; const {known};\n{_support(self._salt)}"
            kind = b": any" if self._source.is_typed else b""
            load = b"new Function(%s)()" % json.dumps(text).encode()
            self._edits.insert(first.start_byte, b"const %s%s = %s; " % (self._name, kind, load))

    def _add_test(self, name: str, call: Node) -> None:
        """A function that gets something to call when it is over ends too early."""
        functions = [node for node in arguments(call) if node.type in FUNCTIONS]
        if not self._can_probe or len(functions) != 1 or self._has_tests(functions[0]):
            return
        if len(self._parameters(functions[0])) > int(self._passes_context):
            return
        group, _, title = name.rpartition(" > ")
        test = "::".join(part for part in (self._path, group, title) if part)
        before = b"%s.test(%s, " % (self._name, json.dumps(test).encode())
        if self._edits.wrap(functions[0].start_byte, functions[0].end_byte, before, b")"):
            self.tests.add(test.removeprefix(f"{self._path}::"))

    def soften(self, node: Node) -> None:
        """Record that a changed assertion failed, if its value is not used."""
        whole = _whole(node)
        waited = whole.parent if whole.parent is not None and whole.parent.type == "await_expression" else None
        parent = (waited or whole).parent
        if not self.tests or parent is None or parent.type not in _STATEMENTS or _yields(whole):
            return
        row, column = whole.start_point
        before = b'%s.probe("%d:%d", ' % (self._name, row + 1, column)
        if _waits(whole):
            before = (b"" if waited is not None else b"await ") + before + b"async "
        self._edits.wrap(whole.start_byte, whole.end_byte, before + b"() => ", b")")

    def _parameters(self, function: Node) -> list[Node]:
        single, listed = field(function, "parameter"), field(function, "parameters")
        found = [single] if single is not None else listed.named_children if listed is not None else []
        return [node for node in found if node.type != "comment"]

    def _has_tests(self, function: Node) -> bool:
        """A test must not end before the tests inside it."""
        return any(map(self._is_test, within(function)))

    def _is_test(self, node: Node) -> bool:
        if node.type != "call_expression" or not any(part.type in FUNCTIONS for part in arguments(node)):
            return False
        callee = self._source.text(field(node, "function"))
        return callee in {"test", "it"} or callee.endswith(".test")


@cache
def _support(salt: str) -> str:
    # The work must not have a function of this name.
    return _SUPPORT.read_text(encoding="utf-8").replace("runProbedTest", f"run_{salt}")


def _whole(node: Node) -> Node:
    """The whole chain that begins with a node."""
    while (parent := node.parent) is not None and parent.type in _CHAIN:
        link = _CHAIN[parent.type]
        if link and field(parent, link) != node:
            break
        node = parent
    return node


def _own_parts(node: Node) -> list[Node]:
    return [part for part in within(node, into_functions=False) if part.type not in FUNCTIONS]


def _waits(node: Node) -> bool:
    return any(part.type == "await_expression" for part in _own_parts(node))


def _yields(node: Node) -> bool:
    return any(part.type == "yield_expression" for part in _own_parts(node))


def _is_directive(node: Node) -> bool:
    return node.type == "expression_statement" and [child.type for child in node.named_children] == ["string"]
