"""What a client of the proxy asks for: a tunnel, or one plain HTTP request. Everything else is refused.

h11 parses the bytes, and plain requests are rewritten from what h11 read: server and proxy can't disagree on where a
request ends. In a tunnel, the server name of the ClientHello (RFC 8446, 4.1.2) counts too, because a large provider
serves many customers at one address. Opens no connection.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import h11
import msgspec

from loopwright.kernel.address import Address, parse_host

# The next bytes of the client; empty at the end of its data.
Receive = Callable[[], bytes]

_AUTHORITY = r"(?P<host>\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z_.-]+)"
_TUNNEL = re.compile(rf"{_AUTHORITY}:(?P<port>[0-9]{{1,5}})")
_PLAIN = re.compile(rf"[Hh][Tt][Tt][Pp]://(?P<authority>{_AUTHORITY}(?::(?P<port>[0-9]{{1,5}}))?)(?P<path>[/?][^#]*)?")
_LAST_PORT = 65535
# Older clients ask for a tunnel in HTTP/1.0.
_VERSIONS = (b"1.0", b"1.1")
# Headers for the proxy alone, and the host, which the proxy takes from the target.
_NOT_FOR_THE_SERVER = frozenset(
    {b"connection", b"host", b"keep-alive", b"proxy-authorization", b"proxy-connection", b"te", b"upgrade"}
)
_FRAMING = frozenset({b"content-length", b"transfer-encoding"})


class Refusal(msgspec.Struct, frozen=True):
    """Why a client gets nothing: the answer, and what the record of the turn says. An empty text is not recorded."""

    status: int
    reason: str
    record: str = ""


class TunnelRequest(msgspec.Struct, frozen=True):
    """Bytes in both directions, to one address. `early` came before the answer."""

    address: Address
    early: bytes = b""


class PlainRequest(msgspec.Struct, frozen=True):
    """One HTTP request without encryption."""

    address: Address
    head: h11.Request
    reader: h11.Connection

    def rewritten(self, receive: Receive) -> Iterator[bytes]:
        """The request as its server gets it, to its end and no further; ValueError if its body is malformed."""
        writer = h11.Connection(h11.CLIENT)
        yield writer.send(self.head) or b""
        try:
            while not isinstance(event := _next_event(self.reader, receive), h11.EndOfMessage):
                yield writer.send(event) or b""
            yield writer.send(event) or b""
        except (h11.ProtocolError, EOFError) as problem:
            raise ValueError("a malformed or truncated body") from problem


def read_request(receive: Receive, most_bytes: int) -> TunnelRequest | PlainRequest | Refusal | None:
    """The first request of a client; None if the client left before its end."""
    reader = h11.Connection(h11.SERVER, max_incomplete_event_size=most_bytes)
    try:
        event = _next_event(reader, receive)
        if not isinstance(event, h11.Request):
            raise ValueError("not a request")
        return _tunnel(event, reader, receive) if event.method == b"CONNECT" else _plain(event, reader)
    except EOFError:
        return None
    except (h11.ProtocolError, ValueError):
        return Refusal(400, "malformed request", "malformed request")


def _next_event(reader: h11.Connection, receive: Receive) -> h11.Event:
    while not isinstance(event := reader.next_event(), h11.Event):
        if not (data := receive()):
            raise EOFError
        reader.receive_data(data)
    return event


def _tunnel(event: h11.Request, reader: h11.Connection, receive: Receive) -> TunnelRequest:
    target = _TUNNEL.fullmatch(event.target.decode("ascii"))
    if target is None or event.http_version not in _VERSIONS or b"transfer-encoding" in dict(event.headers):
        raise ValueError("not host:port, an unknown version, or with a body")
    if not isinstance(_next_event(reader, receive), h11.EndOfMessage):
        raise ValueError("with a body")
    return TunnelRequest(_address(target["host"], target["port"]), reader.trailing_data[0])


def _plain(event: h11.Request, reader: h11.Connection) -> PlainRequest:
    target = _PLAIN.fullmatch(event.target.decode("ascii"))
    names = {name for name, _ in event.headers}
    if target is None or event.http_version != b"1.1" or names >= _FRAMING:
        raise ValueError("not http://host, an old version, or two ways to find the end of the body")
    asked = {
        token.strip().lower() for name, value in event.headers if name == b"connection" for token in value.split(b",")
    }
    dropped = _NOT_FOR_THE_SERVER | (asked - _FRAMING)
    kept = [(name, value) for name, value in event.headers.raw_items() if name.lower() not in dropped]
    path = target["path"] or "/"
    head = h11.Request(
        method=event.method,
        target=path if path.startswith("/") else f"/{path}",
        headers=[(b"host", target["authority"].encode()), *kept, (b"connection", b"close")],
    )
    return PlainRequest(_address(target["host"], target["port"] or "80"), head, reader)


def _address(name: str, port: str) -> Address:
    host = parse_host(name.removeprefix("[").removesuffix("]"))
    if host is None or not 0 < int(port) <= _LAST_PORT:
        raise ValueError("not an address")
    return Address(host, int(port))


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
    """The message after its type and length. Clients may split it into several records."""
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
    extensions: dict[int, bytes] = {}
    while fields.has_more:
        kind, content = fields.number(2), fields.block(2)
        if kind in extensions:
            raise ValueError("a repeated TLS extension")
        extensions[kind] = content
    return extensions


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
            raise ValueError("a truncated TLS message")
        self._at += count
        return taken

    def number(self, width: int) -> int:
        return int.from_bytes(self.take(width))

    def block(self, width: int) -> bytes:
        """Bytes after their length, which has `width` bytes."""
        return self.take(self.number(width))

    def last_block(self, width: int) -> bytes:
        """The same, with nothing after it."""
        content = self.block(width)
        if self.has_more:
            raise ValueError("a TLS message with bytes after its end")
        return content
