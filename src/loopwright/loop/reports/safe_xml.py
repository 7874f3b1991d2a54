"""Reads XML as events in bounded space: no entities, and limits for tokens and depth.

Standard expat with handlers that refuse; see `Damage` for how a document that breaks off differs from an attack.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol
from xml.parsers import expat

import msgspec

from loopwright.loop.reports.model import UnreadableReport
from loopwright.loop.reports.xml_text import PIECE, clean_utf8

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


def tell(chunks: Iterable[bytes], listener: Listener) -> Damage | None:
    """Report the document's content to the listener; return its damage, if any."""
    return _Teller(listener).tell(chunks)


class _Teller:
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

    def tell(self, chunks: Iterable[bytes]) -> Damage | None:
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
