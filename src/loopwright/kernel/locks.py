"""Kernel locks. The kernel releases a lock when its holder dies; a file with a process id would stay."""

from __future__ import annotations

import fcntl
import itertools
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from loopwright.errors import StorageFailed
from loopwright.kernel.files import make_folder, storage

_BOOT = Path("/proc/sys/kernel/random/boot_id")


class HeldLock:
    """A lock that this process holds until `release` or until the process ends."""

    def __init__(self, handle: int) -> None:
        self._handle: int | None = handle

    def release(self) -> None:
        """Release the lock; a second call has no effect."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def try_lock(path: Path) -> HeldLock | None:
    """Take the lock, or return None if another process holds it."""
    while True:
        handle = _open(path)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            is_taken = not _can_be_shared(handle)
            os.close(handle)
            if is_taken:
                return None
            continue  # another process tested the lock at this moment
        if _is_current(path, handle):
            return HeldLock(handle)
        # The last holder removed the file after this process opened it, so this lock guards nothing.
        os.close(handle)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait for the lock and hold it for the block."""
    handle = _open(path)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def locked_first(path: Path) -> Iterator[bool]:
    """Wait for the lock, and tell whether this is the first complete use of the lock since the machine started.

    If so, a power cut may have removed data that was written without fsync. The lock file stores the boot id.
    """
    boot = _boot()
    handle = _open(path)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        is_first = not boot or os.pread(handle, len(boot) + 1, 0) != boot
        yield is_first
        if is_first and boot:
            with storage(path):
                os.pwrite(handle, boot, 0)
                os.ftruncate(handle, len(boot))
    finally:
        os.close(handle)


def was_used_since_boot(path: Path) -> bool:
    """Whether `locked_first` has completed for this lock since the machine started; False if that is unknown."""
    boot = _boot()
    try:
        return bool(boot) and path.read_bytes() == boot
    except OSError:
        return False


def _boot() -> bytes:
    """The id of this boot; empty if the system has none, so that every use counts as the first."""
    try:
        return _BOOT.read_bytes().strip()
    except OSError:
        return b""


def locked_folder(path: Path) -> AbstractContextManager[None]:
    """The same with a folder as the lock, where no lock file may be created. A missing folder needs no lock."""
    return _holding(path, os.O_DIRECTORY, fcntl.LOCK_EX)


def locked_for_reading(path: Path) -> AbstractContextManager[None]:
    """Wait for a writer, and keep writers out for the block. Creates nothing: a missing lock has no writer."""
    return _holding(path, os.O_NOFOLLOW, fcntl.LOCK_SH)


@contextmanager
def _holding(path: Path, flags: int, operation: int) -> Iterator[None]:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | flags)  # a FIFO would wait for its writer
    except OSError:
        yield
        return
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(handle, operation)
        yield
    finally:
        os.close(handle)


def is_held(path: Path) -> bool:
    """Whether a living process holds the lock. The test blocks no other process and works on a read-only disk."""
    try:
        with storage(path):
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except StorageFailed as error:
        if isinstance(error.__cause__, FileNotFoundError | NotADirectoryError):
            return False
        raise
    try:
        return not _can_be_shared(handle)
    finally:
        os.close(handle)


def _can_be_shared(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_current(path: Path, handle: int) -> bool:
    try:
        return path.stat().st_ino == os.fstat(handle).st_ino
    except FileNotFoundError:
        return False


def _open(path: Path) -> int:
    for attempt in itertools.count():
        make_folder(path.parent)
        try:
            with storage(path):
                # Python closes the handle in child processes, so that none holds the lock after this process.
                return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        except StorageFailed as error:
            # Another process may remove the empty folder again and again.
            if attempt == 100 or not isinstance(error.__cause__, FileNotFoundError):
                raise
    raise AssertionError
