"""Translates a --help page in parts: each paragraph, and in a list of examples the note next to each command."""

from __future__ import annotations

import re
from collections.abc import Callable

NO_REWRAP = "\b\n"
_LINE = re.compile(r"(\s*)(.*?)(?:(\s{2,})(\S.*))?")


def translate_page(text: str, translate: Callable[[str], str]) -> str:
    """The page with every part translated."""
    return "\n\n".join(_paragraph(paragraph, translate) for paragraph in text.split("\n\n"))


def _paragraph(paragraph: str, translate: Callable[[str], str]) -> str:
    if not paragraph.startswith(NO_REWRAP):
        return translate(" ".join(paragraph.split()))
    return NO_REWRAP + "\n".join(_line(line, translate) for line in paragraph.removeprefix(NO_REWRAP).splitlines())


def _line(line: str, translate: Callable[[str], str]) -> str:
    match = _LINE.fullmatch(line)
    if match is None or not match[2]:
        return line
    margin, command, gap, note = match.groups("")
    return f"{margin}{translate(command)}{gap}{translate(note) if note else ''}"
