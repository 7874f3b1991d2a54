"""Lines of JSON that an agent's program prints or stores: untrusted input."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_SHOWN = 200
_MOST_AT_ONCE = 8 << 20


def parsed(line: bytes) -> dict[str, Any] | None:
    """One event; None for an invalid line."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def whole_lines(path: Path, start: int) -> bytes:
    """A file's content from `start` to its last whole line; empty for anything but a regular file."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        data = os.pread(handle, _MOST_AT_ONCE, start) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
    finally:
        os.close(handle)
    return data[: data.rfind(b"\n") + 1]


class Followed:
    """A file of lines that a program adds to while it works; earlier content is skipped."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        # lstat: the path may be a broken link.
        self._read_to = path.lstat().st_size if path is not None else 0

    def earlier(self) -> Iterator[dict[str, Any]]:
        """The records that the file held before; only the last ones of a long file."""
        if self._path is None:
            return
        start = max(0, self._read_to - _MOST_AT_ONCE)
        data = whole_lines(self._path, start)[: self._read_to - start]
        yield from (record for line in data.splitlines() if (record := parsed(line)) is not None)

    def news(self, find: Callable[[], Path | None]) -> Iterator[dict[str, Any]]:
        """The records since the last call; a missing file is looked for again."""
        if self._path is None:
            self._path = find()
        if self._path is None:
            return
        data = whole_lines(self._path, self._read_to)
        self._read_to += len(data)
        yield from (record for line in data.splitlines() if (record := parsed(line)) is not None)


def short(value: object) -> str:
    """The first line of a value, shortened for a person."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    line = text.strip().partition("\n")[0]
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def called(name: object, given: object, about: tuple[str, ...]) -> str:
    """A tool call for a person: its name, and the first of these fields that the call has."""
    fields = given if isinstance(given, dict) else {}
    return f"{name} {short(next((fields[key] for key in about if key in fields), ''))}".strip()


def count(record: object, name: str) -> int:
    """A number in a record; 0 where it is missing or invalid."""
    number = record.get(name) if isinstance(record, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) and number >= 0 else 0
