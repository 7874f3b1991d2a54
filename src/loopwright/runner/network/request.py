"""What a client of the proxy asks for: a tunnel, or one plain HTTP request. Everything else is refused.

h11 parses the bytes, and plain requests are rewritten from what it read: server and proxy can't disagree on where a
request ends. Opens no connection.
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
            raise ValueError("a body that is malformed or cut short") from problem


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
    return TunnelRequest(_address(target), reader.trailing_data[0])


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
    return PlainRequest(_address(target, 80), head, reader)


def _address(target: re.Match[str], default_port: int = 0) -> Address:
    host = parse_host(target["host"].removeprefix("[").removesuffix("]"))
    port = int(target["port"] or default_port)
    if host is None or not 0 < port <= _LAST_PORT:
        raise ValueError("not an address")
    return Address(host, port)
