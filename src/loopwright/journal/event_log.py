"""An event log: one line per command, all of its events or none, each line bound to the one before it.

Knows no domain: what an event is, and what becomes of a state by it, are the caller's.
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
    """What one command led to; `revision` is the state's after it."""

    revision: int
    at: str
    actor: str
    events: tuple[_E, ...]
    previous: str


class Replayed(msgspec.Struct, Generic[_S], frozen=True):
    """A state as far as its log is sound: how many bytes of it that is, and why not more.

    A torn end is what a power cut leaves; any other damage is not ours to pass over.
    """

    state: _S | None
    last_line: str
    sound_bytes: int
    damage: str | None = None
    is_torn: bool = False


class LogKind(msgspec.Struct, Generic[_S, _E], frozen=True):
    """What is logged: how a line is decoded, and what a state becomes by an event."""

    line: type[Line[_E]]
    evolve: Callable[[_S | None, _E, str], _S]


class LogWriter:
    """Appends to a log; the file stays open for the block of changes that it is used in.

    Lines that are only written survive the death of this process, and a power cut when `sync` has returned.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None
        # Bytes of the log, and how many of those are durable.
        self._size = 0
        self._durable = 0
        self._has_durable_name = True

    def begin(self, line: object) -> tuple[int, str]:
        """A log of this one line, there whole or not at all; one that is there already gives way to it in one step."""
        data = codec.to_json_line(line)
        write_durably(self._path, data)
        return len(data), sha256(data)

    def append(self, line: object) -> tuple[int, str]:
        """Make a line durable; returns the log's length and the line's digest."""
        written = self.write(line)
        self.sync()
        return written

    def start(self, line: object) -> tuple[int, str]:
        """Begin a log where there is none; before `sync` a power cut leaves none, or a blank one."""
        data = codec.to_json_line(line)
        replace_without_sync(self._path, data)
        self._open()
        self._durable, self._has_durable_name = 0, False
        return self._size, sha256(data)

    def write(self, line: object) -> tuple[int, str]:
        """Write a line; returns the log's length and the line's digest."""
        data = codec.to_json_line(line)
        with storage(self._path):
            handle = self._open()
            try:
                if os.write(handle, data) != len(data):
                    raise OSError(28, os.strerror(28), str(self._path))
            except OSError:
                # The old state stays whole: half a line is no line.
                os.ftruncate(handle, self._size)
                raise
        self._size += len(data)
        return self._size, sha256(data)

    def sync(self) -> None:
        """Make durable what was written since; if that fails, none of it was written."""
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
        """The block is over."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _open(self) -> int:
        if self._handle is None:
            self._handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
            self._size = self._durable = os.fstat(self._handle).st_size
        return self._handle


def says_something(path: Path) -> bool:
    """Whether there is a log: a blank one is what a power cut leaves of one that was never synced."""
    try:
        with path.open("rb") as stream:
            return not is_blank(stream.read(1))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True  # its reader says why it can't be read


def replay(
    kind: LogKind[_S, _E],
    path: Path,
    *,
    state: _S | None = None,
    last_line: str = START,
    start: int = 0,
    until: int | None = None,
) -> Replayed[_S]:
    """The state from its log, or from a known point of it on; at the end of it, or as it was at a revision."""
    data = path.read_bytes()[start:] if path.exists() else b""
    sound = start
    before = Replayed(state, last_line, sound)
    # Not `splitlines`: a carriage return is damage inside a line, and would make it look like a torn end.
    for raw in io.BytesIO(data):
        if not raw.endswith(b"\n"):
            return Replayed(state, last_line, sound, "the last line is not whole", is_torn=True)
        try:
            line = codec.from_json(raw, kind.line)
            if line.previous != last_line:
                # One of the two is not what was written: neither is believed.
                return replace(before, damage="a line does not follow the one before it")
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
    """The lines from an offset on, each with the offset behind it; ends at the first that is not whole."""
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
                    f"{shown(path)} holds a line that is none: {problem}", hint="`loopwright doctor` says more"
                ) from problem
            start += len(raw)
            yield start, line


def cut_torn_end(path: Path, sound_bytes: int) -> Path:
    """Keep what is behind the sound part in a file of its own, and cut it off."""
    data = path.read_bytes()
    aside = path.with_name(f"{path.name}.torn-{sound_bytes}")
    write_durably(aside, data[sound_bytes:])
    with storage(path):
        os.truncate(path, sound_bytes)
    return aside


def digest_of_last_line(path: Path) -> str:
    """Of the last whole line, read from the end; `START` where there is none."""
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        held, step = b"", _TAIL
        while held.count(b"\n") < 2 and len(held) < size:
            start = max(0, size - step)
            stream.seek(start)
            held, step = stream.read(size - start), step * 4
    found = held.splitlines(keepends=True) if held.endswith(b"\n") else []
    return sha256(found[-1]) if found else START
