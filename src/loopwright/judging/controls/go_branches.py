"""Finds statements of Go tests that right work may leave out: a condition or an early exit decides. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from loopwright.judging.controls.go_assertions import FUNCTIONS
from loopwright.judging.syntax.go_source import parts

if TYPE_CHECKING:
    from tree_sitter import Node

_CASES = frozenset({"expression_case", "type_case", "communication_case", "default_case"})
_LISTS = frozenset({"block", "statement_list", *_CASES})
_TARGETS = frozenset({"for_statement", "expression_switch_statement", "type_switch_statement", "select_statement"})
_EXITS = frozenset({"break_statement", "continue_statement"})


def may_be_left_out(node: Node, guards: Collection[int]) -> bool:
    """Whether a test may pass without a statement. `guards` are the conditions, by their ids, that fail the test."""
    around = node.parent
    while around is not None:
        if around.type in _CASES:
            return True
        if around.type == "if_statement" and node != around.child_by_field_name("condition"):
            return True
        if around.type in _LISTS:
            before = [part for part in parts(around) if part.end_byte <= node.start_byte]
            if any(_may_leave(part, guards, is_target=False) for part in before):
                return True
        node, around = around, around.parent
    return False


def _may_leave(node: Node, guards: Collection[int], *, is_target: bool) -> bool:
    """Whether a statement may end the block around it, other than by a failure."""
    if node.type in {"return_statement", "goto_statement"}:
        return True
    if node.type in _EXITS:
        return not is_target
    if node.id in guards or node.type in FUNCTIONS:
        return False
    is_target = is_target or node.type in _TARGETS
    return any(_may_leave(part, guards, is_target=is_target) for part in parts(node))
