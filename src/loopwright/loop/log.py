"""A loop's event log, and its end in one small file: with that head a loop is known without reading its history.

One line per command, with all of its events or none; each line is linked to the line before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from loopwright.journal import event_log
from loopwright.journal.event_log import START, LogWriter, cut_torn_end, digest_of_last_line
from loopwright.kernel import codec
from loopwright.kernel.digest import sha256
from loopwright.loop.events import Event
from loopwright.loop.evolve import evolve
from loopwright.loop.model import Loop

__all__ = ["START", "Line", "LogWriter", "Replayed", "cut_torn_end", "digest_of_last_line", "lines", "replay"]

Line = event_log.Line[Event]
Replayed = event_log.Replayed[Loop]
_KIND: event_log.LogKind[Loop, Event] = event_log.LogKind(Line, evolve)


def replay(
    path: Path, *, loop: Loop | None = None, last_line: str = START, start: int = 0, until: int | None = None
) -> Replayed:
    """The loop from its log, or from a known point of the log; at its end, or at a revision."""
    return event_log.replay(_KIND, path, state=loop, last_line=last_line, start=start, until=until)


def lines(path: Path, *, start: int = 0) -> Iterator[tuple[int, Line]]:
    """The lines after an offset, each with the offset of its end; stops at the first incomplete line."""
    return event_log.lines(Line, path, start=start)


VERSION = 1


class LogHead(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The end of the log: its length, the digest of its last line, the digest of the state file, and the loop."""

    version: int
    log_bytes: int
    last_line: str
    state_sha256: str
    loop: Loop


def encode_head(head: LogHead) -> bytes:
    """The head's bytes. They begin with a digest, because a crash can leave half of an old head."""
    body = codec.to_json_line(head)
    return sha256(body).encode() + b"\n" + body


def decode_head(data: bytes) -> LogHead | None:
    """The head; None if the bytes are damaged or of another version. Then the log is read."""
    digest, _, data = data.partition(b"\n")
    if digest.decode("ascii", "replace") != sha256(data):
        return None
    try:
        head = codec.from_json(data, LogHead)
    except codec.Undecodable:
        return None
    return head if head.version == VERSION else None
