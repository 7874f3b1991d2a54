"""Texts that a shell script holds between `<<END` and `END`, with their positions."""

from __future__ import annotations

import re

import msgspec

_START = re.compile(r"(?<![<\d])<<(-?)[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|\\?([A-Za-z_]\w*))")
_EXPANDED = re.compile(r"[$`\\]")


class Heredoc(msgspec.Struct, frozen=True):
    """The position of its operator, and of its text."""

    operator: int
    start: int
    end: int
    # Whether the program gets the text as it is written.
    is_literal: bool


def find_heredocs(script: str) -> tuple[Heredoc, ...]:
    """The first text of each line; a text without an end runs to the end of the script."""
    found: list[Heredoc] = []
    position = 0
    while (start := _START.search(script, position)) is not None:
        line_end = script.find("\n", start.end())
        if line_end < 0:
            break
        begin = line_end + 1
        name = start[2] or start[3] or start[4]
        last = re.compile(_tabs(start[1]) + re.escape(name) + "$", re.MULTILINE).search(script, begin)
        end = last.start() if last is not None else len(script)
        is_quoted = start[4] is None or "\\" in start[0]
        is_literal = is_quoted or _EXPANDED.search(script[begin:end]) is None
        found.append(Heredoc(start.start(), begin, end, is_literal and not start[1]))
        position = last.end() if last is not None else len(script)
    return tuple(found)


def _tabs(dash: str) -> str:
    return r"^\t*" if dash else "^"


def without_heredocs(script: str, heredocs: tuple[Heredoc, ...]) -> str:
    """The script with spaces in place of the texts, so that nothing else moves."""
    for text in heredocs:
        last = script.find("\n", text.end)
        end = last if last >= 0 else len(script)
        script = script[: text.start] + " " * (end - text.start) + script[end:]
    return script
