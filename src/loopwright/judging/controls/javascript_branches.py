"""Finds the lines of a JavaScript test that right work may leave out: a condition or an exception decides. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from loopwright.judging.syntax.javascript_source import FUNCTIONS, JavaScriptSource, field, within

if TYPE_CHECKING:
    from tree_sitter import Node

_FAILS = re.compile(r"\bthrow\b|\bfail\w*\(")
_LOOPS = frozenset({"for_statement", "for_in_statement", "while_statement", "do_statement"})
_BLOCKS = frozenset({"statement_block", "program"})


def uncertain_lines(source: JavaScriptSource) -> tuple[int, ...]:
    """The uncertain lines of a file, from 1."""
    lines: set[int] = set()
    for node in within(source.root):
        for part in _uncertain(source, node):
            lines.update(range(part.start_point[0] + 1, part.end_point[0] + 2))
    return tuple(sorted(lines))


def _uncertain(source: JavaScriptSource, node: Node) -> Iterator[Node]:
    """The parts of a node that may not run."""
    match node.type:
        case "if_statement" | "ternary_expression":
            branches = (field(node, "consequence"), field(node, "alternative"))
            yield from (part for part in branches if part is not None and not _FAILS.search(source.text(part)))
        case "switch_case" | "switch_default" | "catch_clause":
            yield node
        case "try_statement" if field(node, "handler") is not None:
            yield from filter(None, (field(node, "body"),))
        case "while_statement" | "do_statement":
            yield from filter(None, (field(node, "body"),))
        case kind if kind in _BLOCKS:
            yield from _after_exit(source, node.named_children)
        case _:
            return


def _after_exit(source: JavaScriptSource, statements: list[Node]) -> Iterator[Node]:
    may_have_left = False
    for node in statements:
        if may_have_left:
            yield node
        may_have_left = may_have_left or _may_leave(source, node)


def _may_leave(source: JavaScriptSource, node: Node, *, in_loop: bool = False) -> bool:
    """Whether a statement may end the block around it, other than by an exception."""
    match node.type:
        case "return_statement":
            return True
        case "break_statement" | "continue_statement":
            return not in_loop
        case kind if kind in FUNCTIONS:
            return False
        case "if_statement" if _FAILS.search(source.text(field(node, "consequence"))):
            return False
        case kind:
            is_loop = in_loop or kind in _LOOPS or kind == "switch_statement"
            return any(_may_leave(source, child, in_loop=is_loop) for child in node.named_children)
