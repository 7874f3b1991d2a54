"""Text of any length in bounded space: its beginning and its end, with what was left out between them said."""

from __future__ import annotations

_NOTE = len("\n[… 1,000,000,000 characters left out …]\n")


class Excerpt:
    """Collects pieces of text and keeps at most `limit` characters of them, the note among these."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._half = (limit + 1) // 2
        self._head = ""
        self._tail: list[str] = []
        self._tail_size = 0
        self._seen = 0

    def __bool__(self) -> bool:
        return self._seen > 0

    def add(self, text: str) -> None:
        """Take one more piece."""
        self._seen += len(text)
        room = self._half - len(self._head)
        if room > 0:
            self._head += text[:room]
            text = text[room:]
        if text:
            self._tail.append(text)
            self._tail_size += len(text)
            # Cut seldom, not at every piece: copying stays linear in the text.
            if self._tail_size > 4 * self._half:
                self._settle()

    def _settle(self) -> None:
        self._tail = ["".join(self._tail)[-self._half :]]
        self._tail_size = len(self._tail[0])

    def text(self) -> str:
        """All of the text where it fits, else both ends of it."""
        kept = self._head + "".join(self._tail)
        if self._seen <= self._limit:
            return kept
        end = max(1, (self._limit - _NOTE) // 2)
        return f"{kept[:end]}\n[… {self._seen - 2 * end:,} characters left out …]\n{kept[-end:]}"


def cut(text: str, limit: int) -> str:
    """A text that is there already, cut in the middle where it is too long."""
    if len(text) <= limit:
        return text
    excerpt = Excerpt(limit)
    excerpt.add(text)
    return excerpt.text()
