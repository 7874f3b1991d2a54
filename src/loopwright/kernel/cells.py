"""The width of text in a terminal: a wide character takes two cells, a combining character none. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_TAB = 4


def one_line(text: str) -> str:
    """Untrusted text as one line without terminal control sequences."""
    return " ".join(neutralised(text).expandtabs(_TAB).splitlines())


def width_of(text: str) -> int:
    """The number of terminal cells the text takes."""
    return len(text) if text.isascii() else sum(_width(character) for character in text)


def cut(text: str, width: int) -> str:
    """The text shortened to `width` cells; an ellipsis marks the cut."""
    if width_of(text) <= width:
        return text
    kept, used = [], 0
    for character in text:
        used += _width(character)
        if used > width - 1:
            break
        kept.append(character)
    return "".join(kept) + "…" if width > 0 else ""


def padded(text: str, width: int) -> str:
    """The text cut or padded to exactly `width` cells."""
    short = cut(text, width)
    return short + " " * (width - width_of(short))


def wrapped(text: str, width: int) -> list[str]:
    """The text as lines of at most `width` cells. Lines break between words; a long word is split."""
    width = max(1, width)
    lines = [""]
    for word in one_line(text).split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if width_of(joined) <= width:
            lines[-1] = joined
        else:
            lines[-1:] = [*filter(None, lines[-1:]), *_pieces(word, width)]
    return lines


def _pieces(word: str, width: int) -> Iterator[str]:
    """A long word in pieces. A wide character in a column of one cell is a piece of its own."""
    while word:
        head = _head(word, width)
        yield head
        word = word[len(head) :]


def _head(text: str, width: int) -> str:
    used = 0
    for number, character in enumerate(text):
        used += _width(character)
        if used > width and number > 0:
            return text[:number]
    return text


def _width(character: str) -> int:
    if unicodedata.east_asian_width(character) in ("W", "F"):
        return 2
    return 0 if unicodedata.category(character) in ("Mn", "Me") else 1


# Terminal control sequences; matches in linear time. Used here for text, and in redaction for bytes.
SEQUENCE = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[@-Z\\-_])"
_SEQUENCE = re.compile(SEQUENCE)


def neutralised(text: str) -> str:
    """The text without terminal sequences; other control and direction characters as escapes."""
    plain = _SEQUENCE.sub("", text)
    return "".join(c if _is_harmless(c) else c.encode("unicode_escape").decode() for c in plain)


def _is_harmless(character: str) -> bool:
    return character in ("\n", "\t") or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
