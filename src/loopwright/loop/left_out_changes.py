"""Tells an agent which of its changes were left out when its work was judged: its folder still has them."""

from __future__ import annotations

from loopwright.agents.prompts.book import Book
from loopwright.loop.model import Loop
from loopwright.wording.catalogue import few


def left_out_part(loop: Loop, book: Book) -> str:
    """The changes without which the last tests failed, for a prompt; empty if there are none."""
    left_out = loop.validation.left_out
    if left_out is None:
        return ""
    told = [book.part("left_out", files=few(left_out.files))]
    told += [book.part("left_out_failing", failing=few(left_out.failing))] if left_out.failing else []
    return "\n".join(told)
