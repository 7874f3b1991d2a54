"""The terminal as a surface of lines: writes only changed lines, and restores the terminal afterwards.

The only module that writes control sequences. The text it gets contains no control characters.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import msgspec

from loopwright.kernel.cells import cut, width_of

# The alternate screen, no cursor, no wrapping: a line stays one line even if the terminal measures it as longer.
_ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"
_LEAVE = "\x1b[?7h\x1b[?25h\x1b[?1049l"
_REST = "\x1b[K"
_CODES = {
    "bold": "1", "dim": "2", "reverse": "7", "red": "31", "green": "32", "yellow": "33", "cyan": "36", "white": "37",
}  # fmt: skip
_COLORS = frozenset({"red", "green", "yellow", "cyan", "white"})


class Span(msgspec.Struct, frozen=True):
    """A piece of a line with one style, such as `bold red`."""

    text: str
    style: str = ""


Row = tuple[Span, ...]


def fitted(row: Row, columns: int) -> Row:
    """The row, cut to the width of the terminal."""
    spans, left = [], columns
    for span in row:
        if left <= 0:
            break
        text = cut(span.text, left)
        spans.append(Span(text, span.style))
        left -= width_of(text)
        if text != span.text:
            break
    return tuple(spans)


class Surface:
    """Standard output as a full screen."""

    def __init__(self, *, with_color: bool) -> None:
        self._with_color = with_color
        self._shown: list[str] = []
        self._size = (0, 0)

    def __enter__(self) -> Surface:
        self._shown = []
        self._write(_ENTER)
        return self

    def __exit__(self, *problem: object) -> None:
        self._write(_LEAVE)

    @property
    def size(self) -> tuple[int, int]:
        """The current columns and rows."""
        try:
            size = os.get_terminal_size(sys.stdout.fileno())
        except OSError:
            return 80, 24
        return size.columns or 80, size.lines or 24

    def show(self, rows: list[Row], size: tuple[int, int]) -> None:
        """Make the terminal show these rows, in one write so that nothing flickers."""
        lines = [self._painted(fitted(row, size[0]), size[0]) for row in rows[: size[1]]]
        lines += [_REST] * (size[1] - len(lines))
        out = []
        if size != self._size:
            # What a terminal shows after a resize is undefined until everything is written again.
            self._size, self._shown = size, []
            out.append("\x1b[2J")
        before = self._shown or [_REST] * len(lines)
        changed = (at for at, (line, old) in enumerate(zip(lines, before, strict=True)) if line != old)
        out += [f"\x1b[{at + 1};1H{lines[at]}" for at in changed]
        self._shown = lines
        if out:
            self._write("".join(out))

    def _painted(self, row: Row, columns: int) -> str:
        is_full = sum(width_of(span.text) for span in row) >= columns
        # After a full line the cursor is on its last character: erasing the rest would erase that character.
        return "".join(self._span(span) for span in row) + ("" if is_full else _REST)

    def _span(self, span: Span) -> str:
        words = [word for word in span.style.split() if self._with_color or word not in _COLORS]
        if not words or not span.text:
            return span.text
        return f"\x1b[{';'.join(_CODES[word] for word in words)}m{span.text}\x1b[0m"

    def _write(self, text: str) -> None:
        view = memoryview(text.encode(sys.stdout.encoding or "utf-8", "replace"))
        with suppress(OSError):  # the terminal was closed; its signal ends this process
            sys.stdout.flush()
            while view:
                view = view[os.write(sys.stdout.fileno(), view) :]
