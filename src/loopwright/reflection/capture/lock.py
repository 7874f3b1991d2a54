"""One hook at a time per session: a lock file that the kernel locks while its process lives."""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

# A hook takes much less time. A file that names a living process for longer names a reused process id.
_LONGEST_S = 120
_TRIES = 5


class SessionLock:
    """A lock file with a process id. Loopwright's locks are also kernel locks, so a dead hook's lock is free."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._handle = -1

    def __enter__(self) -> Self:
        for _ in range(_TRIES):
            self._handle = self._try()
            if self._handle >= 0 or not self._cleared_obstacle():
                break
        return self

    def __exit__(self, *problem: object) -> None:
        if self._handle >= 0:
            remove_if_possible(self._path)
            os.close(self._handle)
            self._handle = -1

    @property
    def is_held(self) -> bool:
        """Whether this process holds the lock."""
        return self._handle >= 0

    def _try(self) -> int:
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        except IsADirectoryError:
            return -1
        except OSError:
            if os.path.islink(self._path):
                return -1
            raise
        try:
            is_free = flock(handle, wait_s=0) and self._is_current(handle) and not self._names_a_living_other(handle)
            if is_free:
                os.ftruncate(handle, 0)
                os.pwrite(handle, b"%d\n" % os.getpid(), 0)
        except BaseException:
            # The write failed: do not leave an empty lock file.
            remove_if_possible(self._path)
            os.close(handle)
            raise
        if is_free:
            return handle
        os.close(handle)
        return -1

    def _is_current(self, handle: int) -> bool:
        """Whether the file still exists at its path; its last holder may have removed it."""
        try:
            return os.stat(self._path).st_ino == os.fstat(handle).st_ino
        except FileNotFoundError:
            return False

    def _names_a_living_other(self, handle: int) -> bool:
        """Whether another program's lock file names a living process, which the kernel lock does not show."""
        words = os.pread(handle, 64, 0).split()
        is_fresh = abs(time.time() - os.fstat(handle).st_mtime) <= _LONGEST_S
        return bool(words) and is_fresh and is_alive(words[0].decode("ascii", "replace"))

    def _cleared_obstacle(self) -> bool:
        """Remove a link, which is never followed, or an old folder at the lock's path. Return whether to try again."""
        if os.path.islink(self._path):
            remove_if_possible(self._path)
            return True
        if os.path.isdir(self._path):
            if abs(time.time() - os.stat(self._path).st_mtime) > _LONGEST_S:
                try:
                    os.rmdir(self._path)
                except OSError:
                    pass
            return not os.path.isdir(self._path)
        return not os.path.lexists(self._path)


def flock(handle: int, *, wait_s: float) -> bool:
    """Lock an open file for this process; always succeeds on systems without kernel locks."""
    try:
        locks = __import__("fcntl")
    except ImportError:
        return True
    until = time.monotonic() + wait_s
    while True:
        try:
            locks.flock(handle, locks.LOCK_EX | locks.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(0.002)
        except OSError:
            return True  # a file system without locks
        else:
            return True


def is_alive(pid: str) -> bool:
    """Whether a process with this number exists; False if the text is not a number."""
    if not pid.isdecimal() or len(pid) > 9 or int(pid) in (0, os.getpid()):
        return False
    if os.name == "nt":
        return True  # testing would send a signal on Windows; the lock's age decides
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def remove_if_possible(path: str) -> None:
    """Remove a file; an error is ignored."""
    try:
        os.unlink(path)
    except OSError:
        pass
