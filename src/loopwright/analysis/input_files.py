"""Input files, read in bounded pieces; the digest is computed while reading."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from loopwright.errors import InputInvalid
from loopwright.kernel.files import shown

LONGEST_LINE: Final = 1 << 20
LARGEST_WHOLE: Final = 256 << 20
_BOM: Final = b"\xef\xbb\xbf"


class InputFile:
    """A file's lines or its whole content; after reading to the end, its digest."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._digest = hashlib.sha256()

    @property
    def sha256(self) -> str:
        """The digest of everything read."""
        return self._digest.hexdigest()

    def lines(self) -> Iterator[tuple[int, bytes | None]]:
        """The number and bytes of each line; None for a line that is too long."""
        with self._open() as stream:
            number = 0
            while piece := stream.readline(LONGEST_LINE):
                number += 1
                self._digest.update(piece)
                if not piece.endswith(b"\n") and len(piece) == LONGEST_LINE:
                    self._skip_rest(stream)
                    yield number, None
                    continue
                yield number, piece.removeprefix(_BOM) if number == 1 else piece

    def whole(self) -> bytes:
        """All bytes, up to a limit."""
        with self._open() as stream:
            data = stream.read(LARGEST_WHOLE + 1)
        if len(data) > LARGEST_WHOLE:
            raise InputInvalid(
                f"{shown(self.path)} is larger than {LARGEST_WHOLE >> 20} MiB",
                hint="write one JSON object per line (.jsonl); such a file may have any size",
            )
        self._digest.update(data)
        return data.removeprefix(_BOM)

    def _skip_rest(self, stream: BinaryIO) -> None:
        while piece := stream.readline(LONGEST_LINE):
            self._digest.update(piece)
            if piece.endswith(b"\n"):
                return

    @contextmanager
    def _open(self) -> Iterator[BinaryIO]:
        try:
            # A FIFO may never end, and a folder has no lines.
            if not self.path.is_file():
                raise InputInvalid(f"{shown(self.path)} is not a file", hint="check the path, then try again")
            with self.path.open("rb") as stream:
                yield stream
        except OSError as problem:
            raise InputInvalid(
                f"can't read {shown(self.path)}: {problem.strerror}", hint="check the path and its permissions"
            ) from problem
