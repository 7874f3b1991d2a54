"""The bytes of captured reflections: files that are there whole or not at all, and a report that is merged once."""

from __future__ import annotations

import errno
import json
import os
import stat

from loopwright.reflection.capture import session
from loopwright.reflection.capture.lock import flock
from loopwright.workspace import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_MERGED = ".merged"
_DONE = b"done\n"
_WAIT_S = 2.0
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)


def make_workspace_folder(root: str, flavour: str) -> None:
    """The layout's reflections folder; the first write of a workspace records the choice of layout."""
    own = os.path.join(root, names.OWN_FOLDER)
    home = os.path.join(root, names.reflection_home(flavour))
    for folder in (own, home, os.path.join(home, "reflections")):
        make_plain_folder(folder)
    for path, text in (
        (os.path.join(root, names.CONFIG), names.config_text(flavour)),
        (os.path.join(own, ".gitignore"), names.OWN_RULES),
    ):
        if not os.path.lexists(path):
            create(path, text.encode())


def make_plain_folder(folder: str) -> None:
    """A folder of ours; a link that came with a repository would make us write wherever it points."""
    if os.path.islink(folder):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), folder)
    os.makedirs(folder, exist_ok=True)


def free_name(folder: str, safe_session: str, moment_ms: int, point: str | None) -> str:
    """A name that no record has: two of one millisecond get two names."""
    while True:
        name = session.file_name(safe_session, moment_ms, point)
        if not os.path.lexists(os.path.join(folder, name)):
            return name
        moment_ms += 1


def write_record(folder: str, name: str, record: dict[str, Any]) -> None:
    """Write to a temporary file, fsync, rename."""
    _replace(
        os.path.join(folder, name), json.dumps(record, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n"
    )
    _sync_folder(folder)


def read_bounded(path: str, most: int, *, follow: bool) -> bytes | None:
    """A regular file's bytes; None where there is none, or one that is too large or something else."""
    try:
        handle = os.open(path, os.O_RDONLY | _NONBLOCK | _BINARY | (0 if follow else _NOFOLLOW))
    except (OSError, ValueError):
        return None
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size > most:
            return None
        data = b""
        while len(data) <= most and (piece := os.read(handle, 1 << 16)):
            data += piece
    except OSError:
        return None
    finally:
        os.close(handle)
    return data if len(data) <= most else None


def merged_once(folder: str, data: bytes, name: str, write: Callable[[bool], None]) -> None:
    """Call `write` with whether this report is new, and note that it is merged when that is done.

    The lock is held meanwhile: whoever finds a report that is only begun knows that its writer died.
    """
    marks = os.path.join(folder, _MERGED)
    make_plain_folder(marks)
    mark = os.path.join(marks, session.sha256(data))
    lock = os.open(os.path.join(marks, ".lock"), os.O_RDWR | os.O_CREAT | _NOFOLLOW, 0o600)
    try:
        if not flock(lock, wait_s=_WAIT_S):
            write(False)
            return
        said = read_bounded(mark, 4096, follow=False)
        begun = (said or b"").decode("utf-8", "replace").strip()
        is_new = said is None or (said != _DONE and not (begun and os.path.exists(os.path.join(folder, begun))))
        if is_new:
            _replace(mark, f"{name}\n".encode())
        write(is_new)
        if said != _DONE:
            _replace(mark, _DONE)
    finally:
        os.close(lock)


def create(path: str, data: bytes) -> bool:
    """Create a file that is there whole or not at all; False when the name is taken."""
    temporary = _temporary(path)
    try:
        _write_new(temporary, data)
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        except OSError:
            # A file system without hard links: the name is taken exclusively, and filled at once.
            return _create_in_place(path, data)
        return True
    finally:
        _remove(temporary)


def _create_in_place(path: str, data: bytes) -> bool:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _BINARY, 0o644)
    except FileExistsError:
        return False
    try:
        _write_all(handle, data)
        os.fsync(handle)
    finally:
        os.close(handle)
    return True


def _replace(path: str, data: bytes) -> None:
    temporary = _temporary(path)
    try:
        _write_new(temporary, data)
        os.replace(temporary, path)
    except BaseException:
        _remove(temporary)
        raise


def _temporary(path: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name[:100]}.{os.getpid()}.tmp")


def _write_new(path: str, data: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NOFOLLOW | _BINARY, 0o644)
    try:
        _write_all(handle, data)
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_all(handle: int, data: bytes) -> None:
    at = 0
    while at < len(data):
        at += os.write(handle, data[at:])


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


def _sync_folder(folder: str) -> None:
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return  # not every system can open a folder
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
