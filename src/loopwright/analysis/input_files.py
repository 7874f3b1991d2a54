"""Input files, read in bounded pieces with their digest. Unreadable parts are counted and reported, never ignored."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from loopwright.analysis.model import Malformed
from loopwright.errors import InputInvalid
from loopwright.kernel.files import shown

_REASONS = 20
_RANGES = 1000


class MalformedParts:
    """Collects numbers and reasons; `unit` names what the numbers count."""

    def __init__(self, unit: str = "line") -> None:
        self._unit = unit
        self._count = 0
        self._ranges: list[list[int]] = []
        self._reasons: list[str] = []

    def add(self, number: int, reason: str) -> None:
        """Add a part; numbers must not decrease."""
        self._count += 1
        if self._ranges and number <= self._ranges[-1][1] + 1:
            self._ranges[-1][1] = max(number, self._ranges[-1][1])
        else:
            self._ranges.append([number, number])
        if len(self._reasons) < _REASONS:
            self._reasons.append(f"{self._unit} {number}: {reason}")

    def collected(self) -> Malformed:
        """The collected parts as a record."""
        if not self._count:
            return Malformed()
        shown = [str(first) if first == last else f"{first}-{last}" for first, last in self._ranges[:_RANGES]]
        more = len(self._ranges) - len(shown)
        where = f"{self._unit}s {', '.join(shown)}" + (f" and {more} more ranges" if more else "")
        return Malformed(count=self._count, where=where, reasons=tuple(self._reasons))


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
