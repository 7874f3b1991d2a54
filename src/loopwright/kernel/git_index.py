"""Rewrites git's index so that git does not read every file again.

Git trusts file times by the second, so it reads and hashes files that were written in the index's second again.
Loopwright compares nanoseconds and knows when no process can write. Reads versions 2 and 3, writes version 2.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Callable
from pathlib import Path

_STAT = struct.Struct(">10I")
_ASSUME_VALID = 0x8000
_EXTENDED = 0x4000
_SECOND = 1_000_000_000
# The clock of file times ticks every few milliseconds.
_TICK_NS = 20_000_000
_Known = tuple[int, ...]
_Restat = Callable[[bytes, _Known], _Known | None]


def move(index: Path, work_tree: Path, unchanged: Callable[[bytes], bool], object_format: str) -> None:
    """Rewrite an index for a copy of its work tree: unchanged entries get the copy's times."""
    root = os.fsencode(work_tree) + b"/"

    def restat(path: bytes, known: _Known) -> _Known | None:
        now = _times(root + path)
        return now if now is not None and now[9] == known[9] and unchanged(path) else None

    _rewrite(index, restat, object_format)


def trust_unchanged_files(index: Path, work_tree: Path, object_format: str) -> None:
    """Let git skip files of the index's own second that did not change. Call this only while no process writes."""
    root = os.fsencode(work_tree) + b"/"
    written = index.stat().st_mtime_ns - _TICK_NS

    def restat(path: bytes, known: _Known) -> _Known | None:
        now = _times(root + path)
        same = now is not None and now[:6] == known[:6] and now[9] == known[9]
        return known if same and known[0] * _SECOND + known[1] < written else None

    _rewrite(index, restat, object_format)
    # Every entry that keeps its times is older than this, so git trusts the entry.
    future = index.stat().st_mtime_ns + 2 * _SECOND
    os.utime(index, ns=(future, future))


def may_contain(index: Path, *markers: bytes) -> bool:
    """Whether these bytes may be in a path or a mode of the index; only False is certain. Starts no process."""
    try:
        data = index.read_bytes()
    except OSError:
        return True
    # Version 4 shortens paths, and an index in two parts has some of them elsewhere.
    is_plain = data[:4] == b"DIRC" and data[4:8] in (b"\0\0\0\2", b"\0\0\0\3")
    return not is_plain or any(marker in data for marker in (*markers, b"link\0", b"sdir\0"))


def _rewrite(index: Path, restat: _Restat, object_format: str) -> None:
    """Give each entry the times from `restat`, or zeros, which make git read the file."""
    digest = hashlib.sha256 if object_format == "sha256" else hashlib.sha1
    size = digest().digest_size
    data = index.read_bytes()
    signature, version, count = struct.unpack_from(">4sII", data)
    if signature != b"DIRC" or version not in (2, 3):
        raise ValueError(f"index version {version}")
    entries: list[bytes] = []
    offset = 12
    for _ in range(count):
        flags_at = offset + 40 + size
        (flags,) = struct.unpack_from(">H", data, flags_at)
        name_at = flags_at + (4 if flags & _EXTENDED else 2)
        name_end = data.index(b"\0", name_at)
        path = data[name_at:name_end]
        known = _STAT.unpack_from(data, offset)
        # A user may have told git to skip a file. Here git must look, so those flags are dropped.
        hidden = flags & (_ASSUME_VALID | _EXTENDED)
        times = (None if hidden else restat(path, known)) or (0,) * 10
        entry = _STAT.pack(*times[:6], known[6], *times[7:]) + data[offset + 40 : flags_at]
        entry += struct.pack(">H", flags & ~(_ASSUME_VALID | _EXTENDED)) + path
        entries.append(entry + b"\0" * (8 - len(entry) % 8))
        offset += (name_end - offset) // 8 * 8 + 8
    # The data after the entries (git's cache of trees) depends on names and contents, which do not change.
    body = struct.pack(">4sII", b"DIRC", 2, count) + b"".join(entries) + _tree_cache(data[offset:-size])
    index.write_bytes(body + digest(body).digest())


def _tree_cache(extensions: bytes) -> bytes:
    """Only the cache of trees, so that git does not build the trees again; other extensions are dropped."""
    offset = 0
    while offset + 8 <= len(extensions):
        name, length = struct.unpack_from(">4sI", extensions, offset)
        if name == b"TREE":
            return extensions[offset : offset + 8 + length]
        offset += 8 + length
    return b""


def _times(path: bytes) -> _Known | None:
    try:
        now = os.lstat(path)
    except OSError:
        return None
    fields = (
        now.st_ctime_ns // _SECOND, now.st_ctime_ns % _SECOND, now.st_mtime_ns // _SECOND, now.st_mtime_ns % _SECOND,
        now.st_dev, now.st_ino, now.st_mode, now.st_uid, now.st_gid, now.st_size,
    )  # fmt: skip
    return tuple(field & 0xFFFFFFFF for field in fields)
