"""Opens connections to allowed addresses, through the user's own proxy if there is one.

Looks up a name once, checks the result, and connects to that result: the name can't mean something else in between.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

import msgspec

from loopwright.kernel.address import Address
from loopwright.runner.network.deadline import Deadline
from loopwright.runner.network.request import Refusal
from loopwright.runner.network.user_proxy import UserProxy

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
    found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    return [(family, place) for family, _, _, _, place in found]


def _is_local(place: _Place) -> bool:
    """Whether an IP address means this machine or its own link, where cloud providers keep credentials."""
    ip = ip_address(str(place[1][0]).partition("%")[0])
    if isinstance(ip, IPv6Address):
        ip = ip.ipv4_mapped or ip
    return ip.is_loopback or ip.is_link_local or ip.is_unspecified or ip.is_multicast


def _connect(places: list[_Place], deadline: Deadline, track: Track) -> socket.socket:
    """The first place that answers."""
    problem = OSError("the name has no address")
    for family, place in places:
        connection = socket.socket(family, socket.SOCK_STREAM)
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
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _KEEP_ALIVE:
        connection.setsockopt(socket.IPPROTO_TCP, option, value)
    return connection
