"""The tests of a JavaScript or TypeScript file: calls with a fixed title, also in suites.

Tests with tests inside, with rows or in loops are other code: their titles are not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING

from loopwright.judging.defined_tests.model import DefinedTest, DefinedTests, DefinedTestsBuilder, NameBinding
from loopwright.judging.defined_tests.trees import code_of
from loopwright.judging.syntax.javascript_source import (
    FUNCTIONS,
    JavaScriptSource,
    arguments,
    field,
    parse_javascript,
    within,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_TESTS = frozenset({"test", "it", "specify"})
_SUITES = frozenset({"describe", "context", "suite"})
_DECLARATIONS = frozenset({"lexical_declaration", "variable_declaration"})
_DEFINITIONS = frozenset({
    "function_declaration", "generator_function_declaration", "class_declaration", "interface_declaration",
    "type_alias_declaration", "enum_declaration",
})  # fmt: skip
_NAMES = frozenset({"identifier", "shorthand_property_identifier", "type_identifier", "import"})
_BOUND = frozenset({"identifier", "shorthand_property_identifier_pattern"})
# `@vitest-environment node`, `c8 ignore next`.
_PRAGMA = re.compile(r"@|\bignore\b")


def javascript_tests(path: str, source: bytes) -> DefinedTests | None:
    """The tests of the file; None if it can't be parsed."""
    parsed = parse_javascript(path, source)
    return None if parsed is None else _JavaScriptFile(path, parsed).read()


class _JavaScriptFile:
    def __init__(self, path: str, source: JavaScriptSource) -> None:
        self._path = path
        self._source = source
        self._file = DefinedTestsBuilder(path)

    def read(self) -> DefinedTests:
        for node in self._source.root.named_children:
            self._add(node)
        return self._file.done()

    def _add(self, node: Node) -> None:
        if self._kind(node):
            self._add_tests(node, (), (), frozenset())
        elif imported := tuple(self._imported(node)):
            for name, code in imported:
                self._file.add_import(name, code)
        elif node.type != "comment" or _is_pragma(self._source.text(node)):
            names, code = tuple(self._bound(node)), self._code(node)
            self._file.add_rest(code, is_hook=not names)
            for name in names:
                self._file.bind(name, NameBinding(code, self._names(node)))

    def _add_tests(self, node: Node, titles: tuple[str, ...], groups: tuple[str, ...], uses: frozenset[str]) -> None:
        call = node.named_children[0]
        title, function = arguments(call)[0], arguments(call)[-1]
        name = self._source.text(title)[1:-1]
        if self._kind(node) == "test":
            body = self._code(call, title)
            uses |= self._names(call)
            named = "::".join(filter(None, (" > ".join(titles), name)))
            self._file.add_test(DefinedTest(name=named, owner=self._path, body=body, groups=groups, uses=uses))
            return
        inner = self._statements(function)
        tests = [part for part in inner if self._kind(part)]
        others = [part for part in inner if part not in tests]
        groups = (*groups, self._code(call, title, *tests))
        uses = uses.union(*map(self._names, others), self._names(field(call, "function")))
        for test in tests:
            self._add_tests(test, (*titles, name), groups, uses)

    def _kind(self, node: Node) -> str:
        """`test` or `suite` for a statement that defines one with a fixed title; else empty."""
        call = node.named_children[0] if node.type == "expression_statement" and node.named_children else None
        found = arguments(call) if call is not None and call.type == "call_expression" else []
        callee = field(call, "function")
        if len(found) < 2 or callee is None or not _is_fixed(found[0]) or found[-1].type not in FUNCTIONS:
            return ""
        if callee.type not in {"identifier", "member_expression"}:
            return ""
        word = self._source.text(callee).partition(".")[0]
        if word in _TESTS:
            return "" if any(self._is_inner_test(part) for part in within(found[-1])) else "test"
        return "suite" if word in _SUITES else ""

    def _is_inner_test(self, node: Node) -> bool:
        callee = field(node, "function") if node.type == "call_expression" else None
        words = self._source.text(callee).split(".") if callee is not None else []
        return bool(words) and bool((_TESTS | _SUITES) & {words[0], words[-1]}) and len(arguments(node)) > 1

    def _statements(self, function: Node) -> list[Node]:
        body = field(function, "body")
        return [] if body is None or body.type != "statement_block" else body.named_children

    def _imported(self, node: Node) -> Iterator[tuple[str, str]]:
        """The names that a statement imports, with where from. Nothing for a statement that does more."""
        if node.type == "import_statement":
            source = self._module(field(node, "source"))
            for part in within(node):
                if part.type in {"import_specifier", "namespace_import"}:
                    yield self._source.text(part.named_children[-1]), f"{source} {self._code(part)}"
                elif part.type == "import_clause":
                    names = [child for child in part.named_children if child.type == "identifier"]
                    yield from ((self._source.text(name), f"{source} default") for name in names)
        elif node.type in _DECLARATIONS:
            found = [self._required(part) for part in node.named_children if part.type == "variable_declarator"]
            if found and all(found):
                yield from (row for rows in found for row in rows)

    def _required(self, declarator: Node) -> list[tuple[str, str]]:
        name, value = field(declarator, "name"), field(declarator, "value")
        call = value
        while call is not None and call.type == "member_expression":
            call = field(call, "object")
        if name is None or value is None or call is None or self._source.text(field(call, "function")) != "require":
            return []
        found = arguments(call)
        if len(found) != 1 or found[0].type != "string":
            return []
        origin = f"{self._module(found[0])} {self._code(value, found[0])}"
        if name.type == "identifier":
            return [(self._source.text(name), f"{origin} whole")]
        parts = name.named_children if name.type == "object_pattern" else []
        return [(bound, f"{origin} {self._code(part)}") for part in parts for bound in self._bound_in(part)]

    def _module(self, node: Node | None) -> str:
        """The imported module; relative to the project, not to the file."""
        name = self._source.text(node)[1:-1]
        return normpath(join("/", dirname(self._path), name)) if name.startswith(".") else name

    def _bound(self, node: Node) -> Iterator[str]:
        """The names that a plain definition binds; none for code that acts without being named."""
        declared = field(node, "declaration") if node.type == "export_statement" else node
        if declared is not None and declared.type in _DEFINITIONS:
            yield self._source.text(field(declared, "name"))
        elif declared is not None and declared.type in _DECLARATIONS:
            for part in declared.named_children:
                name = field(part, "name")
                yield from self._bound_in(name) if name is not None else ()

    def _bound_in(self, pattern: Node) -> list[str]:
        return [self._source.text(part) for part in within(pattern) if part.type in _BOUND]

    def _names(self, node: Node | None) -> frozenset[str]:
        found = within(node) if node is not None else iter(())
        return frozenset(self._source.text(part) for part in found if part.type in _NAMES)

    def _code(self, node: Node, *without: Node) -> str:
        return code_of(node, _is_pragma, without=frozenset(part.id for part in without))


def _is_fixed(title: Node) -> bool:
    """Whether a title is a plain text: without escapes and without values."""
    if title.type == "string":
        return all(part.type == "string_fragment" for part in title.named_children)
    return title.type == "template_string" and all(part.type == "string_fragment" for part in title.named_children)


def _is_pragma(comment: str) -> bool:
    return _PRAGMA.search(comment) is not None
