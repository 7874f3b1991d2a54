"""Reads and writes a journal: one JSON line per entry, appended under a kernel lock and fsynced.

A torn last line (from a power cut) is moved to a separate file. Any other damage is an error and is never skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from loopwright.errors import DamagedFile
from loopwright.journal.event_log import START, LogWriter, cut_torn_end
from loopwright.kernel.codec import Undecodable, from_json
from loopwright.kernel.digest import digest_of
from loopwright.kernel.files import copy_aside, set_aside, shown, write_durably
from loopwright.kernel.locks import locked


class Journal(msgspec.Struct, frozen=True):
    """A journal file and the lock that guards it."""

    path: Path
    lock: Path

    def entries(self) -> list[Entry]:
        """All entries, after checking sequence numbers, links and digests."""
        complete, _ = self._split()
        return _all_checked(self.path, complete)

    @contextmanager
    def writing(self) -> Iterator[JournalWriter]:
        """Hold the lock, so that no other process appends between reading and appending."""
        with locked(self.lock):
            complete, torn = self._split()
            if torn:
                cut_torn_end(self.path, len(complete))
            yield JournalWriter(_all_checked(self.path, complete), self._append)

    def rescue(self) -> Rescued:
        """Keep the sound entries at the start, and a copy of the damaged file next to it."""
        with locked(self.lock):
            if self.path.is_dir():
                return Rescued(0, set_aside(self.path))
            complete, _ = self._split()
            entries: list[Entry] = []
            with suppress(DamagedFile):
                entries.extend(_checked(self.path, complete))
            sound = b"".join(complete.splitlines(keepends=True)[: len(entries)])
            aside = copy_aside(self.path)
            write_durably(self.path, sound)
            return Rescued(len(entries), aside)

    def _split(self) -> tuple[bytes, bytes]:
        """The complete lines, and a torn rest."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return b"", b""
        except OSError as problem:
            raise _damage(self.path, 0, problem.strerror or "the file can't be read") from problem
        end = data.rfind(b"\n") + 1
        return data[:end], data[end:]

    def _append(self, entry: Entry) -> None:
        log = LogWriter(self.path)
        try:
            write = log.append if self.path.exists() else log.begin
            write(entry)
        finally:
            log.close()


class Rescued(msgspec.Struct, frozen=True):
    """The number of entries kept, and the path of the damaged file."""

    kept: int
    aside: Path


class JournalWriter(msgspec.Struct):
    """The locked journal: its entries, and a way to append."""

    entries: list[Entry]
    _append: Callable[[Entry], None]

    def append(self, kind: str, data: dict[str, str], at: str) -> Entry:
        """Append a fact; it is durable when this returns."""
        last = self.entries[-1] if self.entries else None
        fields = (last.seq + 1 if last else 1, at, kind, data, last.digest if last else START)
        entry = Entry(*fields, digest_of(list(fields)))
        self._append(entry)
        self.entries.append(entry)
        return entry


class _Known(msgspec.Struct, frozen=True):
    """The lines of a journal that this process has checked, and their entries."""

    lines: bytes
    entries: list[Entry]


# By path. Every run reads the journal several times; only lines that were appended since are checked again.
_known: dict[Path, _Known] = {}
_MOST_KNOWN = 8
_NOTHING = _Known(b"", [])


def _all_checked(path: Path, complete: bytes) -> list[Entry]:
    known = _known.get(path, _NOTHING)
    if not complete.startswith(known.lines):
        known = _NOTHING
    entries = [*known.entries, *_checked(path, complete[len(known.lines) :], known.entries)]
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    _known[path] = _Known(complete, entries)
    return list(entries)


def _checked(path: Path, complete: bytes, before: Sequence[Entry] = ()) -> Iterator[Entry]:
    previous = before[-1].digest if before else START
    for number, line in enumerate(complete.splitlines(), start=len(before) + 1):
        try:
            entry = from_json(line, Entry)
        except Undecodable as problem:
            raise _damage(path, number, str(problem)) from problem
        if entry.seq != number:
            raise _damage(path, number, f"its sequence number is {entry.seq}")
        if entry.previous != previous:
            raise _damage(path, number, "it does not follow the previous entry")
        if entry.digest != digest_of([entry.seq, entry.at, entry.kind, entry.data, entry.previous]):
            raise _damage(path, number, "its digest does not match its content")
        previous = entry.digest
        yield entry


def _damage(path: Path, line: int, reason: str) -> DamagedFile:
    return DamagedFile(
        f"{shown(path)} line {line} was changed or damaged: {reason}",
        hint="run `loopwright doctor --fix`: it keeps the sound entries and a copy of the damaged file",
    )


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fact: its sequence number, time, kind and data, and the digest of the previous entry."""

    seq: int
    at: str
    kind: str
    data: dict[str, str]
    previous: str
    digest: str
