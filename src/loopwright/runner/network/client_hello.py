"""The server name in the first message of a TLS connection (ClientHello, RFC 8446 section 4.1.2). Opens no connection.

A front server of a large provider serves many customers at one address, and the server name chooses among them.
"""

from __future__ import annotations

from collections.abc import Callable

# The next `count` bytes of the client, exactly.
Read = Callable[[int], bytes]

HANDSHAKE = b"\x16"
_CLIENT_HELLO = 1
_LONGEST_RECORD = 1 << 14
_LONGEST_HELLO = 1 << 14
_SERVER_NAME = 0
_HOST_NAME = 0
_ENCRYPTED_HELLO = 0xFE0D


def read_server_name(read: Read) -> str:
    """The one server name that a TLS client asks for; ValueError if it is missing, hidden or ambiguous."""
    extensions = _extensions(_Fields(_read_hello(read)))
    if _ENCRYPTED_HELLO in extensions:
        raise ValueError("an encrypted server name")
    if _SERVER_NAME not in extensions:
        raise ValueError("no server name")
    names = _Fields(_Fields(extensions[_SERVER_NAME]).last_block(2))
    if names.number(1) != _HOST_NAME:
        raise ValueError("a server name of an unknown type")
    return names.last_block(2).decode("ascii")


def _read_hello(read: Read) -> bytes:
    """The message behind its type and length. Clients may spread it over several records."""
    message = b""
    while len(message) < 4 or len(message) < _length_of(message):
        kind, major, _, *size = read(5)
        length = int.from_bytes(bytes(size))
        if kind != HANDSHAKE[0] or major != 3 or not 0 < length <= _LONGEST_RECORD:
            raise ValueError("an invalid TLS record")
        message += read(length)
    return message[4 : _length_of(message)]


def _length_of(message: bytes) -> int:
    length = 4 + int.from_bytes(message[1:4])
    if message[0] != _CLIENT_HELLO or length > _LONGEST_HELLO:
        raise ValueError("an invalid first message of TLS")
    return length


def _extensions(hello: _Fields) -> dict[int, bytes]:
    hello.take(2 + 32)  # version, random
    hello.block(1)  # session
    hello.block(2)  # ciphers
    hello.block(1)  # compression
    fields = _Fields(hello.last_block(2))
    found: dict[int, bytes] = {}
    while fields.has_more:
        kind, content = fields.number(2), fields.block(2)
        if kind in found:
            raise ValueError("a repeated TLS extension")
        found[kind] = content
    return found


class _Fields:
    """Reads binary fields from the left; ValueError where bytes are missing."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def has_more(self) -> bool:
        return self._at < len(self._data)

    def take(self, count: int) -> bytes:
        taken = self._data[self._at : self._at + count]
        if len(taken) < count:
            raise ValueError("a TLS message that is cut short")
        self._at += count
        return taken

    def number(self, width: int) -> int:
        return int.from_bytes(self.take(width))

    def block(self, width: int) -> bytes:
        """Bytes behind their length, which has `width` bytes."""
        return self.take(self.number(width))

    def last_block(self, width: int) -> bytes:
        """The same, with nothing behind it."""
        content = self.block(width)
        if self.has_more:
            raise ValueError("a TLS message with bytes behind its end")
        return content
