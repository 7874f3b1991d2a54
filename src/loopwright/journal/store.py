"""The bytes of a journal: one JSON line per entry, appended under a kernel lock and fsynced.

A torn last line (power cut in mid-append) is set aside; damage anywhere else is named, never skipped.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from loopwright.errors import DamagedFile
from loopwright.journal.model import START, Entry, entry_digest, make_entry
from loopwright.kernel.codec import Undecodable, from_json, to_json_line
from loopwright.kernel.files import copy_aside, make_folder, set_aside, shown, storage, sync_folder, write_durably
from loopwright.kernel.locks import locked


class Journal(msgspec.Struct, frozen=True):
    """A journal file and the lock that guards it."""

    path: Path
    lock: Path

    def entries(self) -> list[Entry]:
        """All entries, checked: sequence, links and digests."""
        whole, _ = self._split()
        return list(_checked(self.path, whole))

    @contextmanager
    def writing(self) -> Iterator[JournalWriter]:
        """Hold the lock, so that what is read and what is appended belong together."""
        with locked(self.lock):
            whole, torn = self._split()
            if torn:
                aside = self.path.with_name(f"{self.path.name}.torn-{len(whole)}")
                write_durably(aside, torn)
                with storage(self.path):
                    os.truncate(self.path, len(whole))
            entries = list(_checked(self.path, whole))
            yield JournalWriter(entries, self._append)

    def rescue(self) -> Rescued:
        """Keep what is sound at the start; the whole damaged file stays beside it for a look."""
        with locked(self.lock):
            if self.path.is_dir():
                return Rescued(0, set_aside(self.path))
            whole, _ = self._split()
            entries: list[Entry] = []
            with suppress(DamagedFile):
                entries.extend(_checked(self.path, whole))
            sound = b"".join(whole.splitlines(keepends=True)[: len(entries)])
            aside = copy_aside(self.path)
            write_durably(self.path, sound)
            return Rescued(len(entries), aside)

    def _split(self) -> tuple[bytes, bytes]:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return b"", b""
        except OSError as problem:
            raise _damage(self.path, 0, problem.strerror or "it can't be read") from problem
        end = data.rfind(b"\n") + 1
        return data[:end], data[end:]

    def _append(self, entry: Entry) -> None:
        make_folder(self.path.parent)
        is_new = not self.path.exists()
        with storage(self.path):
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
            size = os.fstat(handle).st_size
            try:
                line = to_json_line(entry)
                if os.write(handle, line) != len(line):
                    os.ftruncate(handle, size)
                    raise OSError(28, os.strerror(28), str(self.path))
                os.fsync(handle)
            finally:
                os.close(handle)
            if is_new:
                sync_folder(self.path.parent)


class Rescued(msgspec.Struct, frozen=True):
    """How many entries were kept, and where the damaged file is now."""

    kept: int
    aside: Path


class JournalWriter(msgspec.Struct):
    """The journal while it is ours: its entries so far, and a way to add one."""

    entries: list[Entry]
    _append: Callable[[Entry], None]

    def append(self, kind: str, data: dict[str, str], at: str) -> Entry:
        """Add a fact; durable when this returns."""
        last = self.entries[-1] if self.entries else None
        entry = make_entry(last.seq + 1 if last else 1, at, kind, data, last.digest if last else START)
        self._append(entry)
        self.entries.append(entry)
        return entry


def _checked(path: Path, whole: bytes) -> Iterator[Entry]:
    previous = START
    for number, line in enumerate(whole.splitlines(), start=1):
        try:
            entry = from_json(line, Entry)
        except Undecodable as problem:
            raise _damage(path, number, str(problem)) from problem
        if entry.seq != number:
            raise _damage(path, number, f"it says it is entry {entry.seq}")
        if entry.previous != previous:
            raise _damage(path, number, "it does not follow the entry before it")
        if entry.digest != entry_digest(entry.seq, entry.at, entry.kind, entry.data, entry.previous):
            raise _damage(path, number, "its digest does not match its content")
        previous = entry.digest
        yield entry


def _damage(path: Path, line: int, reason: str) -> DamagedFile:
    return DamagedFile(
        f"{shown(path)} line {line} is not what was written: {reason}",
        hint="`loopwright doctor --fix` keeps what is sound, and the damaged file beside it for a look",
    )
