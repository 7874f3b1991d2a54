"""Names of what a session leaves in the reflections folder: safe, whatever the session calls itself."""

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
    """The session's id as part of a file name; an id that had to be changed keeps its own name by a digest."""
    if session and len(session) <= _LONGEST and _SAFE.issuperset(session) and session[0] not in ".-":
        return session
    kept = "".join(character if character in _SAFE else "-" for character in session[:_LONGEST]).strip(".-")
    digest = sha256(session.encode("utf-8", "surrogatepass"))[:10]
    return f"{kept[: _LONGEST - 11] or 'session'}-{digest}"


def sha256(data: bytes) -> str:
    """Its library is loaded when it is needed: most turns need none, and it costs a tenth of the hook's time."""
    digest: str = __import__("hashlib").sha256(data).hexdigest()
    return digest


def iso(moment_ms: int) -> str:
    """A moment as ISO-8601 in UTC with milliseconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment_ms // 1000)) + f".{moment_ms % 1000:03d}Z"


def compact(moment_ms: int) -> str:
    """The same for a file name: sorts by time, and every system takes it."""
    return time.strftime("%Y%m%dT%H%M%S", time.gmtime(moment_ms // 1000)) + f".{moment_ms % 1000:03d}Z"


def file_name(session: str, moment_ms: int, point: str | None) -> str:
    """`<session>-<time>.reflection.json`, or `<session>-<time>.<point>.capture.json`."""
    ending = SUFFIX if point is None else f".{point}{CAPTURE_SUFFIX}"
    return f"{session}-{compact(moment_ms)}{ending}"


def attempts_so_far(folder: str, session: str) -> int:
    """How many sidecars this session has left already."""
    length = len(session) + 1 + _COMPACT_LENGTH + len(SUFFIX)
    try:
        names = os.listdir(folder)
    except OSError:
        return 0
    return sum(len(name) == length and name.startswith(session) and name.endswith(SUFFIX) for name in names)
