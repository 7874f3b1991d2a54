"""Copies files; run as a program of its own by `copy_files`, several at once, standard library only.

Arguments: source, target. Standard input: relative paths, NUL-separated. Prints one problem a line.
One process per core is what makes this faster than `cp -a`; threads would wait for each other.
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
    """Whoever copies in a process of its own is ended from outside."""


def copy_one(source: bytes, target: bytes, go_on: Callable[[], None] = nothing) -> None:
    """Copy a file or a link: bytes, permissions and time; holes stay holes; links are never followed."""
    reading = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(reading)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "is no longer a regular file")
        mode = stat.S_IMODE(found.st_mode) & 0o777
        writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode | 0o200)
        try:
            fill(reading, writing, found, go_on)
            os.fchmod(writing, mode)
            os.utime(writing, ns=(found.st_atime_ns, found.st_mtime_ns))
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def fill(reading: int, writing: int, found: os.stat_result, go_on: Callable[[], None]) -> None:
    """Bring the bytes over in the cheapest way that the file system offers."""
    if found.st_size >= _CLONE_FROM and clone(reading, writing):
        return
    if found.st_blocks * 512 < found.st_size:
        fill_sparsely(reading, writing, found.st_size, go_on)
        return
    while data := os.read(reading, _CHUNK):
        go_on()
        write_all(writing, data)


def clone(reading: int, writing: int) -> bool:
    """Share the blocks, where the file system can."""
    try:
        fcntl.ioctl(writing, _FICLONE, reading)
    except OSError as problem:
        if problem.errno in _UNSUPPORTED:
            return False
        raise
    return True


def fill_sparsely(reading: int, writing: int, size: int, go_on: Callable[[], None]) -> None:
    """Copy the data and leave the holes."""
    os.ftruncate(writing, size)
    at = 0
    while at < size:
        try:
            at = os.lseek(reading, at, os.SEEK_DATA)
        except OSError as problem:
            if problem.errno == errno.ENXIO:
                return
            raise
        end = os.lseek(reading, at, os.SEEK_HOLE)
        os.lseek(reading, at, os.SEEK_SET)
        os.lseek(writing, at, os.SEEK_SET)
        while at < end and (data := os.read(reading, min(_CHUNK, end - at))):
            go_on()
            write_all(writing, data)
            at += len(data)


def write_all(writing: int, data: bytes) -> None:
    """All of it, also when the system takes it in parts."""
    view = memoryview(data)
    while view:
        view = view[os.write(writing, view) :]


def copy_all(source: bytes, target: bytes, paths: list[bytes], go_on: Callable[[], None] = nothing) -> list[bytes]:
    """Copy each path from one folder to the other; a line for each that could not be. `go_on` may raise."""
    problems: list[bytes] = []
    for path in paths:
        try:
            copy_one(source + b"/" + path, target + b"/" + path, go_on)
        except FileNotFoundError:
            continue  # gone since it was listed: the project is in use
        except OSError as problem:
            problems.append(path.replace(b"\n", b"?") + f": {problem.strerror}".encode())
            if problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
                break
    return problems


def main() -> int:
    """Copy what standard input names; 0 when all went well."""
    source, target = (os.fsencode(argument) for argument in sys.argv[1:3])
    problems = copy_all(source, target, [path for path in sys.stdin.buffer.read().split(b"\0") if path])
    sys.stdout.buffer.write(b"".join(line + b"\n" for line in problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
