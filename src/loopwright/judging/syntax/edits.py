"""Edits of a source by byte positions, so that comments, line numbers and strings stay as they are."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable

_AFTER, _BEFORE, _REPLACE = range(3)


def any_done(changes: Iterable[bool]) -> bool:
    """Try all changes; True if one of them was possible."""
    return any(list(changes))


class Edits:
    """Insertions and replacements in one source. Replacements never overlap."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._edits: list[tuple[int, int, int, int, bytes]] = []
        self._starts: list[int] = []
        self._replaced: list[tuple[int, int]] = []

    def insert(self, at: int, text: bytes) -> bool:
        """Insert a text; False inside a replaced range."""
        if self._is_replaced(at):
            return False
        self._add(at, at, _BEFORE, text)
        return True

    def wrap(self, start: int, end: int, before: bytes, after: bytes) -> bool:
        """Put texts around a range. Of nested ranges the outer one must come first."""
        if self._is_replaced(start) or self._is_replaced(end):
            return False
        self._add(start, start, _BEFORE, before)
        self._add(end, end, _AFTER, after)
        return True

    def replace(self, start: int, end: int, text: bytes) -> bool:
        """Replace a range; False if another edit touches its inside."""
        has_edit_inside = bisect_right(self._starts, start) < bisect_left(self._starts, end)
        if has_edit_inside or self._overlaps(start, end):
            return False
        insort(self._replaced, (start, end))
        self._add(start, end, _REPLACE, text)
        return True

    def applied(self) -> bytes:
        """The source with all edits."""
        return self.applied_within(0, len(self._source))

    def applied_within(self, first: int, last: int) -> bytes:
        """A part of the source; no edit may reach beyond it."""
        parts: list[bytes] = []
        position = first
        for start, end, _, _, text in sorted(self._edits, key=_order):
            parts += [self._source[position:start], text]
            position = end
        return b"".join([*parts, self._source[position:last]])

    def _add(self, start: int, end: int, kind: int, text: bytes) -> None:
        self._edits.append((start, end, kind, len(self._edits), text))
        insort(self._starts, start)

    def _is_replaced(self, at: int) -> bool:
        """Whether a position is inside a replaced range."""
        index = bisect_left(self._replaced, (at, at)) - 1
        return index >= 0 and self._replaced[index][0] < at < self._replaced[index][1]

    def _overlaps(self, start: int, end: int) -> bool:
        index = bisect_left(self._replaced, (start, end))
        return any(first < end and start < last for first, last in self._replaced[max(index - 1, 0) : index + 1])


def _order(edit: tuple[int, int, int, int, bytes]) -> tuple[int, int, int]:
    """Closing texts come first and in reverse, so that brackets nest."""
    start, _, kind, number, _ = edit
    return start, kind, -number if kind == _AFTER else number
