"""Opens connections to allowed addresses, through the user's own proxy (HTTPS_PROXY) if there is one.

Looks up a name once, checks the result, and connects to that result: the name can't mean something else in between.
The proxy's credentials go to that proxy alone: never to a client, never to a log.
"""

from __future__ import annotations

import base64
import select
import socket
import time
from collections.abc import Callable, Mapping
from ipaddress import IPv6Address, ip_address
from urllib.parse import unquote_to_bytes, urlsplit

import h11
import msgspec

from loopwright.errors import SettingsInvalid
from loopwright.kernel.address import Address, parse_address
from loopwright.runner.network.request import Refusal

CHUNK = 1 << 16


class Deadline:
    """A time limit for several socket calls together, from now on: a slow peer can't extend it byte by byte."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """The remaining seconds; TimeoutError if there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        return left

    def receive(self, connection: socket.socket) -> bytes:
        """The next bytes of a connection; empty at the end of its data."""
        # The socket's own timeout would also hold for the thread that sends on it.
        poll = select.poll()
        poll.register(connection, select.POLLIN)
        if not poll.poll(self.left() * 1000):
            raise TimeoutError("timed out")
        return connection.recv(CHUNK)


_VARIABLES = ("HTTPS_PROXY", "https_proxy")
_LONGEST_HEAD = 64 << 10


class UserProxy(msgspec.Struct, frozen=True):
    """Where the proxy is, and the value of its Proxy-Authorization header."""

    address: Address
    authorization: bytes = b""

    def __repr__(self) -> str:
        return f"UserProxy({self.address})"

    def open_tunnel(self, connection: socket.socket, address: Address, deadline: Deadline) -> bytes:
        """Ask the proxy for an address. Returns bytes of the server that are already read. OSError if it refuses."""
        request = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LONGEST_HEAD)
        headers = [(b"host", str(address).encode())]
        if self.authorization:
            headers.append((b"proxy-authorization", self.authorization))
        head = h11.Request(method=b"CONNECT", target=str(address).encode(), headers=headers)
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
    # The value may contain a password, so the message does not show it.
    if address is None or not text.lower().startswith("http://"):
        raise SettingsInvalid(
            f"{variable} does not name a proxy that Loopwright can use",
            hint="set it to host:port of an HTTP proxy; proxies that speak TLS or SOCKS are not supported",
        )
    login = urlsplit(text).netloc.rpartition("@")[0]
    return UserProxy(address, b"Basic " + base64.b64encode(unquote_to_bytes(login)) if login else b"")


def _status(request: h11.Connection, connection: socket.socket, deadline: Deadline) -> int:
    """The status of the answer, after any interim answers. ProtocolError if the proxy leaves before that."""
    while not isinstance(event := request.next_event(), h11.Response):
        if event is h11.NEED_DATA:
            request.receive_data(deadline.receive(connection))
    return event.status_code


# An address that does not answer must leave time for the next one.
_LONGEST_TRY_S = 10.0
# Finds a server that vanished without a word, after two minutes. A model may be silent for longer than that.
_KEEP_ALIVE = ((socket.TCP_KEEPIDLE, 60), (socket.TCP_KEEPINTVL, 15), (socket.TCP_KEEPCNT, 4))

_Place = tuple[socket.AddressFamily, tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]]
# Gets each socket before it connects, so that other threads can end it.
Track = Callable[[socket.socket], None]


class Route(msgspec.Struct, frozen=True):
    """An open connection to an address. `early` are bytes of the server that are already read."""

    connection: socket.socket
    early: bytes = b""


def open_route(address: Address, user_proxy: UserProxy | None, seconds: float, track: Track) -> Route | Refusal:
    """A connection to an allowed address."""
    deadline = Deadline(seconds)
    try:
        if user_proxy is not None and not address.is_loopback:
            connection = _connect(_look_up(user_proxy.address), deadline, track)
            early = user_proxy.open_tunnel(connection, address, deadline)
            return Route(_ready(connection), early)
        places = _look_up(address)
        reachable = places if address.is_ip else [place for place in places if not _is_local(place)]
        if not reachable:
            problem = f"{address} (resolves to {places[0][1][0]!s})"
            return Refusal(403, f"this agent may not reach {problem}", problem)
        return Route(_ready(_connect(reachable, deadline, track)))
    except OSError as failed:
        return Refusal(502, f"no connection to {address}: {failed.strerror or failed}")


def _look_up(address: Address) -> list[_Place]:
    entries = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    return [(family, place) for family, _, _, _, place in entries]


def _is_local(place: _Place) -> bool:
    """Whether an IP address means this machine or its own link, where cloud providers keep credentials."""
    ip = ip_address(str(place[1][0]))
    if isinstance(ip, IPv6Address):
        ip = ip.ipv4_mapped or ip
    return ip.is_loopback or ip.is_link_local or ip.is_unspecified or ip.is_multicast


def _connect(places: list[_Place], deadline: Deadline, track: Track) -> socket.socket:
    """The first place that answers."""
    problem = OSError("the name has no address")
    for family, place in places:
        connection = socket.socket(family)
        track(connection)
        try:
            connection.settimeout(min(_LONGEST_TRY_S, deadline.left()))
            connection.connect(place)
        except OSError as failed:
            connection.close()
            problem = failed
        else:
            return connection
    raise problem


def _ready(connection: socket.socket) -> socket.socket:
    connection.settimeout(None)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, True)
    for option, value in _KEEP_ALIVE:
        connection.setsockopt(socket.IPPROTO_TCP, option, value)
    return connection
