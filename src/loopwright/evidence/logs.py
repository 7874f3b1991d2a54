"""Log files of commands. They accept only `Redacted` bytes, and keep their digest and last lines."""

from __future__ import annotations

import hashlib
from pathlib import Path

from loopwright.kernel.files import storage
from loopwright.redaction.model import Redacted, seal

_TAIL = 64 << 10


class LogFile:
    """The output of one command on disk."""

    def __init__(self, path: Path, limit_bytes: int) -> None:
        self.path = path
        self.size = 0
        self._limit = limit_bytes
        self._dropped = 0
        self._digest = hashlib.sha256()
        self._tail = b""
        self._stream_before: object = None
        with storage(path):
            self._stream = path.open("xb", buffering=0)

    @property
    def sha256(self) -> str:
        """The digest of everything written so far."""
        return self._digest.hexdigest()

    def write(self, piece: Redacted) -> None:
        """Append output; after the limit, output is only counted."""
        data = piece.data
        if not data:
            return
        self._tail = (self._tail + data)[-_TAIL:]
        room = max(0, self._limit - self.size)
        if len(data) > room:
            self._dropped += len(data) - room
            data = data[:room]
        self._put(data)

    def write_from(self, stream: object, piece: Redacted) -> None:
        """Append output of one of several streams; output of two streams never shares a line."""
        if not piece.data:
            return
        if self._stream_before is not stream and self._tail and not self._tail.endswith(b"\n"):
            self.write(seal(b"\n"))
        self._stream_before = stream
        self.write(piece)

    def close(self) -> None:
        """Close the file, and note how much output is missing."""
        if self._stream.closed:
            return
        if self._dropped:
            self._put(f"\n[loopwright: {self._dropped} more bytes were printed and are not kept]\n".encode())
        self._stream.close()

    def tail(self) -> Redacted:
        """The end of the output, as much as is kept in memory."""
        return seal(self._tail)

    def last_lines(self, count: int) -> Redacted:
        """The last lines of the output."""
        return seal(b"\n".join(self._tail.splitlines()[-count:]))

    def _put(self, data: bytes) -> None:
        with storage(self.path):
            view = memoryview(data)
            while view:
                view = view[self._stream.write(view) :]
        self._digest.update(data)
        self.size += len(data)
