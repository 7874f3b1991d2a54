"""Reads XML as events in bounded space: no entities, and limits for tokens, depth and text.

Standard expat with handlers that refuse; see `Damage` for how an incomplete document differs from an attack. Of a long
text the start and the end are kept, with a note about the gap.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from typing import Any, Protocol
from xml.parsers import expat

import msgspec

from loopwright.judging.reports.model import UnreadableReport

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
    declaration = _DECLARED.match(head)
    if declaration is None:
        return "utf-8"
    declared = declaration[1].decode("ascii").lower()
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


def _picture(match: re.Match[str]) -> str:
    return picture(ord(match[0]))


def _allowed(match: re.Match[str]) -> str:
    code = int(match[1], 16) if match[1] else int(match[2])
    if code > 0x10FFFF:
        return "\N{REPLACEMENT CHARACTER}"
    return picture(code) if _FORBIDDEN.match(chr(code)) else match[0]


def picture(code: int) -> str:
    """Unicode's picture of a control character (`␛` for escape), else the replacement character."""
    return chr(0x2400 + code) if code < 0x20 else "\N{REPLACEMENT CHARACTER}"


MOST_BYTES = 1024**3
DEEPEST = 100
LONGEST_TOKEN = 8 * 1024**2
MOST_NAMES = 10_000


class Listener(Protocol):
    """Receives the events: names in lower case and without namespace, text in pieces."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """The innermost element ends."""

    def text(self, text: str) -> None:
        """Text inside the innermost element."""


class Damage(msgspec.Struct, frozen=True):
    """Where a document becomes invalid. The events before that count."""

    message: str
    line: int
    broke_off: bool


def parse_xml(chunks: Iterable[bytes], listener: Listener) -> Damage | None:
    """Report the document's content to the listener; return its damage, if any."""
    return _XmlParser(listener).parse_xml(chunks)


class _XmlParser:
    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._begun = False
        self._depth = 0
        self._read = 0
        self._quiet = 0
        self._names: dict[str, str] = {}
        # The pieces are UTF-8 now, whatever the prolog declares.
        self._parser = parser = expat.ParserCreate("utf-8", intern=self._names)
        parser.buffer_text = True
        parser.buffer_size = PIECE
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.CommentHandler = self._aside
        parser.ProcessingInstructionHandler = self._aside
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._entity
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def parse_xml(self, chunks: Iterable[bytes]) -> Damage | None:
        final = False
        try:
            for piece in clean_utf8(chunks):
                self._read += len(piece)
                self._quiet += len(piece)
                self._parser.Parse(piece, False)
                self._check()
            final = True
            self._parser.Parse(b"", True)
        except expat.ExpatError as problem:
            reason = expat.ErrorString(problem.code)
            if not self._begun:
                raise UnreadableReport("the file is empty" if not self._read else f"not XML: {reason}") from problem
            return Damage(reason, problem.lineno, broke_off=final)
        return None

    def _check(self) -> None:
        if self._read > MOST_BYTES:
            raise self._refused(f"more than {MOST_BYTES:,} bytes")
        # Expat keeps a token until its end: a file with an endless tag would fill the memory.
        if self._quiet > LONGEST_TOKEN:
            raise self._refused(f"a tag or a comment of more than {LONGEST_TOKEN:,} bytes")
        if len(self._names) > MOST_NAMES:
            raise self._refused(f"more than {MOST_NAMES:,} different names of elements and attributes")

    def _refused(self, message: str) -> UnreadableReport:
        return UnreadableReport(message, self._parser.CurrentLineNumber)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._quiet = 0
        self._begun = True
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._refused(f"nested deeper than {DEEPEST} levels")
        self._listener.start(_local(name), attributes)

    def _end(self, name: str) -> None:
        self._quiet = 0
        self._depth -= 1
        self._listener.end(_local(name))

    def _text(self, text: str) -> None:
        self._quiet = 0
        self._listener.text(text)

    def _aside(self, *_: str) -> None:
        self._quiet = 0

    def _doctype(self, name: str, system: str | None, public: str | None, has_subset: int) -> None:  # noqa: ARG002
        # Cobertura files name their DTD, which is never fetched. An internal subset could define entities.
        if has_subset:
            raise self._refused("declares a document type of its own, which reports have no need of")

    def _entity(self, *_: Any) -> None:
        raise self._refused("declares an entity, which reports have no need of")


def _local(name: str) -> str:
    return name.rpartition(":")[2].lower()
