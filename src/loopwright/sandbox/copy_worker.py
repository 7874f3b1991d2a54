"""Copies files. `copy_files` runs this module as separate processes; it uses only the standard library.

Arguments: source, target. Standard input: relative paths, separated by NUL. Prints one problem per line.
One process per core makes this faster than `cp -a`; threads would block each other.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_CHUNK = 1 << 20
_FICLONE = 0x40049409
_CLONE_FROM = 1 << 16
_UNSUPPORTED = (errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.ENOSYS, errno.EPERM)


def nothing() -> None:
    """Do nothing: a separate copy process is stopped from outside."""


def copy_file(source: bytes, target: bytes, check_for_stop: Callable[[], None] = nothing) -> None:
    """Copy a regular file: bytes, permissions and time. Holes stay holes; links are never followed."""
    reading = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(reading)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "is no longer a regular file")
        mode = stat.S_IMODE(status.st_mode) & 0o777
        writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode | 0o200)
        try:
            fill(reading, writing, status, check_for_stop)
            os.fchmod(writing, mode)
            os.utime(writing, ns=(status.st_atime_ns, status.st_mtime_ns))
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def fill(reading: int, writing: int, status: os.stat_result, check_for_stop: Callable[[], None]) -> None:
    """Copy the bytes in the cheapest way that the file system supports."""
    if status.st_size >= _CLONE_FROM and clone(reading, writing):
        return
    if status.st_blocks * 512 < status.st_size:
        fill_sparsely(reading, writing, status.st_size, check_for_stop)
        return
    while data := os.read(reading, _CHUNK):
        check_for_stop()
        write_all(writing, data)


def clone(reading: int, writing: int) -> bool:
    """Share the blocks if the file system supports that."""
    try:
        fcntl.ioctl(writing, _FICLONE, reading)
    except OSError as problem:
        if problem.errno in _UNSUPPORTED:
            return False
        raise
    return True


def fill_sparsely(reading: int, writing: int, size: int, check_for_stop: Callable[[], None]) -> None:
    """Copy the data and keep the holes."""
    os.ftruncate(writing, size)
    position = 0
    while position < size:
        try:
            position = os.lseek(reading, position, os.SEEK_DATA)
        except OSError as problem:
            if problem.errno == errno.ENXIO:
                return
            raise
        end = os.lseek(reading, position, os.SEEK_HOLE)
        os.lseek(reading, position, os.SEEK_SET)
        os.lseek(writing, position, os.SEEK_SET)
        while position < end and (data := os.read(reading, min(_CHUNK, end - position))):
            check_for_stop()
            write_all(writing, data)
            position += len(data)


def write_all(writing: int, data: bytes) -> None:
    """Write all bytes, also if the system accepts them in parts."""
    view = memoryview(data)
    while view:
        view = view[os.write(writing, view) :]


def copy_all(
    source: bytes, target: bytes, paths: list[bytes], check_for_stop: Callable[[], None] = nothing
) -> list[bytes]:
    """Copy each path from one folder to another; return a line for each failure. `check_for_stop` may raise."""
    problems: list[bytes] = []
    for path in paths:
        try:
            copy_file(source + b"/" + path, target + b"/" + path, check_for_stop)
        except FileNotFoundError:
            continue  # deleted after it was listed: the project is in use
        except OSError as problem:
            problems.append(path.replace(b"\n", b"?") + f": {problem.strerror}".encode())
            if problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
                break
    return problems


def main() -> int:
    """Copy the paths from standard input; return 0 on success."""
    source, target = (os.fsencode(argument) for argument in sys.argv[1:3])
    problems = copy_all(source, target, [path for path in sys.stdin.buffer.read().split(b"\0") if path])
    sys.stdout.buffer.write(b"".join(line + b"\n" for line in problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
