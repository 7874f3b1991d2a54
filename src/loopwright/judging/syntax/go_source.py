"""A Go source as a syntax tree. The parser is loaded with the first such file (ADR 18)."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from loopwright.judging.syntax.python_source import MOST_BYTES

if TYPE_CHECKING:
    from tree_sitter import Node

SUFFIX = ".go"


class GoSource:
    """The bytes and the tree of one file."""

    def __init__(self, source: bytes, root: Node) -> None:
        self.source = source
        self.root = root

    def text(self, node: Node | None) -> str:
        """The source of a node; empty for None."""
        return "" if node is None else self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def parse_go(source: bytes) -> GoSource | None:
    """The tree; None for a source that is too large, is not UTF-8 or can't be parsed."""
    if len(source) > MOST_BYTES or b"\0" in source:
        return None
    try:
        source.decode("utf-8")
    except UnicodeDecodeError:
        return None
    root: Node = _parser().parse(source).root_node
    return None if root.has_error else GoSource(source, root)


def within(node: Node) -> Iterator[Node]:
    """A node and all named nodes below it, outer ones first, in the order of the source."""
    ahead = [node]
    while ahead:
        current = ahead.pop()
        yield current
        ahead += reversed(current.named_children)


def parts(node: Node | None) -> list[Node]:
    """The nodes directly below a node, without comments."""
    return [] if node is None else [child for child in node.named_children if child.type != "comment"]


@cache
def _parser() -> Any:
    tree_sitter = importlib.import_module("tree_sitter")
    return tree_sitter.Parser(tree_sitter.Language(importlib.import_module("tree_sitter_go").language()))
