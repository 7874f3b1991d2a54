"""File names for a session in the reflections folder; safe for any session id."""

from __future__ import annotations

import os
import time

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
