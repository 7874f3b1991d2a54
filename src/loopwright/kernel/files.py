"""Durable files: a reader sees the old bytes or the new bytes, also after a power cut.

All writes go through this module. An operating system error becomes `StorageFailed` with the path.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from loopwright.errors import StorageFailed

# File systems write at least this many bytes at once.
_BLOCK = 4096
_HINTS = {
    errno.ENOSPC: "free some space (`loopwright gc` removes old runs and sandboxes), then try again",
    errno.EDQUOT: "free some of your quota (`loopwright gc` removes old runs and sandboxes), then try again",
    errno.EROFS: "this file system is read-only; choose another folder, or remount the file system writable",
    errno.EACCES: "check the owner and the permissions of that folder",
    errno.EPERM: "check the owner and the permissions of that folder",
}


@contextmanager
def storage(path: Path) -> Iterator[None]:
    """Turn an operating system error into `StorageFailed` with the path."""
    try:
        yield
    except OSError as error:
        where = error.filename or path
        reason = error.strerror or type(error).__name__
        hint = _HINTS.get(error.errno or 0, "check that path, then run `loopwright doctor`")
        raise StorageFailed(f"can't write {shown(where)}: {reason}", hint=hint) from error


def shown(path: object) -> str:
    """A path as printable text, also if its bytes are not valid UTF-8."""
    raw = os.fsencode(path) if isinstance(path, str | bytes | os.PathLike) else str(path).encode()
    text = raw.decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def special_kind(mode: int) -> str | None:
    """The kind of a special file; None for a regular file, a folder or a link."""
    kinds = {stat.S_IFIFO: "fifo", stat.S_IFSOCK: "socket", stat.S_IFCHR: "device", stat.S_IFBLK: "device"}
    return kinds.get(stat.S_IFMT(mode))


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folder(folder: Path, *, mode: int = 0o777) -> None:
    """Create a folder and its parents."""
    with storage(folder):
        folder.mkdir(mode=mode, parents=True, exist_ok=True)


def make_private_folder(folder: Path) -> None:
    """A folder with access for its owner only, with any umask and also if the folder exists."""
    make_folder(folder, mode=0o700)
    with storage(folder):
        folder.chmod(0o700)


def read_regular_file(path: Path, *, most: int) -> bytes:
    """A regular file's bytes. `OSError` if the file is larger than `most` or not regular; never waits for a FIFO."""
    data, is_longer = _read_start(path, most, os.O_RDONLY)
    if is_longer:
        raise OSError(errno.EFBIG, f"larger than {most >> 20} MiB", str(path))
    return data


def read_head(path: Path, most: int) -> tuple[bytes, bool]:
    """The first `most` bytes of a regular file, and whether there are more. `OSError` for links and other kinds."""
    return _read_start(path, most, os.O_RDONLY | os.O_NOFOLLOW)


def _read_start(path: Path, most: int, flags: int) -> tuple[bytes, bool]:
    handle = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            kind = "folder" if stat.S_ISDIR(mode) else special_kind(mode)
            raise OSError(errno.EINVAL, f"a {kind}, not a file", str(path))
        with os.fdopen(handle, "rb", closefd=False) as stream:
            data = stream.read(most + 1)
    finally:
        os.close(handle)
    return data[:most], len(data) > most


def list_folder(folder: Path) -> list[str]:
    """The names in a folder; `OSError` for links and anything but a folder."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        return os.listdir(handle)
    finally:
        os.close(handle)


def write_durably(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Replace a file's content atomically: temporary file, fsync, rename, fsync of the folder.

    `mode` ignores the umask; without `mode` the umask applies.
    """
    write_all_durably({path: data}, mode=mode)


def write_all_durably(files: Mapping[Path, bytes], *, mode: int | None = None) -> None:
    """Replace several files, each atomically, with one fsync per folder at the end. All are durable on return."""
    folders = dict.fromkeys(path.parent for path in files)
    for folder in folders:
        make_folder(folder)
    for path, data in files.items():
        _replace(path, data, mode, durably=True)
    for folder in folders:
        with storage(folder):
            sync_folder(folder)


def replace_without_sync(path: Path, data: bytes) -> None:
    """Replace a file that can be derived again. Readers see the old or the new bytes; a power cut may lose the file."""
    _replace(path, data, None, durably=False)


def create_restorably(path: Path, data: bytes) -> None:
    """Write a new file that can be restored: after a power cut it is complete, missing or blank (`is_blank`).

    A single block is written completely or not at all. Only a larger file could be torn, so it is synced.
    """
    _replace(path, data, None, durably=len(data) > _BLOCK)


def is_blank(data: bytes) -> bool:
    """Whether a file has no content: without a sync, a power cut leaves it empty or full of zeros."""
    return not data.strip(b"\0")


