"""A page of --help by its pieces: paragraphs, and in lists of examples what stands beside each command."""

from __future__ import annotations

import re
from collections.abc import Callable

AS_IT_IS = "\b\n"
_LINE = re.compile(r"(\s*)(.*?)(?:(\s{2,})(\S.*))?")


def said_by_pieces(text: str, say: Callable[[str], str]) -> str:
    """The page with every piece said anew."""
    return "\n\n".join(_paragraph(paragraph, say) for paragraph in text.split("\n\n"))


def _paragraph(paragraph: str, say: Callable[[str], str]) -> str:
    if not paragraph.startswith(AS_IT_IS):
        return say(" ".join(paragraph.split()))
    return AS_IT_IS + "\n".join(_line(line, say) for line in paragraph.removeprefix(AS_IT_IS).splitlines())


def _line(line: str, say: Callable[[str], str]) -> str:
    found = _LINE.fullmatch(line)
    if found is None or not found[2]:
        return line
    margin, first, gap, beside = found.groups("")
    return f"{margin}{say(first)}{gap}{say(beside) if beside else ''}"
