"""One client of the proxy, from its request to its last byte. Passes bytes on as they come, and keeps none of them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus

import msgspec

from loopwright.kernel.address import Address, parse_host
from loopwright.runner.network.client_hello import HANDSHAKE, read_server_name
from loopwright.runner.network.deadline import CHUNK, Deadline
from loopwright.runner.network.request import PlainRequest, Refusal, TunnelRequest, read_request
from loopwright.runner.network.route import Route, Track, open_route
from loopwright.runner.network.user_proxy import UserProxy
from loopwright.sandbox import forwarder


class Limits(msgspec.Struct, frozen=True):
    """What the clients of one proxy may cost."""

    # Each takes two threads and two open files of this process.
    connections: int = 100
    head_bytes: int = 64 << 10
    # For a request's head, and for the first message of TLS.
    head_s: float = 30.0
    connect_s: float = 30.0
    refused: int = 50


class Policy(msgspec.Struct, frozen=True):
    """What clients may reach, and how. `record` gets one line for each refusal."""

    allowed: frozenset[Address]
    user_proxy: UserProxy | None
    limits: Limits
    record: Callable[[str], None]


def serve_client(client: socket.socket, policy: Policy, track: Track) -> None:
    """Everything that one client gets. OSError where a connection breaks."""
    request = _read(client, policy.limits)
    if request is None:
        return
    if isinstance(request, Refusal):
        refuse(client, request, policy)
        return
    route = _route(request.address, policy, track)
    if isinstance(route, Refusal):
        refuse(client, route, policy)
    elif isinstance(request, TunnelRequest):
        _pass_tunnel(client, request, route, policy)
    else:
        _pass_request(client, request, route)


def refuse(client: socket.socket, refusal: Refusal, policy: Policy) -> None:
    """Record a refusal and answer it."""
    if refusal.record:
        policy.record(refusal.record)
    body = f"loopwright: {refusal.reason}\n".encode()
    head = f"HTTP/1.1 {refusal.status} {HTTPStatus(refusal.status).phrase}\r\ncontent-type: text/plain\r\n"
    client.sendall(head.encode() + f"content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body)


def end(connection: socket.socket) -> None:
    """Stop a connection in both directions; calls that wait for it return."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _read(client: socket.socket, limits: Limits) -> TunnelRequest | PlainRequest | Refusal | None:
    deadline = Deadline(limits.head_s)
    try:
        return read_request(lambda: deadline.receive(client), limits.head_bytes)
    except TimeoutError:
        return Refusal(408, f"no request within {limits.head_s:g} seconds")


def _route(address: Address, policy: Policy, track: Track) -> Route | Refusal:
    if address not in policy.allowed:
        return Refusal(403, f"this agent may not reach {address}", str(address))
    return open_route(address, policy.user_proxy, policy.limits.connect_s, track)


def _pass_tunnel(client: socket.socket, request: TunnelRequest, route: Route, policy: Policy) -> None:
    server = route.connection
    client.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + route.early)
    with _answering(server, client):
        server.sendall(first_bytes(client, request, policy))
        forwarder.pump(client, server)


def first_bytes(client: socket.socket, request: TunnelRequest, policy: Policy) -> bytes:
    """What the client says first. OSError if that is TLS with another server than the tunnel's."""
    address, received = request.address, request.early or client.recv(CHUNK)
    if address.is_ip or received[:1] != HANDSHAKE:
        return received
    deadline, at = Deadline(policy.limits.head_s), 0

    def read(count: int) -> bytes:
        nonlocal received, at
        while len(received) < at + count:
            if not (data := deadline.receive(client)):
                raise ConnectionError("the client left")
            received += data
        at += count
        return received[at - count : at]

    try:
        name = parse_host(read_server_name(read))
    except ValueError:
        name = None
    if name != address.host:
        wrong = f"{address} (TLS without a readable server name)"
        policy.record(f"{Address(name, address.port)} (TLS server name, through {address})" if name else wrong)
        raise ConnectionAbortedError("TLS with another server")
    return received


def _pass_request(client: socket.socket, request: PlainRequest, route: Route) -> None:
    server = route.connection
    client.sendall(route.early)
    with suppress(ValueError), _answering(server, client, is_last=True):
        for piece in request.rewritten(lambda: client.recv(CHUNK)):
            server.sendall(piece)
        # One connection carries one request. A second one may be for another server, so it is not passed on.
        if not client.recv(1):
            server.shutdown(socket.SHUT_WR)


@contextmanager
def _answering(server: socket.socket, client: socket.socket, *, is_last: bool = False) -> Iterator[None]:
    """Pass on what the server says, for the block and until the server's end; `is_last` ends the client with it."""

    def answer() -> None:
        forwarder.pump(server, client)
        if is_last:
            end(client)

    back = threading.Thread(target=answer, daemon=True)
    back.start()
    try:
        yield
    except (OSError, ValueError):
        end(server)
        end(client)
        raise
    finally:
        back.join()
