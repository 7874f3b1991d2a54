"""One entry of a journal."""

from __future__ import annotations

import msgspec

from loopwright.kernel.digest import digest_of

START = "0" * 64


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fact: its sequence number, time, kind and data, and the digest of the previous entry."""

    seq: int
    at: str
    kind: str
    data: dict[str, str]
    previous: str
    digest: str


def make_entry(seq: int, at: str, kind: str, data: dict[str, str], previous: str) -> Entry:
    """An entry with its digest."""
    return Entry(seq, at, kind, data, previous, entry_digest(seq, at, kind, data, previous))


def entry_digest(seq: int, at: str, kind: str, data: dict[str, str], previous: str) -> str:
    """The digest that such an entry must have."""
    return digest_of([seq, at, kind, data, previous])
