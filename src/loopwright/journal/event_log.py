"""An event log: one line per command, all of its events or none, each line bound to the one before it.

Knows no domain: what an event is, and what becomes of a state by it, are the caller's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from loopwright.errors import DamagedFile
from loopwright.kernel import codec
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import shown, storage, sync_folder, write_durably

START = "0" * 64
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


class Kind(msgspec.Struct, Generic[_S, _E], frozen=True):
    """What is logged: how a line is decoded, and what a state becomes by an event."""

    line: type[Line[_E]]
    evolve: Callable[[_S | None, _E, str], _S]


class Writer:
    """Appends to a log; the file stays open for the block of changes that it is used in."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None
        self._size = 0

    def append(self, line: object) -> tuple[int, str]:
        """Make a line durable; returns the log's length and the line's digest."""
        data = codec.to_json_line(line)
        with storage(self._path):
            handle = self._open()
            try:
                if os.write(handle, data) != len(data):
                    raise OSError(28, os.strerror(28), str(self._path))
                os.fsync(handle)
            except OSError:
                # The old state stays whole: half a line is no line.
                os.ftruncate(handle, self._size)
                self.close()
                raise
        self._size += len(data)
        return self._size, sha256(data)

    def close(self) -> None:
        """The block is over."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _open(self) -> int:
        if self._handle is None:
            is_new = not self._path.exists()
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            self._handle = os.open(self._path, flags, 0o666)
            self._size = os.fstat(self._handle).st_size
            if is_new:
                # The name before the first line: a line that was durable in a file without a name would be lost.
                sync_folder(self._path.parent)
        return self._handle


def replay(
    kind: Kind[_S, _E], path: Path, *, state: _S | None = None, last_line: str = START, start: int = 0
) -> Replayed[_S]:
    """The state from its log, or from a known point of it on."""
    data = path.read_bytes()[start:] if path.exists() else b""
    sound = start
    for raw in data.splitlines(keepends=True):
        if not raw.endswith(b"\n"):
            return Replayed(state, last_line, sound, "the last line is not whole", is_torn=True)
        try:
            line = codec.from_json(raw, kind.line)
            if line.previous != last_line:
                return Replayed(state, last_line, sound, "a line does not follow the one before it")
            for event in line.events:
                state = kind.evolve(state, event, line.at)
        except ValueError as problem:
            return Replayed(state, last_line, sound, str(problem))
        last_line = sha256(raw)
        sound += len(raw)
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
