"""Text of XML in bounded space: start and end are kept, with a note about the gap."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator

from loopwright.loop.reports.model import UnreadableReport

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
            # Cut rarely, so that the time stays linear.
            if self._tail_size > 4 * self._half:
                self._settle()

    def _settle(self) -> None:
        self._tail = ["".join(self._tail)[-self._half :]]
        self._tail_size = len(self._tail[0])

    def text(self) -> str:
        """The text, or its start and end if it is too long."""
        kept = self._head + "".join(self._tail)
        if self._seen <= self._limit:
            return kept
        end = max(1, (self._limit - _NOTE) // 2)
        return f"{kept[:end]}\n[… {self._seen - 2 * end:,} characters left out …]\n{kept[-end:]}"


def cut(text: str, limit: int) -> str:
    """A text, cut in the middle if it is too long."""
    if len(text) <= limit:
        return text
    excerpt = Excerpt(limit)
    excerpt.add(text)
    return excerpt.text()


PIECE = 64 * 1024
_HEAD = 1024
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    # UTF-32 first: its little-endian mark begins with the one of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(rb"""\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]{0,39})["']""")
# Python's codecs include more than character sets (`punycode`, `rot13`, `unicode_escape`).
_CHARACTER_SETS = re.compile(
    r"utf-?(8|16|32)|ascii|latin|iso(8859|2022)|cp[0-9]|windows|koi8|gb|big5|euc|shift|johab|hz|mac|tis"
)
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_REFERENCE = re.compile(r"&#(?:x0{0,8}([0-9a-fA-F]{1,8})|0{0,8}([0-9]{1,9}));")
_LONGEST_REFERENCE = 24


def clean_utf8(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same document in small pieces of UTF-8, without what XML forbids."""
    pieces = _pieces(chunks)
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= _HEAD:
            break
    decoder = codecs.getincrementaldecoder(encoding_of(head))("replace")
    carried, begun = "", False
    for piece in _then(head, pieces):
        text = carried + decoder.decode(piece, not piece)
        if not begun:
            # Parsers refuse an empty line before the declaration, which is a common mistake.
            text = text.lstrip("\ufeff \t\r\n")
            begun = bool(text)
        whole = len(text) if not piece else _before_open_reference(text)
        carried = text[whole:]
        yield _REFERENCE.sub(_allowed, _FORBIDDEN.sub(_picture, text[:whole])).encode("utf-8", "replace")


def encoding_of(head: bytes) -> str:
    """The encoding that the first bytes show or declare; else UTF-8."""
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name
    for start, name in ((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be")):
        if head.startswith(start):
            return name
    found = _DECLARED.match(head)
    if found is None:
        return "utf-8"
    declared = found[1].decode("ascii").lower()
    try:
        known = codecs.lookup(declared).name
    except LookupError as problem:
        raise UnreadableReport(f"the encoding '{declared}' is not known", 1) from problem
    if _CHARACTER_SETS.match(known) is None:
        raise UnreadableReport(f"'{declared}' is not an encoding of text files", 1)
    # ASCII bytes are not UTF-16: .NET declares the encoding of its strings, not of the file.
    return "utf-8" if known.startswith(("utf-16", "utf-32")) else known


def _pieces(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        for at in range(0, len(chunk), PIECE):
            yield chunk[at : at + PIECE]


def _then(head: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    """The head, the rest, and an empty piece that means the end."""
    if head:
        yield head
    yield from rest
    yield b""


def _before_open_reference(text: str) -> int:
    at = text.rfind("&", max(0, len(text) - _LONGEST_REFERENCE))
    return len(text) if at < 0 or ";" in text[at:] else at


def _picture(found: re.Match[str]) -> str:
    return picture(ord(found[0]))


def _allowed(found: re.Match[str]) -> str:
    code = int(found[1], 16) if found[1] else int(found[2])
    if code > 0x10FFFF:
        return "\N{REPLACEMENT CHARACTER}"
    return picture(code) if _FORBIDDEN.match(chr(code)) else found[0]


def picture(code: int) -> str:
    """Unicode's picture of a control character (`␛` for escape), else the replacement character."""
    return chr(0x2400 + code) if code < 0x20 else "\N{REPLACEMENT CHARACTER}"
