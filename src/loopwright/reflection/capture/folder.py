"""The bytes of captured reflections: files that are there whole or not at all, and a report that is merged once."""

from __future__ import annotations

import errno
import json
import os
import stat

from loopwright.reflection.capture import session
from loopwright.reflection.capture.lock import is_alive
from loopwright.workspace import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MERGED = ".merged"
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)


def make_workspace_folder(root: str, flavour: str) -> None:
    """The layout's reflections folder; the first write of a workspace records the choice of layout."""
    own = os.path.join(root, names.OWN_FOLDER)
    os.makedirs(own, exist_ok=True)
    create(os.path.join(root, names.CONFIG), names.config_text(flavour).encode())
    create(os.path.join(own, ".gitignore"), names.OWN_RULES.encode())
    home = os.path.join(root, names.reflection_home(flavour))
    for folder in (home, os.path.join(home, "reflections")):
        # A link that came with a repository would make us write wherever it points.
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
    temporary = os.path.join(folder, f".{name[:100]}.{os.getpid()}.tmp")
    data = json.dumps(record, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NOFOLLOW, 0o644)
    try:
        try:
            _write_all(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)
        os.rename(temporary, os.path.join(folder, name))
    except BaseException:
        os.unlink(temporary)
        raise
    _sync_folder(folder)


def read_bounded(path: str, most: int, *, follow: bool) -> bytes | None:
    """A regular file's bytes; None where there is none, or one that is too large or something else."""
    try:
        handle = os.open(path, os.O_RDONLY | _NONBLOCK | (0 if follow else _NOFOLLOW))
    except OSError:
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


def claim_report(folder: str, data: bytes, name: str) -> bool:
    """Whether this report is new, and goes into the record of this name: who marks its digest first merges it."""
    marks = os.path.join(folder, _MERGED)
    os.makedirs(marks, exist_ok=True)
    mark = os.path.join(marks, session.sha256(data))
    if create(mark, f"{os.getpid()} {name}\n".encode()):
        return True
    # Marked by a hook that died before its record was there: nobody has merged it.
    pid, _, record = (read_bounded(mark, 4096, follow=False) or b"").decode("utf-8", "replace").strip().partition(" ")
    if is_alive(pid) or (record and os.path.exists(os.path.join(folder, record))):
        return False
    os.unlink(mark)
    return create(mark, f"{os.getpid()} {name}\n".encode())


def create(path: str, data: bytes) -> bool:
    """Create a file that is there whole or not at all; False when the name is taken."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NOFOLLOW, 0o644)
        try:
            _write_all(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)
        os.link(temporary, path)
    except FileExistsError:
        return False
    finally:
        try:
            os.unlink(temporary)
        except OSError:
            pass
    return True


def _write_all(handle: int, data: bytes) -> None:
    at = 0
    while at < len(data):
        at += os.write(handle, data[at:])


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
