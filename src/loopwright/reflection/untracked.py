"""Counts lines and finds links among untracked files, which git does not count. Uses only the standard library.

Only reads files; follows no link and waits for no FIFO. The hook imports this module.
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


def with_lines(change: Change, top: str, has_time: Callable[[], bool] = lambda: True) -> tuple[Change, bool]:
    """The change with the lines and links of untracked files; False if time ran out."""
    kinds = dict(change.kinds)
    lines, in_time = 0, True
    for path in change.untracked:
        if not (in_time := has_time()):
            break
        counted = lines_of(os.fsencode(top) + b"/" + os.fsencode(path))
        if counted is None:
            kinds.setdefault(path, SYMLINK)
        lines += 1 if counted is None else counted
    return change.replaced(insertions=lines, deletions=0, kinds=kinds), in_time


def with_lost(change: Change, top: str, has_time: Callable[[], bool] = lambda: True) -> Change:
    """The change with the earlier lines of files that lost lines, counted in the work tree."""

    def lines_now(path: str) -> int:
        # Out of time, a file counts as if only the removed lines had been in it: it may raise the score, not lower it.
        counted = lines_of(os.fsencode(top) + b"/" + os.fsencode(path)) if has_time() else 0
        return 1 if counted is None else counted

    return change.with_lost(lines_now)


def lines_of(path: bytes) -> int | None:
    """How many lines git would count as added; None for a symbolic link."""
    if path.endswith(b"/"):
        return 0  # a separate repository
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
            return 0  # binary, by git's rule
        lines += data.count(b"\n")
        left -= len(data)
        last = data[-1:]
    return lines + (last != b"\n")
