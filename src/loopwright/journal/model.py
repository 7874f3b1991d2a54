"""One entry of a journal."""

from __future__ import annotations

import msgspec

from loopwright.kernel.digest import digest_of

START = "0" * 64


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fact: its place, what kind, its data, and the digest of the entry before it."""

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
    """What the digest of such an entry must be."""
    return digest_of([seq, at, kind, data, previous])