def _replace(path: Path, data: bytes, mode: int | None, *, durably: bool) -> None:
    temporary = _temporary_beside(path)
    with storage(path):
        try:
            _write_new(temporary, data, mode, durably=durably)
            temporary.replace(path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise


def overwrite(path: Path, data: bytes) -> None:
    """Overwrite a file in place. Only for files that are verified when read: a crash may leave a mix of old and new."""
    with storage(path):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.truncate()


def create_exclusively(path: Path, data: bytes, *, mode: int | None = None) -> bool:
    """Create a complete file atomically; False if the name exists."""
    if os.path.lexists(path):
        return False
    make_folder(path.parent)
    temporary = _temporary_beside(path)
    with storage(path):
        try:
            _write_new(temporary, data, mode)
            # A hard link fails if the name exists, and the name never points at an incomplete file.
            os.link(temporary, path)
        except FileExistsError:
            return False
        finally:
            with suppress(OSError):
                temporary.unlink()
        sync_folder(path.parent)
    return True


_TEMPORARY = re.compile(r"\..+\.(\d+)\.[0-9a-f]{12}\.tmp")


def _temporary_beside(path: Path) -> Path:
    return path.with_name(f".{path.name[:100]}.{os.getpid()}.{os.urandom(6).hex()}.tmp")


def remove_stale_temporaries(folder: Path) -> None:
    """Remove temporary files and folders of dead Loopwright processes. Nothing refers to them."""
    for path in folder.glob(".*.tmp"):
        match = _TEMPORARY.fullmatch(path.name)
        if match is None or _is_alive(int(match[1])):
            continue
        if path.is_dir() and not path.is_symlink():
            remove_tree(path)
        else:
            path.unlink(missing_ok=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _write_new(path: Path, data: bytes, mode: int | None, *, durably: bool = True) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else mode)
    with os.fdopen(handle, "wb") as stream:
        if mode is not None:
            os.fchmod(handle, mode)
        stream.write(data)
        stream.flush()
        if durably:
            os.fsync(stream.fileno())


def sync_tree(folder: Path) -> None:
    """Make every file and every name below a folder durable."""
    with storage(folder):
        for parent, _, names in os.walk(folder):
            for name in names:
                handle = os.open(Path(parent) / name, os.O_RDONLY | os.O_NOFOLLOW)
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)
            sync_folder(Path(parent))


def set_aside(path: Path) -> Path:
    """Rename a damaged file or folder to a free name next to it. Nothing is deleted."""
    aside = _free_name(path)
    with storage(path):
        path.rename(aside)
        sync_folder(path.parent)
    return aside


def copy_aside(path: Path) -> Path:
    """Copy a damaged file to a free name next to it, before the file is repaired."""
    aside = _free_name(path)
    with storage(path):
        write_durably(aside, path.read_bytes())
    return aside


def _free_name(path: Path) -> Path:
    for number in range(1, 10_000):
        aside = path.with_name(f"{path.name}.damaged-{number}")
        if not os.path.lexists(aside):
            return aside
    raise StorageFailed(f"too many damaged copies next to {shown(path)}", hint="inspect the copies and remove some")


def remove_tree(folder: Path) -> None:
    """Remove a folder from an untrusted process. It may be locked or extremely deep. Links are never followed."""
    with storage(folder):
        if folder.is_symlink():
            folder.unlink()
        elif folder.exists():
            try:
                shutil.rmtree(folder)
            except (OSError, RecursionError):
                _flatten(folder)


def restore_access(folder: Path) -> None:
    """Restore access to a Loopwright folder if an untrusted process took it away."""
    with storage(folder):
        if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            folder.chmod(0o700)


def clear_path(path: Path) -> None:
    """Remove anything that an untrusted process put at a path that is about to be written. Links are not followed."""
    restore_access(path.parent)
    with storage(path):
        if path.is_dir() and not path.is_symlink():
            remove_tree(path)
        else:
            path.unlink(missing_ok=True)


def _flatten(folder: Path) -> None:
    """Remove a tree level by level by moving inner folders up: no recursion, and paths stay short."""
    folder.chmod(0o700)
    while entries := list(os.scandir(folder)):
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                _move_up(Path(entry.path))
            else:
                os.unlink(entry.path)  # noqa: PTH108 -- names of any bytes
    folder.rmdir()


def _move_up(folder: Path) -> None:
    """Move everything in this folder to the folder above, under new names, and remove this folder."""
    folder.chmod(0o700)
    for entry in list(os.scandir(folder)):
        if entry.is_dir(follow_symlinks=False):
            os.chmod(entry.path, 0o700)  # noqa: PTH101 -- names of any bytes
        Path(entry.path).rename(folder.with_name(f".removing-{os.urandom(12).hex()}"))
    folder.rmdir()
