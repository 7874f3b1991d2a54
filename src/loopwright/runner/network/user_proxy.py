"""The user's own proxy, from HTTPS_PROXY. Its credentials go to that proxy alone: never to a client, never to a log."""

from __future__ import annotations

import base64
import socket
from collections.abc import Mapping
from urllib.parse import unquote_to_bytes, urlsplit

import h11
import msgspec

from loopwright.errors import SettingsInvalid
from loopwright.kernel.address import Address, parse_address
from loopwright.runner.network.deadline import Deadline

_VARIABLES = ("HTTPS_PROXY", "https_proxy")
_LONGEST_HEAD = 64 << 10


class UserProxy(msgspec.Struct, frozen=True):
    """Where the proxy is, and the value of its Proxy-Authorization header."""

    address: Address
    authorization: bytes = b""

    def __repr__(self) -> str:
        return f"UserProxy({self.address})"

    def open_tunnel(self, connection: socket.socket, address: Address, deadline: Deadline) -> bytes:
        """Ask the proxy for an address; returns what the server said already. OSError if the proxy refuses."""
        request = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LONGEST_HEAD)
        headers = [(b"host", str(address).encode())]
        if self.authorization:
            headers.append((b"proxy-authorization", self.authorization))
        head = h11.Request(method=b"CONNECT", target=str(address).encode(), headers=headers)
        connection.settimeout(deadline.left())
        connection.sendall((request.send(head) or b"") + (request.send(h11.EndOfMessage()) or b""))
        try:
            status = _status(request, connection, deadline)
        except h11.ProtocolError as problem:
            raise OSError("the user's proxy did not answer as a proxy") from problem
        if not 200 <= status < 300:
            raise OSError(f"the user's proxy refused with status {status}")
        return request.trailing_data[0]


def user_proxy_of(environment: Mapping[str, str]) -> UserProxy | None:
    """The proxy that the environment names. An unusable value is an error: the user wants no direct connection."""
    variable = next((name for name in _VARIABLES if environment.get(name)), None)
    if variable is None:
        return None
    text = environment[variable]
    text = text if "://" in text else f"http://{text}"
    address = parse_address(text)
    # The value may hold a password, so the message does not show it.
    if address is None or not text.lower().startswith("http://"):
        raise SettingsInvalid(
            f"{variable} does not name a proxy that Loopwright can use",
            hint="set it to host:port of an HTTP proxy; proxies that speak TLS or SOCKS are not supported",
        )
    login = urlsplit(text).netloc.rpartition("@")[0]
    return UserProxy(address, b"Basic " + base64.b64encode(unquote_to_bytes(login)) if login else b"")


def _status(request: h11.Connection, connection: socket.socket, deadline: Deadline) -> int:
    while not isinstance(event := request.next_event(), h11.Response):
        if event is h11.NEED_DATA:
            request.receive_data(deadline.receive(connection))
        elif not isinstance(event, h11.InformationalResponse):
            raise OSError("the user's proxy closed the connection")
    return event.status_code
