"""The forwarder in a sandbox: passes connections on to the proxy, and outlives a flood of them."""

from __future__ import annotations

import errno
import socket
import threading

import pytest
from tests.runner.network.conftest import (
    read_all,
    read_exactly,
    tunnel,
)

from loopwright.sandbox import forwarder


def test_the_forwarder_asks_for_its_port_and_passes_bytes_on(open_proxy, server, tmp_path, monkeypatch):
    open_proxy(server.address)
    monkeypatch.chdir(tmp_path)
    for port, first in ((server.port, b""), (0, tunnel(server.address))):
        program, here = socket.socketpair()
        passing = threading.Thread(target=forwarder.forward, args=(here, port))
        passing.start()
        with program:
            program.sendall(first + b"ping")
            outside = server.accept()
            assert read_exactly(outside, 4) == b"ping"
            outside.sendall(b"pong")
            outside.close()
            assert read_all(program).endswith(b"pong")
        passing.join()


def test_the_forwarder_closes_connections_that_the_proxy_refuses(open_proxy, server, tmp_path, monkeypatch):
    open_proxy()
    monkeypatch.chdir(tmp_path)
    program, here = socket.socketpair()
    with program:
        forwarder.forward(here, server.port)
        assert read_all(program) == b""


def test_too_many_connections_do_not_end_the_forwarder(monkeypatch):
    class Ended(BaseException):
        pass

    problems = [OSError(errno.EMFILE, ""), RuntimeError("no more threads"), Ended()]

    class Listener:
        def accept(self):
            raise problems.pop(0)

    monkeypatch.setattr(forwarder, "_RETRY_S", 0)
    with pytest.raises(Ended):
        forwarder.serve(Listener(), 0)
