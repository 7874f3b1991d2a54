"""Log files of commands: they take `Redacted` bytes only, and know their own digest and their last lines."""

from __future__ import annotations

import hashlib
from pathlib import Path

from loopwright.kernel.files import storage
from loopwright.redaction.model import Redacted, seal

_TAIL = 64 << 10


class LogFile:
    """One command's output on disk."""

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
        """The digest of what was written so far."""
        return self._digest.hexdigest()

    def write(self, piece: Redacted) -> None:
        """Append; past the limit only count."""
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
        """Append what one of several streams brought; halves of two streams never make one line."""
        if not piece.data:
            return
        if self._stream_before is not stream and self._tail and not self._tail.endswith(b"\n"):
            self.write(seal(b"\n"))
        self._stream_before = stream
        self.write(piece)

    def close(self) -> None:
        """End the file; say what is not in it."""
        if self._stream.closed:
            return
        if self._dropped:
            self._put(f"\n[loopwright: {self._dropped} more bytes were printed and are not kept]\n".encode())
        self._stream.close()

    def tail(self) -> Redacted:
        """The end of what was printed, as much as is remembered."""
        return seal(self._tail)

    def last_lines(self, count: int) -> Redacted:
        """The last few lines of what was printed."""
        return seal(b"\n".join(self._tail.splitlines()[-count:]))

    def _put(self, data: bytes) -> None:
        with storage(self.path):
            view = memoryview(data)
            while view:
                view = view[self._stream.write(view) :]
        self._digest.update(data)
        self.size += len(data)
