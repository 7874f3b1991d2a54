"""The proxy between a sandbox and its model: reaches the allowed addresses and no others, and records what it refused.

Listens on a socket file in the mailbox, for the forwarder inside. Treats everything that a client sends as hostile.
Passes bytes on as they come, and keeps none of them. The tests state the contract
(tests/runner/network/test_model_proxy.py). Knows nothing of agents.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from http import HTTPStatus
from pathlib import Path

import msgspec

from loopwright.kernel.address import Address, parse_host
from loopwright.kernel.files import clear_path
from loopwright.runner.network.request import (
    HANDSHAKE,
    PlainRequest,
    Refusal,
    TunnelRequest,
    read_request,
    read_server_name,
)
from loopwright.runner.network.route import CHUNK, Deadline, Route, Track, UserProxy, open_route, user_proxy_of
from loopwright.sandbox import forwarder


class Limits(msgspec.Struct, frozen=True):
    """How many resources the clients of one proxy may use."""

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
    """Serve one client to its end. OSError if a connection breaks."""
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
    """The client's first bytes. OSError if they are TLS for another server than the tunnel's."""
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
    """Pass the server's bytes on, during the block and until the server ends; `is_last` then ends the client, too."""

    def answer() -> None:
        forwarder.pump(server, client)
        if is_last:
            end(client)

    back = threading.Thread(target=answer)
    back.start()
    try:
        yield
    except (OSError, ValueError):
        end(server)
        end(client)
        raise
    finally:
        back.join()


_RETRY_S = 0.1
_USUAL = Limits()
_MORE = "more requests"


class ModelProxy:
    """Serves clients until `close`."""

    def __init__(
        self,
        folder: Path,
        allowed: tuple[Address, ...],
        user_proxy: UserProxy | None = None,
        limits: Limits = _USUAL,
    ) -> None:
        self._policy = Policy(frozenset(allowed), user_proxy, limits, self._record)
        self._refused: dict[str, None] = {}
        self._sockets: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._free = threading.BoundedSemaphore(limits.connections)
        self._closing = threading.Event()
        self._listener = _listen(folder)
        # A daemon does not keep the process alive, nor do the threads that a daemon starts.
        self._thread = threading.Thread(target=self._serve, name="model proxy", daemon=True)
        self._thread.start()

    @property
    def refused(self) -> tuple[str, ...]:
        """The refused requests, each once, in order of first occurrence: short lines of printable ASCII."""
        with self._lock:
            return tuple(self._refused)

    def close(self) -> None:
        """End every connection. No byte passes after this call."""
        with self._lock:
            self._closing.set()
            for connection in self._sockets:
                end(connection)
        end(self._listener)
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        while not self._closing.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                # Perhaps this process has too many open files: some of them will be closed.
                self._closing.wait(_RETRY_S)
            else:
                self._start(client)

    def _start(self, client: socket.socket) -> None:
        if not self._free.acquire(blocking=False):
            limit = f"more than {self._policy.limits.connections} connections at once"
            with client, suppress(OSError):
                refuse(client, Refusal(503, limit, limit), self._policy)
            return
        try:
            threading.Thread(target=self._handle, args=(client,)).start()
        except RuntimeError:  # the machine allows no more threads
            client.close()
            self._free.release()

    def _handle(self, client: socket.socket) -> None:
        try:
            with ExitStack() as sockets, suppress(OSError, RuntimeError):
                self._track(sockets, client)
                serve_client(client, self._policy, partial(self._track, sockets))
        finally:
            self._free.release()

    def _track(self, sockets: ExitStack, connection: socket.socket) -> None:
        """Let `close` end a connection, and close it with its client's others. OSError if the proxy is closed."""
        sockets.enter_context(connection)
        with self._lock:
            if self._closing.is_set():
                raise ConnectionAbortedError("the proxy is closed")
            self._sockets.add(connection)
        sockets.callback(self._forget, connection)

    def _forget(self, connection: socket.socket) -> None:
        with self._lock:
            self._sockets.discard(connection)

    def _record(self, refused: str) -> None:
        with self._lock:
            self._refused[refused if len(self._refused) < self._policy.limits.refused else _MORE] = None


def open_model_proxy(folder: Path, allowed: tuple[Address, ...], environment: Mapping[str, str]) -> ModelProxy:
    """A proxy. It uses the proxy of the user's environment if an address is outside this machine."""
    is_remote = any(not address.is_loopback for address in allowed)
    return ModelProxy(folder, allowed, user_proxy_of(environment) if is_remote else None)


def _listen(folder: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    # A socket's path must be short, and a sandbox's may be long. The path through the folder's handle is short.
    handle = os.open(folder, os.O_RDONLY)
    try:
        clear_path(folder / forwarder.SOCKET)
        listener.bind(f"/proc/self/fd/{handle}/{forwarder.SOCKET}")
    finally:
        os.close(handle)
    listener.listen()
    return listener
