"""Turns that go on with a session: begun anew where the program does not know it, and counted while they are taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from loopwright.agents.port import Answer, NoAnswer, Turn, Usage
from loopwright.agents.usage import FILE, read_usage

# Takes the turn in this session, or in a new one; whether the program has begun with it is the second.
TakeIn = Callable[[str | None], tuple[Answer | NoAnswer, bool]]


def in_its_session(turn: Turn, take: TakeIn) -> Answer | NoAnswer:
    """One turn; a session that the program turns out not to know is begun anew."""
    answer, has_begun = take(turn.session)
    if turn.session is not None and not has_begun and isinstance(answer, NoAnswer):
        answer, _ = take(None)
    return answer


class Looking(Protocol):
    """A stream that finds more in its session's file than the program's events tell."""

    def look(self) -> None:
        """Take what came since."""
        ...


class UnderWay:
    """The streams of turns that are being taken, by mailbox: the meter asks from its own thread."""

    def __init__(self) -> None:
        self._streams: dict[Path, Looking] = {}

    @contextmanager
    def of(self, mailbox: Path, stream: Looking) -> Iterator[None]:
        """For the time of a turn; what came last is looked at when it is over."""
        self._streams[mailbox] = stream
        try:
            yield
        finally:
            del self._streams[mailbox]
        stream.look()

    def used(self, mailbox: Path, *, is_over: bool) -> Usage:
        """What the session's file said so far."""
        stream = self._streams.get(mailbox)
        if stream is not None:
            stream.look()
        return read_usage(mailbox / FILE, is_over=is_over)
