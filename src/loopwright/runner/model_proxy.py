"""The way out of a sandbox without a network: a proxy that lets an agent reach its model, and nobody else.

Listens on a socket file in the mailbox, for the forwarder inside. Speaks CONNECT, and plain HTTP for a model without
encryption; it sees no further into either. Knows nothing of agents.
"""

from __future__ import annotations

import base64
import os
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

from loopwright.agents.needs import Address, address_in
from loopwright.kernel.files import clear_path
from loopwright.sandbox import forwarder

_CONNECT_S = 30.0
_LONGEST_HEAD = 64 << 10
_MOST_REFUSED = 50
_CHUNK = 1 << 16


class Upstream(msgspec.Struct, frozen=True):
    """The user's own proxy, where they have one: their way out is ours."""

    address: Address
    authorization: bytes = b""

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Upstream | None:
        """The one that the environment names."""
        text = next((environment[name] for name in ("HTTPS_PROXY", "https_proxy") if environment.get(name)), "")
        address = address_in(text) if text else None
        if address is None:
            return None
        person = urlsplit(text).netloc.rpartition("@")[0]
        coded = base64.b64encode(unquote(person).encode())
        return cls(address, b"proxy-authorization: basic " + coded + b"\r\n" if person else b"")


class ModelProxy:
    """Serves connections until `close`; `refused` names what was asked for and not allowed."""

    def __init__(self, folder: Path, allowed: tuple[Address, ...], upstream: Upstream | None = None) -> None:
        self._upstream = upstream
        self._allowed = frozenset(allowed)
        self._refused: dict[str, None] = {}
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        # The path of a socket has to be short, and a sandbox's may be long: through the folder's handle it is.
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            clear_path(folder / forwarder.SOCKET)
            self._listener.bind(f"/proc/self/fd/{handle}/{forwarder.SOCKET}")
        finally:
            os.close(handle)
        self._listener.listen(64)
        self._thread = threading.Thread(target=self._serve, name="model proxy", daemon=True)
        self._thread.start()

    @property
    def refused(self) -> tuple[str, ...]:
        """Addresses that were asked for and not allowed, in the order of the first time."""
        return tuple(self._refused)

    def close(self) -> None:
        """End every connection."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def _serve(self) -> None:
        while True:
            try:
                inside, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._one, args=(inside,), daemon=True).start()

    def _one(self, inside: socket.socket) -> None:
        with self._tracked(inside), suppress(OSError, ValueError):
            head, rest = _head_of(inside)
            method, target, version = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2)
            address = address_in(target if method != "CONNECT" else f"https://{target}")
            if address is None or address not in self._allowed:
                self._refuse(inside, target if address is None else str(address))
                return
            try:
                outside = self._reach(address)
            except (OSError, ValueError):
                inside.sendall(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                return
            with self._tracked(outside):
                if method == "CONNECT":
                    inside.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                    outside.sendall(rest)
                else:
                    outside.sendall(_as_asked(head, method, target, version) + rest)
                _both_ways(inside, outside)

    def _reach(self, address: Address) -> socket.socket:
        via = None if address.is_loopback else self._upstream
        first = via.address if via is not None else address
        outside = socket.create_connection((first.host, first.port), timeout=_CONNECT_S)
        if via is not None:
            outside.sendall(f"CONNECT {address} HTTP/1.1\r\nhost: {address}\r\n".encode() + via.authorization + b"\r\n")
            if not forwarder.is_accepted(outside):
                outside.close()
                raise ValueError("the user's proxy does not let us through")
        outside.settimeout(None)
        return outside

    def _refuse(self, inside: socket.socket, target: str) -> None:
        if len(self._refused) < _MOST_REFUSED:
            self._refused[target] = None
        inside.sendall(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")

    @contextmanager
    def _tracked(self, connection: socket.socket) -> Iterator[None]:
        with self._lock:
            self._open.add(connection)
        try:
            yield
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()


def _head_of(connection: socket.socket) -> tuple[bytes, bytes]:
    """A request's head, and what came with it."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(_CHUNK)
        if not piece or len(data) > _LONGEST_HEAD:
            raise ValueError("no request")
        data += piece
    head, _, rest = data.partition(b"\r\n\r\n")
    return head, rest


def _as_asked(head: bytes, method: str, target: str, version: str) -> bytes:
    """The head as the server wants it: the path alone, and one request on this connection, which leads nowhere else."""
    parts = urlsplit(target)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    lines = head.split(b"\r\n")[1:]
    dropped = (b"connection", b"proxy-connection", b"proxy-authorization", b"keep-alive")
    kept = [line for line in lines if line.split(b":", 1)[0].strip().lower() not in dropped]
    first = f"{method} {path} {version}".encode("latin-1")
    return b"\r\n".join((first, *kept, b"connection: close", b"", b""))


def _both_ways(inside: socket.socket, outside: socket.socket) -> None:
    back = threading.Thread(target=forwarder.pump, args=(outside, inside), daemon=True)
    back.start()
    forwarder.pump(inside, outside)
    back.join()
