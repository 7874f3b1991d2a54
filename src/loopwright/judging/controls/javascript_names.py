"""The names under which a JavaScript test file has its assertion library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loopwright.judging.syntax.javascript_source import JavaScriptSource, arguments, field, unwrapped, within

if TYPE_CHECKING:
    from tree_sitter import Node

_LIBRARIES = frozenset({
    "assert", "node:assert", "assert/strict", "node:assert/strict", "chai", "tap", "tape", "ava", "uvu/assert",
    "power-assert", "expect", "vitest", "@jest/globals", "should", "node:test",
})  # fmt: skip
_TESTS = frozenset({"node:test"})
_DEFINES = frozenset({"test", "it"})
_WHOLE = frozenset({"assert", "strict", "default", "expect", "should", "chai", "tap", "test", "it"})


class AssertionNames:
    """Objects with assertion methods, and assertion functions by their local names."""

    def __init__(self, source: JavaScriptSource) -> None:
        self._source = source
        self.objects = {"assert", "chai", "tap"}
        self.functions: dict[str, str] = {}
        # Other names of the function that defines a test.
        self.tests: set[str] = set()
        for node in within(source.root):
            if node.type == "import_statement" and self._module(field(node, "source")) in _LIBRARIES:
                self._add_imports(node)
            elif node.type == "variable_declarator":
                self._add_required(node)

    def add_parameter(self, function: Node) -> None:
        """The first parameter of a test's function: the `t` of tape, tap, ava and node:test."""
        parameters = field(function, "parameters") or field(function, "parameter")
        names = [node for node in within(parameters) if node.type == "identifier"] if parameters is not None else []
        if names:
            self.objects.add(self._source.text(names[0]))

    def _module(self, node: Node | None) -> str:
        return self._source.text(node).strip("'\"`")

    def _add_imports(self, node: Node) -> None:
        for part in within(node):
            if part.type == "import_specifier":
                name, alias = field(part, "name"), field(part, "alias")
                self._add(self._source.text(name), self._source.text(alias or name))
            elif part.type in {"namespace_import", "import_clause"}:
                names = {self._source.text(child) for child in part.named_children if child.type == "identifier"}
                self.objects |= names
                self.tests |= names if self._module(field(node, "source")) in _TESTS else set()

    def _add_required(self, node: Node) -> None:
        value, name = field(node, "value"), field(node, "name")
        if value is None or name is None or not any(map(self._requires, within(value))):
            return
        if name.type == "identifier" and not unwrapped(value).type.endswith("function"):
            self.objects.add(self._source.text(name))
            if any(self._requires(part, _TESTS) for part in within(value)):
                self.tests.add(self._source.text(name))
        for original, local in self._destructured(name):
            self._add(original, local)

    def _requires(self, node: Node, libraries: frozenset[str] = _LIBRARIES) -> bool:
        if node.type != "call_expression" or self._source.text(field(node, "function")) != "require":
            return False
        return any(self._module(argument) in libraries for argument in arguments(node))

    def _destructured(self, pattern: Node) -> Iterator[tuple[str, str]]:
        if pattern.type != "object_pattern":
            return
        for part in pattern.named_children:
            if part.type == "shorthand_property_identifier_pattern":
                yield self._source.text(part), self._source.text(part)
            elif part.type == "pair_pattern":
                yield self._source.text(field(part, "key")), self._source.text(field(part, "value"))

    def _add(self, original: str, local: str) -> None:
        if original in _DEFINES:
            self.tests.add(local)
        if original in _WHOLE:
            self.objects.add(local)
        else:
            self.functions[local] = original
