"""Reads a compiled gettext catalogue into a table. Python's own module does not expose its table."""

from __future__ import annotations

import struct

_MAGIC = 0x950412DE
_LITTLE, _BIG = "<", ">"


class InvalidCatalogue(ValueError):
    """The file is not a compiled gettext catalogue."""


def read_mo(path: str) -> dict[str, str]:
    """A table from English to the other language, without the catalogue's header entry."""
    with open(path, "rb") as file:
        data = file.read()
    for order in (_LITTLE, _BIG):
        if len(data) >= 20 and struct.unpack_from(f"{order}I", data)[0] == _MAGIC:
            _, _, count, english, other = struct.unpack_from(f"{order}5I", data)
            pairs = (
                (_text(data, order, english + 8 * number), _text(data, order, other + 8 * number))
                for number in range(count)
            )
            return {message: translation for message, translation in pairs if message}
    raise InvalidCatalogue(path)


def _text(data: bytes, order: str, offset: int) -> str:
    length, start = struct.unpack_from(f"{order}2I", data, offset)
    return data[start : start + length].decode()
