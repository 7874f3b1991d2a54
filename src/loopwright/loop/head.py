"""The end of a loop's log in one small file: with it a loop is known without reading its history."""

from __future__ import annotations

import msgspec

from loopwright.kernel import codec
from loopwright.kernel.digest import sha256
from loopwright.loop.model import Loop

VERSION = 1


class LogHead(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the log comes to: how long it is, its last line's digest, and the state file that was written for it."""

    version: int
    log_bytes: int
    last_line: str
    state_sha256: str
    loop: Loop


class _Versioned(msgspec.Struct, frozen=True):
    version: int


def encode_head(head: LogHead) -> bytes:
    """Its bytes: a digest first, because it is written in place and a crash may leave it half old."""
    body = codec.to_json_line(head)
    return sha256(body).encode() + b"\n" + body


def decode_head(data: bytes) -> LogHead | None:
    """The head, or None when these bytes are none of this version: the log says all that it would say."""
    digest, _, data = data.partition(b"\n")
    if digest.decode("ascii", "replace") != sha256(data):
        return None
    try:
        if codec.from_json(data, _Versioned).version != VERSION:
            return None
        return codec.from_json(data, LogHead)
    except codec.Undecodable:
        return None
