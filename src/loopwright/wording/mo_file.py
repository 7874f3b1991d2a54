"""Reads gettext's compiled catalogue as a table. The standard module keeps its own table to itself."""

from __future__ import annotations

import struct

_MAGIC = 0x950412DE
_LITTLE, _BIG = "<", ">"


class NotACatalogue(ValueError):
    """Bytes that gettext did not compile."""


def read_mo(path: str) -> dict[str, str]:
    """English to the other language, without the head of the file."""
    with open(path, "rb") as file:
        data = file.read()
    for order in (_LITTLE, _BIG):
        if len(data) >= 20 and struct.unpack_from(f"{order}I", data)[0] == _MAGIC:
            _, _, count, english, other = struct.unpack_from(f"{order}5I", data)
            pairs = (
                (_text(data, order, english + 8 * number), _text(data, order, other + 8 * number))
                for number in range(count)
            )
            return {before: after for before, after in pairs if before}
    raise NotACatalogue(path)


def _text(data: bytes, order: str, at: int) -> str:
    length, start = struct.unpack_from(f"{order}2I", data, at)
    return data[start : start + length].decode()
