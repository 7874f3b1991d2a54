"""A loop's event log: one line per command, all of its events or none, each line bound to the one before it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loopwright.journal import event_log
from loopwright.journal.event_log import START, LogWriter, cut_torn_end, digest_of_last_line
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
    """The loop from its log, or from a known point of it on; at the end of it, or as it was at a revision."""
    return event_log.replay(_KIND, path, state=loop, last_line=last_line, start=start, until=until)


def lines(path: Path, *, start: int = 0) -> Iterator[tuple[int, Line]]:
    """The lines from an offset on, each with the offset behind it; ends at the first that is not whole."""
    return event_log.lines(Line, path, start=start)
