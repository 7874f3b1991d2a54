"""The files inside archives and compressed files, so that a secret in them is found like any other.

Reads zip (also jar, whl and office files), gzip, bzip2 and xz, also within each other; a tar file needs no reading,
because it stores its members as they are. Reads local headers of a zip only: a truncated archive, or one with a false
directory, gives its members all the same. Unpacks a bounded amount.
"""

from __future__ import annotations

import bz2
import lzma
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Protocol

_ZIP_HEADER = b"PK\x03\x04"
_ZIP_MARK = b"PK"
# After the signature: version, flags, method, time, date, checksum, packed size, size, lengths of name and extra field.
_FIELDS = struct.Struct("<HHHHHIIIHH")
_STORED = 0
_RAW_DEFLATE, _GZIP = -15, 31
_MOST_UNPACKED = 64 << 20
_MOST_DEPTH = 4
_CHUNK = 64 << 10
# Before an LZMA member: version, length of the properties, the three parameters in one byte, size of the dictionary.
_LZMA_FIELDS = struct.Struct("<HHBI")
_MOST_DICTIONARY = 64 << 20
_MOST_MEMORY = 128 << 20


class _Unpacker(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: memoryview, limit: int, /) -> bytes: ...


_UNPACKERS: dict[bytes, tuple[str, Callable[[], _Unpacker]]] = {
    b"\x1f\x8b\x08": ("gzip", lambda: zlib.decompressobj(_GZIP)),
    b"BZh": ("bzip2", bz2.BZ2Decompressor),
    b"\xfd7zXZ\x00": ("xz", lambda: lzma.LZMADecompressor(memlimit=_MOST_MEMORY)),
}


class _Budget:
    """How many bytes may still be unpacked."""

    def __init__(self, left: int) -> None:
        self.left = left


def members(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The name and content of each member of an archive; nothing if the data is no archive."""
    return _members(data, _Budget(_MOST_UNPACKED), _MOST_DEPTH)


def _members(data: bytes, budget: _Budget, depth: int) -> Iterator[tuple[str, bytes]]:
    for name, content in _packed(data, budget):
        budget.left -= len(content)
        yield name, content
        if depth > 1:
            yield from ((f"{name}!{inner}", found) for inner, found in _members(content, budget, depth - 1))


def _packed(data: bytes, budget: _Budget) -> Iterator[tuple[str, bytes]]:
    for start, (name, unpacker) in _UNPACKERS.items():
        if data.startswith(start):
            yield name, _all_streams(data, unpacker, budget.left)
    at = data.find(_ZIP_HEADER)
    while at >= 0 and budget.left > 0:
        found = _member(data, at, budget.left)
        if found is not None:
            yield found
        at = data.find(_ZIP_HEADER, at + len(_ZIP_HEADER))


def _member(data: bytes, start: int, limit: int) -> tuple[str, bytes] | None:
    at = start + len(_ZIP_HEADER)
    if len(data) < at + _FIELDS.size:
        return None
    _, _, method, _, _, _, packed_size, _, name_length, extra_length = _FIELDS.unpack_from(data, at)
    name_at = at + _FIELDS.size
    content_at = name_at + name_length + extra_length
    name = data[name_at : name_at + name_length].decode("utf-8", "backslashreplace")
    if method == _STORED:
        return name, data[content_at : _end_of_stored(data, content_at, packed_size)][:limit]
    content = memoryview(data)[content_at:]
    match method:
        case 8:  # deflate
            return name, _stream(content, zlib.decompressobj(_RAW_DEFLATE), limit)[0]
        case 12:  # bzip2
            return name, _stream(content, bz2.BZ2Decompressor(), limit)[0]
        case 14:  # LZMA
            return name, _lzma(content, limit)
        case _:
            return None


def _end_of_stored(data: bytes, content_at: int, packed_size: int) -> int:
    """The end of a stored member. A streamed archive gives no size in the header; the next record ends the member."""
    if packed_size:
        return content_at + packed_size
    next_record = data.find(_ZIP_MARK, content_at)
    return next_record if next_record >= 0 else len(data)


def _lzma(content: memoryview, limit: int) -> bytes:
    """What can be unpacked of an LZMA member, unless it wants too much memory."""
    if len(content) < _LZMA_FIELDS.size:
        return b""
    _, length, parameters, dictionary = _LZMA_FIELDS.unpack_from(content)
    if length != _LZMA_FIELDS.size - 4 or dictionary > _MOST_DICTIONARY:
        return b""
    rest, lc = divmod(parameters, 9)
    pb, lp = divmod(rest, 5)
    try:
        filters = [{"id": lzma.FILTER_LZMA1, "lc": lc, "lp": lp, "pb": pb, "dict_size": dictionary}]
        unpacker = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=filters)
    except (lzma.LZMAError, ValueError):
        return b""
    return _stream(content[_LZMA_FIELDS.size :], unpacker, limit)[0]


def _all_streams(data: bytes, unpacker: Callable[[], _Unpacker], limit: int) -> bytes:
    """What can be unpacked of a file, which may consist of several streams."""
    out: list[bytes] = []
    rest = memoryview(data)
    while rest and limit > 0:
        content, rest = _stream(rest, unpacker(), limit)
        out.append(content)
        limit -= len(content)
    return b"".join(out)


def _stream(data: memoryview, unpacker: _Unpacker, limit: int) -> tuple[bytes, memoryview]:
    """What can be unpacked of a stream, up to the limit, and the data after the stream."""
    out: list[bytes] = []
    for at in range(0, len(data), _CHUNK):
        chunk = data[at : at + _CHUNK]
        try:
            out.append(unpacker.decompress(chunk, limit))
        except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError):
            break  # the rest is damaged
        limit -= len(out[-1])
        if unpacker.eof:
            return b"".join(out), data[at + len(chunk) - len(unpacker.unused_data) :]
        if limit <= 0:
            break
    return b"".join(out), data[len(data) :]
