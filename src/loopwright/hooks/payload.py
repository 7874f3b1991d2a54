"""Reads the payload that a harness writes to standard input. Limited in bytes and time, because it may never end."""

from __future__ import annotations

import json
import os
import select
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST_BYTES = 16 << 20
_CHUNK = 1 << 16
_ENDS = (b"}", b"}\n", b"}\r\n")


class Payload:
    """The required fields, and whether the payload was valid."""

    __slots__ = ("cwd", "event", "is_kept_going", "is_sound", "session")

    def __init__(self, session: str, cwd: str, *, is_sound: bool, event: str = "", is_kept_going: bool = False) -> None:
        self.session = session
        self.cwd = cwd
        self.is_sound = is_sound
        self.event = event
        # A hook already told this session to continue.
        self.is_kept_going = is_kept_going


def read_payload(handle: int, within_s: float) -> Payload:
    """Read and parse the payload, at most `within_s` seconds."""
    data = bytearray()
    until = time.monotonic() + within_s
    document: Any = None
    while len(data) < _MOST_BYTES and _is_ready(handle, until):
        try:
            piece = os.read(handle, _CHUNK)
        except OSError:
            break  # standard input may be closed
        if not piece:
            break
        data += piece
        # Some harnesses keep the pipe open: stop reading when the payload is complete.
        if data.endswith(_ENDS) and (document := _parsed(data)) is not None:
            break
    if document is None:
        document = _parsed(data)
    if isinstance(document, dict):
        return Payload(
            _field(document, "session_id"),
            _field(document, "cwd"),
            is_sound=True,
            event=_field(document, "hook_event_name"),
            is_kept_going=document.get("stop_hook_active") not in (None, False),
        )
    return Payload(_salvaged(data, "session_id"), _salvaged(data, "cwd"), is_sound=False)


def _is_ready(handle: int, until: float) -> bool:
    left = until - time.monotonic()
    if left <= 0:
        return False
    try:
        return bool(select.select([handle], [], [], left)[0])
    except (OSError, ValueError):
        return True  # the system can't wait for this kind of file: read it


def _parsed(data: bytearray) -> Any:
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _field(document: dict[str, Any], name: str) -> str:
    value = document.get(name)
    return value if isinstance(value, str) else ""


def _salvaged(data: bytearray, name: str) -> str:
    """A text field of a truncated or invalid payload. Inside another text its quotes would be escaped."""
    _, found, rest = data[:_CHUNK].partition(f'"{name}"'.encode())
    text = rest.decode("utf-8", "replace").lstrip()
    if not found or not text.startswith(":"):
        return ""
    try:
        value, _ = json.JSONDecoder().raw_decode(text[1:].lstrip())
    except (ValueError, RecursionError):
        return ""
    return value if isinstance(value, str) else ""
