"""An event log: one line per command, with all its events. Each line is linked to the previous line by its digest.

Knows no domain: callers define the events, and how an event changes the state.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

import msgspec
from msgspec.structs import replace

from loopwright.errors import DamagedFile
from loopwright.kernel import codec
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import is_blank, replace_without_sync, shown, storage, sync_folder, write_durably

START = "0" * 64
_TAIL = 1 << 13
_E = TypeVar("_E")
_S = TypeVar("_S")


class Line(msgspec.Struct, Generic[_E], frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The events of one command; `revision` is the state's revision after the command."""

    revision: int
    at: str
    actor: str
    events: tuple[_E, ...]
    previous: str


class Replayed(msgspec.Struct, Generic[_S], frozen=True):
    """The state from the sound part of a log, the length of that part in bytes, and the damage after it.

    A power cut leaves a torn end. Any other damage must not be skipped silently.
    """

    state: _S | None
    last_line: str
    sound_bytes: int
    damage: str | None = None
    is_torn: bool = False


class LogKind(msgspec.Struct, Generic[_S, _E], frozen=True):
    """What is logged: the type of a line, and how an event changes the state."""

    line: type[Line[_E]]
    evolve: Callable[[_S | None, _E, str], _S]


class LogWriter:
    """Appends to a log; the file stays open for one block of changes.

    A written line survives the death of this process. After `sync` it also survives a power cut.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None
        # The length of the log, and the length of its durable part.
        self._size = 0
        self._durable = 0
        self._has_durable_name = True

    def begin(self, line: object) -> tuple[int, str]:
        """Write a log with this single line, and replace an existing log atomically."""
        data = codec.to_json_line(line)
        write_durably(self._path, data)
        return len(data), sha256(data)

    def append(self, line: object) -> tuple[int, str]:
        """Append a durable line; return the log's length and the line's digest."""
        written = self.write(line)
        self.sync()
        return written

    def start(self, line: object) -> tuple[int, str]:
        """Start a new log. Before `sync`, a power cut leaves no log or a blank log."""
        data = codec.to_json_line(line)
        replace_without_sync(self._path, data)
        self._open()
        self._durable, self._has_durable_name = 0, False
        return self._size, sha256(data)

    def write(self, line: object) -> tuple[int, str]:
        """Write a line; return the log's length and the line's digest."""
        data = codec.to_json_line(line)
        with storage(self._path):
            handle = self._open()
            try:
                if os.write(handle, data) != len(data):
                    raise OSError(28, os.strerror(28), str(self._path))
            except OSError:
                # Remove the incomplete line, so that the old state stays intact.
                os.ftruncate(handle, self._size)
                raise
        self._size += len(data)
        return self._size, sha256(data)

    def sync(self) -> None:
        """Make all written lines durable; on failure, remove the lines that are not durable."""
        if self._handle is None or self._size == self._durable:
            return
        with storage(self._path):
            try:
                os.fsync(self._handle)
            except OSError:
                os.ftruncate(self._handle, self._durable)
                self._size = self._durable
                raise
            self._durable = self._size
            if not self._has_durable_name:
                sync_folder(self._path.parent)
                self._has_durable_name = True

    def close(self) -> None:
        """Close the file at the end of the block."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _open(self) -> int:
        if self._handle is None:
            self._handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
            self._size = self._durable = os.fstat(self._handle).st_size
        return self._handle


def has_content(path: Path) -> bool:
    """Whether a log exists and has content. A power cut leaves a blank file of a log that was never synced."""
    try:
        with path.open("rb") as stream:
            return not is_blank(stream.read(1))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True  # reading the log reports the error


def replay(
    kind: LogKind[_S, _E],
    path: Path,
    *,
    state: _S | None = None,
    last_line: str = START,
    start: int = 0,
    until: int | None = None,
) -> Replayed[_S]:
    """The state after replaying the log from the start or from a known point, to the end or to a revision."""
    data = path.read_bytes()[start:] if path.exists() else b""
    sound = start
    before = Replayed(state, last_line, sound)
    # Not `splitlines`: a carriage return inside a line is damage, and must not look like a torn end.
    for raw in io.BytesIO(data):
        if not raw.endswith(b"\n"):
            return Replayed(state, last_line, sound, "the last line is incomplete", is_torn=True)
        try:
            line = codec.from_json(raw, kind.line)
            if line.previous != last_line:
                # One of the two lines was changed, so neither is trusted.
                return replace(before, damage="a line does not follow the previous line")
            before = Replayed(state, last_line, sound)
            for event in line.events:
                state = kind.evolve(state, event, line.at)
        except ValueError as problem:
            return Replayed(state, last_line, sound, str(problem))
        last_line = sha256(raw)
        sound += len(raw)
        if until is not None and line.revision >= until:
            break
    return Replayed(state, last_line, sound)


def lines(kind: type[Line[_E]], path: Path, *, start: int = 0) -> Iterator[tuple[int, Line[_E]]]:
    """The lines from an offset on, each with the offset after it; stops at the first incomplete line."""
    if not path.exists():
        return
    with path.open("rb") as stream:
        stream.seek(start)
        for raw in stream:
            if not raw.endswith(b"\n"):
                return
            try:
                line = codec.from_json(raw, kind)
            except codec.Undecodable as problem:
                raise DamagedFile(
                    f"{shown(path)} contains an invalid line: {problem}", hint="run `loopwright doctor` for details"
                ) from problem
            start += len(raw)
            yield start, line


def cut_torn_end(path: Path, sound_bytes: int) -> Path:
    """Move everything after the sound part into a separate file."""
    data = path.read_bytes()
    aside = path.with_name(f"{path.name}.torn-{sound_bytes}")
    write_durably(aside, data[sound_bytes:])
    with storage(path):
        os.truncate(path, sound_bytes)
    return aside


def digest_of_last_line(path: Path) -> str:
    """The digest of the last complete line, read from the end; `START` if there is none."""
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        held, step = b"", _TAIL
        while held.count(b"\n") < 2 and len(held) < size:
            start = max(0, size - step)
            stream.seek(start)
            held, step = stream.read(size - start), step * 4
    complete = held.splitlines(keepends=True) if held.endswith(b"\n") else []
    return sha256(complete[-1]) if complete else START
