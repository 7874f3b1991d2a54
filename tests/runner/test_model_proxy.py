"""The way out of a sandbox without a network: to the model, and to nobody else."""

from __future__ import annotations

import socket

import pytest

from loopwright.kernel.address import Address
from loopwright.runner.model_proxy import ModelProxy, Upstream
from loopwright.testing.model_server import model_server
from loopwright.testing.wire import ModelTurn


@pytest.fixture
def model():
    with model_server(ModelTurn("x")) as server:
        yield server


def asked(folder, request):
    """What comes back for raw bytes."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(str(folder / "network"))
        connection.sendall(request)
        answer = b""
        while piece := connection.recv(1 << 16):
            answer += piece
    return answer


def port_of(model):
    return int(model.url.rpartition(":")[2])


def test_connect_and_plain_requests_reach_the_model_and_nothing_else(model, tmp_path):
    port = port_of(model)
    proxy = ModelProxy(tmp_path, (Address("127.0.0.1", port),))
    try:
        through = asked(tmp_path, f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\nGET /v1/models HTTP/1.0\r\n\r\n".encode())
        assert through.startswith(b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.0 200")
        plain = asked(tmp_path, f"GET {model.url}/v1/models HTTP/1.1\r\nhost: x\r\n\r\n".encode())
        assert b"models" in plain
        for request in (
            b"CONNECT example.com:443 HTTP/1.1\r\n\r\n",
            f"CONNECT 127.0.0.1:{port + 1} HTTP/1.1\r\n\r\n".encode(),
            b"GET http://169.254.169.254/latest HTTP/1.1\r\n\r\n",
            b"GET /path HTTP/1.1\r\n\r\n",
        ):
            assert asked(tmp_path, request).startswith(b"HTTP/1.1 403"), request
        assert asked(tmp_path, b"nonsense\r\n\r\n") == b""
    finally:
        proxy.close()
    assert proxy.refused == ("example.com:443", f"127.0.0.1:{port + 1}", "169.254.169.254:80", "/path")


def test_a_model_that_is_not_there_is_a_bad_gateway(tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    proxy = ModelProxy(tmp_path, (Address("127.0.0.1", port),))
    try:
        assert asked(tmp_path, f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode()).startswith(b"HTTP/1.1 502")
    finally:
        proxy.close()


def test_the_users_own_proxy_is_on_the_way(tmp_path):
    assert Upstream.of({}) is None
    with socket.create_server(("127.0.0.1", 0)) as theirs:
        upstream = Upstream.of({"HTTPS_PROXY": f"http://ann:secret@127.0.0.1:{theirs.getsockname()[1]}"})
        proxy = ModelProxy(tmp_path, (Address("model.example"),), upstream)
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as inside:
                inside.connect(str(tmp_path / "network"))
                inside.sendall(b"CONNECT model.example:443 HTTP/1.1\r\n\r\n")
                outside, _ = theirs.accept()
                with outside:
                    head = outside.recv(1 << 16)
                    outside.sendall(b"HTTP/1.1 200 OK\r\n\r\nhello")
                    assert inside.recv(1 << 16).startswith(b"HTTP/1.1 200")
        finally:
            proxy.close()
    assert head.startswith(b"CONNECT model.example:443 HTTP/1.1\r\n")
    assert b"proxy-authorization: basic YW5uOnNlY3JldA==" in head
