"""Go functions that end their test before they do anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from loopwright.judging.syntax.edits import Edits
from loopwright.judging.syntax.go_source import GoSource, parse_go, within

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = frozenset({"function_declaration", "method_declaration"})
_LITERAL = "func_literal"
# The rest of the body stays, so that no variable and no import is unused.
_END = b'panic("loopwright"); '


def stop_go(before: bytes, after: bytes) -> bytes | None:
    """The new source in which changed functions panic at once; None if none changed, or it can't be parsed."""
    parsed = parse_go(after)
    if parsed is None:
        return None
    old = parse_go(before)
    known = Counter(_identity(old, node) for node in _functions(old)) if old is not None else Counter[str]()
    edits, is_changed = Edits(after), False
    for node in _functions(parsed):
        identity, body = _identity(parsed, node), node.child_by_field_name("body")
        if known[identity]:
            known[identity] -= 1
        elif body is not None:
            is_changed |= edits.insert(body.start_byte + 1, b" " + _END)
    return edits.applied() if is_changed else None


def _functions(source: GoSource) -> Iterator[Node]:
    """All functions and methods, and functions in package variables."""
    for part in source.root.named_children:
        yield from (
            node
            for node in within(part)
            if node.type in _FUNCTIONS or (node.type == _LITERAL and part.type not in _FUNCTIONS)
        )


def _identity(source: GoSource, function: Node) -> str:
    """The words of a function without comments; its receiver and its name are among them."""
    leaves = (node for node in _leaves(function) if node.type != "comment")
    return " ".join(map(source.text, leaves))


def _leaves(node: Node) -> Iterator[Node]:
    ahead = [node]
    while ahead:
        current = ahead.pop()
        if current.child_count == 0 or current.type in {"interpreted_string_literal", "raw_string_literal"}:
            yield current
        else:
            ahead += reversed(current.children)
