"""Writes reflections atomically, under names that are safe for any session id, and merges each self-report once."""

from __future__ import annotations

import errno
import json
import os
import stat
import time

from loopwright.reflection.capture.lock import flock, remove_if_possible
from loopwright.workspace import names
from loopwright.workspace.names import make_own_folder

# `typing` would cost the hook more than its own work does.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


SUFFIX = ".reflection.json"
CAPTURE_SUFFIX = ".capture.json"
UNKNOWN = "unknown"
_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_LONGEST = 64
_COMPACT_LENGTH = len("20260101T000000.000Z")


def safe_name(session: str) -> str:
    """The session's id as part of a file name; a changed id gets a digest to stay unique."""
    if session and len(session) <= _LONGEST and _SAFE.issuperset(session) and session[0] not in ".-":
        return session
    kept = "".join(character if character in _SAFE else "-" for character in session[:_LONGEST]).strip(".-")
    digest = sha256(session.encode("utf-8", "surrogatepass"))[:10]
    return f"{kept[: _LONGEST - 11] or 'session'}-{digest}"


def sha256(data: bytes) -> str:
    """The digest of bytes. Loads hashlib only when needed: it takes a tenth of the hook's time."""
    digest: str = __import__("hashlib").sha256(data).hexdigest()
    return digest


def iso(moment_ms: int) -> str:
    """A time as ISO 8601 in UTC with milliseconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment_ms // 1000)) + f".{moment_ms % 1000:03d}Z"


def compact(moment_ms: int) -> str:
    """A time for a file name: sorts by time, and is valid on every system."""
    return time.strftime("%Y%m%dT%H%M%S", time.gmtime(moment_ms // 1000)) + f".{moment_ms % 1000:03d}Z"


def file_name(session: str, moment_ms: int, point: str | None) -> str:
    """`<session>-<time>.reflection.json`, or `<session>-<time>.<point>.capture.json`."""
    ending = SUFFIX if point is None else f".{point}{CAPTURE_SUFFIX}"
    return f"{session}-{compact(moment_ms)}{ending}"


def attempts_so_far(folder: str, session: str) -> int:
    """How many sidecars this session has written."""
    length = len(session) + 1 + _COMPACT_LENGTH + len(SUFFIX)
    try:
        names = os.listdir(folder)
    except OSError:
        return 0
    return sum(len(name) == length and name.startswith(session) and name.endswith(SUFFIX) for name in names)


_MERGED = ".merged"
_DONE = b"done\n"
_WAIT_S = 2.0
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)


def make_workspace_folder(root: str, flavour: str) -> None:
    """Create the layout's reflections folder. The first write to a workspace records the layout."""
    own = os.path.join(root, names.OWN_FOLDER)
    make_own_folder(root, flavour)
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
    """Create a folder; refuse a link, which could come with a repository and redirect writes."""
    if os.path.islink(folder):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), folder)
    os.makedirs(folder, exist_ok=True)


def free_name(folder: str, safe_session: str, moment_ms: int, point: str | None) -> str:
    """A file name that no record uses; two records in one millisecond get different names."""
    while True:
        name = file_name(safe_session, moment_ms, point)
        if not os.path.lexists(os.path.join(folder, name)):
            return name
        moment_ms += 1


def write_record(folder: str, name: str, record: dict[str, Any]) -> None:
    """Write the record to a temporary file, fsync, rename."""
    _replace(
        os.path.join(folder, name), json.dumps(record, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n"
    )
    _sync_folder(folder)


def read_bounded(path: str, most: int, *, follow: bool) -> bytes | None:
    """A regular file's bytes; None if the file is missing, too large, or not regular."""
    try:
        handle = os.open(path, os.O_RDONLY | _NONBLOCK | _BINARY | (0 if follow else _NOFOLLOW))
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > most:
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
    """Call `write` with whether this report is new, then mark the report as merged.

    The lock is held meanwhile, so an unfinished mark means that its writer died.
    """
    marks = os.path.join(folder, _MERGED)
    make_plain_folder(marks)
    mark = os.path.join(marks, sha256(data))
    lock = os.open(os.path.join(marks, ".lock"), os.O_RDWR | os.O_CREAT | _NOFOLLOW, 0o600)
    try:
        if not flock(lock, wait_s=_WAIT_S):
            write(False)
            return
        content = read_bounded(mark, 4096, follow=False)
        started = (content or b"").decode("utf-8", "replace").strip()
        is_new = content is None or (
            content != _DONE and not (started and os.path.exists(os.path.join(folder, started)))
        )
        if is_new:
            _replace(mark, f"{name}\n".encode())
        write(is_new)
        if content != _DONE:
            _replace(mark, _DONE)
    finally:
        os.close(lock)


def create(path: str, data: bytes) -> None:
    """Create a complete file atomically; an existing file stays unchanged."""
    temporary = _temporary(path)
    try:
        _write(temporary, data, os.O_TRUNC)
        try:
            os.link(temporary, path)
        except FileExistsError:
            raise
        except OSError:
            # A file system without hard links: create the name exclusively and fill it at once.
            _write(path, data, os.O_EXCL)
    except FileExistsError:
        pass
    finally:
        remove_if_possible(temporary)


def _replace(path: str, data: bytes) -> None:
    temporary = _temporary(path)
    try:
        _write(temporary, data, os.O_TRUNC)
        os.replace(temporary, path)
    except BaseException:
        remove_if_possible(temporary)
        raise


def _temporary(path: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name[:100]}.{os.getpid()}.tmp")


def _write(path: str, data: bytes, flag: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | flag | _NOFOLLOW | _BINARY, 0o644)
    try:
        written = 0
        while written < len(data):
            written += os.write(handle, data[written:])
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_folder(folder: str) -> None:
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return  # some systems can't open a folder
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
