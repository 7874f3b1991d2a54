"""The end of a loop's log in one small file: with it a loop is known without reading its history."""

from __future__ import annotations

import msgspec

from loopwright.kernel import codec
from loopwright.loop.model import Loop

VERSION = 1


class Head(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the log comes to: how long it is, its last line's digest, and the state file that was written for it."""

    version: int
    log_bytes: int
    last_line: str
    state_sha256: str
    loop: Loop


class _Versioned(msgspec.Struct, frozen=True):
    version: int


def encode_head(head: Head) -> bytes:
    """Its bytes."""
    return codec.to_json_line(head)


def decode_head(data: bytes) -> Head | None:
    """The head, or None when these bytes are none of this version: the log says all that it would say."""
    try:
        if codec.from_json(data, _Versioned).version != VERSION:
            return None
        return codec.from_json(data, Head)
    except codec.Undecodable:
        return None
