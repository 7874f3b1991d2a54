"""Lines and kinds of files that git does not know yet: git counts them for nobody. Standard library only.

Reads files and nothing else; follows no link and waits for no fifo. The hook imports this.
"""

from __future__ import annotations

import os
import stat

from loopwright.reflection.change import SYMLINK, Change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_LARGEST = 32 << 20
_CHUNK = 1 << 20
_LOOKED_AT = 8000


def _always() -> bool:
    return True


def with_lines(change: Change, top: str, goes_on: Callable[[], bool] = _always) -> tuple[Change, bool]:
    """A status with the lines of what is untracked, and with which of that is a link; False when time ran out."""
    kinds = dict(change.kinds)
    lines = 0
    for path in change.untracked:
        if not goes_on():
            return Change(change.files, lines, 0, kinds, change.untracked, change.conflicts), False
        counted = lines_of(os.fsencode(top) + b"/" + os.fsencode(path))
        if counted is None:
            kinds.setdefault(path, SYMLINK)
        lines += 1 if counted is None else counted
    return Change(change.files, lines, 0, kinds, change.untracked, change.conflicts), True


def lines_of(path: bytes) -> int | None:
    """How many lines git would say that a file adds; None for a symbolic link."""
    if path.endswith(b"/"):
        return 0  # a repository of its own
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None if os.path.islink(path) else 0
    try:
        return _count(handle) if stat.S_ISREG(os.fstat(handle).st_mode) else 0
    except OSError:
        return 0
    finally:
        os.close(handle)


def _count(handle: int) -> int:
    lines, left, last = 0, _LARGEST, b"\n"
    while left > 0 and (data := os.read(handle, _CHUNK)):
        if left == _LARGEST and b"\0" in data[:_LOOKED_AT]:
            return 0  # binary, as git tells it
        lines += data.count(b"\n")
        left -= len(data)
        last = data[-1:]
    return lines + (last != b"\n")
