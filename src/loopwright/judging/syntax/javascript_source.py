"""A JavaScript or TypeScript source as a syntax tree. The parser is loaded with the first such file (ADR 18)."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from loopwright.judging.syntax.python_source import MOST_BYTES

if TYPE_CHECKING:
    from tree_sitter import Node

_JAVASCRIPT = (".js", ".mjs", ".cjs", ".jsx")
_TYPESCRIPT = (".ts", ".mts", ".cts")
_TYPESCRIPT_JSX = (".tsx",)
SUFFIXES = (*_JAVASCRIPT, *_TYPESCRIPT, *_TYPESCRIPT_JSX)
FUNCTIONS = frozenset({
    "function_declaration", "function_expression", "arrow_function", "method_definition",
    "generator_function", "generator_function_declaration",
})  # fmt: skip


class JavaScriptSource:
    """The bytes and the tree of one file."""

    def __init__(self, path: str, source: bytes, root: Node) -> None:
        self.source = source
        self.root = root
        self.is_typed = not path.endswith(_JAVASCRIPT)

    def text(self, node: Node | None) -> str:
        """The source of a node; empty for None."""
        return "" if node is None else self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def parse_javascript(path: str, source: bytes) -> JavaScriptSource | None:
    """The tree; None for a source that is too large, is not UTF-8 or can't be parsed."""
    if len(source) > MOST_BYTES or b"\0" in source:
        return None
    try:
        source.decode("utf-8")
    except UnicodeDecodeError:
        return None
    root: Node = _parser(_language_of(path)).parse(source).root_node
    return None if root.has_error else JavaScriptSource(path, source, root)


def within(node: Node, *, into_functions: bool = True) -> Iterator[Node]:
    """A node and all named nodes below it, outer ones first, in the order of the source."""
    ahead = [node]
    while ahead:
        current = ahead.pop()
        yield current
        if into_functions or current.type not in FUNCTIONS or current == node:
            ahead += reversed(current.named_children)


def field(node: Node | None, *names: str) -> Node | None:
    """A node below a node, by the names of fields."""
    for name in names:
        node = node.child_by_field_name(name) if node is not None else None
    return node


def arguments(call: Node) -> list[Node]:
    """The arguments of a call, without comments."""
    found = field(call, "arguments")
    if found is None or found.type != "arguments":
        return []
    return [node for node in found.named_children if node.type != "comment"]


def unwrapped(node: Node) -> Node:
    """The expression in brackets and type assertions."""
    while node.type in {"parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression"}:
        inner = next((child for child in node.named_children if child.type != "comment"), None)
        if inner is None:
            break
        node = inner
    return node


def _language_of(path: str) -> str:
    if path.endswith(_TYPESCRIPT_JSX):
        return "tsx"
    return "typescript" if path.endswith(_TYPESCRIPT) else "javascript"


@cache
def _parser(language: str) -> Any:
    tree_sitter = importlib.import_module("tree_sitter")
    if language == "javascript":
        grammar = importlib.import_module("tree_sitter_javascript").language()
    else:
        grammar = getattr(importlib.import_module("tree_sitter_typescript"), f"language_{language}")()
    return tree_sitter.Parser(tree_sitter.Language(grammar))
