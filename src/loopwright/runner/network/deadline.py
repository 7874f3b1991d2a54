"""A limit on the time of several socket calls together: a peer that sends one byte at a time gains nothing by it."""

from __future__ import annotations

import select
import socket
import time

CHUNK = 1 << 16


class Deadline:
    """Starts when it is made."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """The seconds that are left; TimeoutError if there are none."""
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
