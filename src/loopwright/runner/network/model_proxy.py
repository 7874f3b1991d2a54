"""The proxy between a sandbox and its model: reaches the allowed addresses and no others, and records what it refused.

Listens on a socket file in the mailbox, for the forwarder inside. Everything that a client sends is hostile. The tests
state the contract (tests/runner/network/test_model_proxy.py). Knows nothing of agents.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

from loopwright.kernel.address import Address
from loopwright.kernel.files import clear_path
from loopwright.runner.network.exchange import Limits, Policy, end, refuse, serve_client
from loopwright.runner.network.request import Refusal
from loopwright.runner.network.user_proxy import UserProxy, user_proxy_of
from loopwright.sandbox import forwarder

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
        self._thread = threading.Thread(target=self._serve, name="model proxy", daemon=True)
        self._thread.start()

    @property
    def refused(self) -> tuple[str, ...]:
        """What was asked for and refused, each once, in the order of the first time: short lines of printable ASCII."""
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
            threading.Thread(target=self._handle, args=(client,), daemon=True).start()
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
    """A proxy that uses the proxy which the user's environment names, if an address is outside this machine."""
    is_remote = any(not address.is_loopback for address in allowed)
    return ModelProxy(folder, allowed, user_proxy_of(environment) if is_remote else None)


def _listen(folder: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # A socket's path must be short, and a sandbox's may be long. The path through the folder's handle is short.
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        clear_path(folder / forwarder.SOCKET)
        listener.bind(f"/proc/self/fd/{handle}/{forwarder.SOCKET}")
    finally:
        os.close(handle)
    listener.listen(64)
    return listener
