"""The tests of a Go file: functions whose names begin with Test, Example or Fuzz. A package owns them, not a file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loopwright.judging.defined_tests.model import DefinedTest, DefinedTests, DefinedTestsBuilder
from loopwright.judging.defined_tests.trees import code_of
from loopwright.judging.syntax.go_source import GoSource, parse_go, parts, within

if TYPE_CHECKING:
    from tree_sitter import Node

_TEST = re.compile(r"(?:Test|Example|Fuzz)(?![a-z])\w*")
_STATES = ("*testing.T", "*testing.F")
_DIRECTIVE = re.compile(r"//go:|// ?\+build|//line |/\*line |//export ")
_NAMES = frozenset({"identifier", "package_identifier", "type_identifier"})


def go_tests(path: str, source: bytes, package: str) -> DefinedTests | None:
    """The tests of the file; None if it can't be parsed. `package` is the path under which Go imports its package."""
    parsed = parse_go(source)
    if parsed is None or b'import "C"' in source:
        return None
    return _GoFile(path, parsed, package).read()


class _GoFile:
    def __init__(self, path: str, source: GoSource, package: str) -> None:
        self._source = source
        self._package = package
        self._file = DefinedTestsBuilder(path)
        # Two packages may be in a folder: `x` and `x_test`.
        self._clause = ""

    def read(self) -> DefinedTests:
        for node in self._source.root.named_children:
            self._add(node)
        return self._file.done()

    def _add(self, node: Node) -> None:
        text = self._source.text(node)
        if node.type == "comment":
            if _DIRECTIVE.match(text):
                self._file.add_rest(text, is_hook=True)
        elif node.type == "package_clause":
            self._clause = text
            self._file.add_rest(text, is_hook=True)
        elif node.type == "import_declaration":
            for spec in within(node):
                if spec.type == "import_spec":
                    self._add_import(spec)
        elif self._is_test(node):
            self._add_test(node)
        else:
            # A package has each name once, in whatever file.
            self._file.add_rest(code_of(node, _is_directive), is_hook=False)

    def _add_import(self, spec: Node) -> None:
        alias, text = self._source.text(spec.child_by_field_name("name")), self._source.text(spec)
        if alias in {".", "_"}:
            self._file.add_rest(text, is_hook=True)
            return
        words = re.findall(r"\w+", self._source.text(spec.child_by_field_name("path")))
        for name in [alias] if alias else words[-2:]:
            self._file.add_import(name, text)

    def _is_test(self, node: Node) -> bool:
        name = self._source.text(node.child_by_field_name("name"))
        if node.type != "function_declaration" or not _TEST.fullmatch(name):
            return False
        types = [
            self._source.text(part.child_by_field_name("type"))
            for part in parts(node.child_by_field_name("parameters"))
        ]
        return not types if name.startswith("Example") else len(types) == 1 and types[0] in _STATES

    def _add_test(self, node: Node) -> None:
        named = node.child_by_field_name("name")
        name = self._source.text(named)
        # The comment of an example is what it expects.
        keeps = bool if name.startswith("Example") else _is_directive
        body = code_of(node, keeps, without=frozenset([named.id]) if named is not None else frozenset())
        uses = frozenset(self._source.text(part) for part in within(node) if part.type in _NAMES)
        self._file.add_test(
            DefinedTest(
                name=name, owner=self._package, body=body, groups=(self._package, self._clause), uses=uses - {name}
            )
        )


def _is_directive(comment: str) -> bool:
    return _DIRECTIVE.match(comment) is not None
