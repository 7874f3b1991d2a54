"""Moves a git index to a copy of its work tree.

Entries that are known to be unchanged get the copy's file times, so that git need not read and hash every
file again. Reads index versions 2 and 3, writes 2.
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


def restat(index: Path, work_tree: Path, unchanged: Callable[[bytes], bool], object_format: str) -> None:
    """Rewrite the index for `work_tree`; entries that are not there, or may differ, are left to git."""
    digest = hashlib.sha256 if object_format == "sha256" else hashlib.sha1
    size = digest().digest_size
    data = index.read_bytes()
    signature, version, count = struct.unpack_from(">4sII", data)
    if signature != b"DIRC" or version not in (2, 3):
        raise ValueError(f"index version {version}")
    root = os.fsencode(work_tree) + b"/"
    entries: list[bytes] = []
    at = 12
    for _ in range(count):
        name_at = at + 40 + size + 2
        (flags,) = struct.unpack_from(">H", data, name_at - 2)
        # A user may have told git not to look at a file; in a copy it must look, so that promise is dropped.
        hidden = bool(flags & _ASSUME_VALID)
        end_of_flags = name_at
        if flags & _EXTENDED:
            hidden = True
            name_at += 2
        name_end = data.index(b"\0", name_at)
        path = data[name_at:name_end]
        plain = struct.pack(">H", flags & ~(_ASSUME_VALID | _EXTENDED))
        entry = data[at : end_of_flags - 2] + plain + path
        at += (name_end - at) // 8 * 8 + 8
        entries.append(_padded(_moved(entry, root + path) if not hidden and unchanged(path) else _unknown(entry)))
    body = struct.pack(">4sII", b"DIRC", 2, count) + b"".join(entries)
    index.write_bytes(body + digest(body).digest())


def _moved(entry: bytes, path: bytes) -> bytes:
    try:
        now = os.lstat(path)
    except OSError:
        return _unknown(entry)
    known = _STAT.unpack_from(entry)
    if now.st_size & 0xFFFFFFFF != known[9]:
        return _unknown(entry)
    seconds = 1_000_000_000
    fields = (
        now.st_ctime_ns // seconds, now.st_ctime_ns % seconds, now.st_mtime_ns // seconds,
        now.st_mtime_ns % seconds, now.st_dev, now.st_ino, known[6], now.st_uid, now.st_gid, known[9],
    )  # fmt: skip
    return _STAT.pack(*(field & 0xFFFFFFFF for field in fields)) + entry[40:]


def _unknown(entry: bytes) -> bytes:
    """No times at all: git has to look at the file itself."""
    mode = _STAT.unpack_from(entry)[6]
    return _STAT.pack(0, 0, 0, 0, 0, 0, mode, 0, 0, 0) + entry[40:]


def _padded(entry: bytes) -> bytes:
    return entry + b"\0" * (8 - len(entry) % 8)
