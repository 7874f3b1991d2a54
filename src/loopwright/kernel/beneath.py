"""Reads and changes entries below a folder, and never leaves the folder: no link on the way is followed.

Each folder on the way is opened by itself, relative to the one before, so an entry that changes meanwhile is seen. A
name that leads through a link or a file names nothing. Names are relative and use `/`.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from loopwright.kernel.files import storage

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
# What a system says about a name that leads through a file or a link.
_NOT_A_FOLDER = (errno.ENOTDIR, errno.ELOOP, errno.ENOENT)


class FileEntry(msgspec.Struct, frozen=True):
    """A regular file. Without a mode, a new file gets the mode that the umask allows."""

    data: bytes
    mode: int | None = None


class LinkEntry(msgspec.Struct, frozen=True):
    """A symbolic link, with the text that it contains."""

    target: bytes


class FolderEntry(msgspec.Struct, frozen=True):
    """A folder, with the names in it."""

    names: tuple[str, ...]


class OtherEntry(msgspec.Struct, frozen=True):
    """A pipe, a socket or a device. It is never opened."""


Entry = FileEntry | LinkEntry | FolderEntry | OtherEntry


class InTheWay(Exception):
    """A link, a file or a folder with content is in the place of a folder or file that is needed."""


def read_entry(root: Path, name: str) -> Entry | None:
    """The entry; None if it is missing. On a file system that ignores case, only the exact name counts."""
    *folders, last = parts_of(name)
    try:
        with _opened(root, folders) as folder:
            if last not in os.listdir(folder):
                return None
            return _read(folder, last)
    except OSError as problem:
        if problem.errno in _NOT_A_FOLDER:
            return None
        raise


def obstacle_to(root: Path, name: str, *, gone: frozenset[str] = frozenset()) -> str | None:
    """The first part of the way to an entry that is not a folder, except `gone` ones; None if the way is free."""
    parts = parts_of(name)
    for length in range(1, len(parts)):
        way = "/".join(parts[:length])
        if way in gone:
            return None
        match read_kind(root, way):
            case None:
                return None
            case stat.S_IFDIR:
                continue
            case _:
                return way
    return None


def read_kind(root: Path, name: str) -> int | None:
    """The kind of an entry as in its mode; None if it is missing."""
    *folders, last = parts_of(name)
    try:
        with _opened(root, folders) as folder:
            return stat.S_IFMT(os.lstat(last, dir_fd=folder).st_mode)
    except OSError as problem:
        if problem.errno in _NOT_A_FOLDER:
            return None
        raise


def write_entry(root: Path, name: str, entry: FileEntry | LinkEntry) -> None:
    """Replace the entry atomically and durably. Creates missing folders, and removes an empty folder in its place."""
    *folders, last = parts_of(name)
    # One name for every attempt: the next attempt removes what an interrupted one left.
    temporary = f".{last[:100]}.loopwright.tmp"
    with storage(root / name), _opened(root, folders, create=True) as folder:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        try:
            _write(folder, temporary, entry)
            _remove_empty_folder(folder, last)
            os.replace(temporary, last, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise
        os.fsync(folder)


def remove_entry(root: Path, name: str) -> None:
    """Remove a file or link, then the folders that are empty without it. A missing entry is fine."""
    *folders, last = parts_of(name)
    with storage(root / name):
        try:
            with _opened(root, folders) as folder:
                os.unlink(last, dir_fd=folder)
                os.fsync(folder)
        except OSError as problem:
            if problem.errno not in _NOT_A_FOLDER:
                raise
    drop_empty_folders(root, name)


def drop_empty_folders(root: Path, name: str) -> None:
    """Remove the folders on the way to an entry that are empty."""
    folders = parts_of(name)[:-1]
    while folders:
        last = folders.pop()
        try:
            with _opened(root, folders) as folder:
                os.rmdir(last, dir_fd=folder)
                os.fsync(folder)
        except OSError as problem:
            if problem.errno not in _NOT_A_FOLDER:
                return  # the folder has other content


def parts_of(name: str) -> list[str]:
    """The parts of a name; `ValueError` for a name that could leave the folder."""
    parts = name.split("/")
    if "\0" in name or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"not a name below a folder: {name!r}")
    return parts


@contextmanager
def _opened(root: Path, folders: list[str], *, create: bool = False) -> Iterator[int]:
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in folders:
            try:
                below = _open_folder(handle, part, create=create)
            except OSError as problem:
                if create and problem.errno in (errno.ENOTDIR, errno.ELOOP):
                    raise InTheWay(f"{part} is not a folder") from problem
                raise
            os.close(handle)
            handle = below
        yield handle
    finally:
        os.close(handle)


def _open_folder(handle: int, part: str, *, create: bool) -> int:
    if create:
        with suppress(FileExistsError):
            os.mkdir(part, dir_fd=handle)
            os.fsync(handle)
    return os.open(part, _FOLDER, dir_fd=handle)


def _read(folder: int, name: str) -> Entry | None:
    status = os.lstat(name, dir_fd=folder)
    if stat.S_ISLNK(status.st_mode):
        return LinkEntry(os.fsencode(os.readlink(name, dir_fd=folder)))
    if stat.S_ISDIR(status.st_mode):
        handle = os.open(name, _FOLDER, dir_fd=folder)
        try:
            return FolderEntry(tuple(sorted(os.listdir(handle))))
        finally:
            os.close(handle)
    if not stat.S_ISREG(status.st_mode):
        return OtherEntry()
    handle = os.open(name, _READ, dir_fd=folder)
    with os.fdopen(handle, "rb") as stream:
        opened = os.fstat(handle)
        if not stat.S_ISREG(opened.st_mode):
            return OtherEntry()
        return FileEntry(stream.read(), stat.S_IMODE(opened.st_mode))


def _write(folder: int, name: str, entry: FileEntry | LinkEntry) -> None:
    if isinstance(entry, LinkEntry):
        os.symlink(os.fsdecode(entry.target), name, dir_fd=folder)
        return
    with os.fdopen(os.open(name, _NEW, 0o666, dir_fd=folder), "wb") as stream:
        if entry.mode is not None:
            os.fchmod(stream.fileno(), entry.mode)
        stream.write(entry.data)
        stream.flush()
        os.fsync(stream.fileno())


def _remove_empty_folder(folder: int, name: str) -> None:
    """Remove an empty folder in the place of an entry."""
    try:
        if stat.S_ISDIR(os.lstat(name, dir_fd=folder).st_mode):
            os.rmdir(name, dir_fd=folder)
    except FileNotFoundError:
        return
    except OSError as problem:
        raise InTheWay(f"the folder {name} has other content") from problem
