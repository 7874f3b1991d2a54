"""Normalized code of a tree-sitter node: its structure and its words, without the space between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


def code_of(node: Node, keeps_comment: Callable[[str], bool], *, without: frozenset[int] = frozenset()) -> str:
    """The code of a node. `without` are ids of nodes that are left out; comments count if `keeps_comment` says so."""
    return "\0".join(_tokens(node, keeps_comment, without))


def _tokens(node: Node, keeps_comment: Callable[[str], bool], without: frozenset[int]) -> Iterator[str]:
    ahead: list[Node | str] = [node]
    while ahead:
        current = ahead.pop()
        if isinstance(current, str):
            yield current
            continue
        text = (current.text or b"").decode("utf-8", "replace")
        if current.id in without or (current.type == "comment" and not keeps_comment(text)):
            continue
        if current.child_count and current.type != "comment":
            yield f"({current.type}"
            ahead += [")", *reversed(current.children)]
        else:
            yield text
