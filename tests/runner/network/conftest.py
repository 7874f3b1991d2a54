"""A proxy, a server and clients on real sockets. Nothing here waits for a time: only for bytes, or for their end."""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress

import pytest

from loopwright.kernel.address import Address
from loopwright.runner.network import route
from loopwright.runner.network.model_proxy import ModelProxy

MODEL = Address("model.example")


class Server:
    """Listens on loopback; the test itself accepts and answers."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.address = Address("127.0.0.1", self.port)
        self._accepted = []

    def accept(self):
        self._accepted.append(self.listener.accept()[0])
        return self._accepted[-1]

    def close_accepted(self):
        for connection in self._accepted:
            connection.close()

    def close(self):
        self.listener.close()
        self.close_accepted()

    def was_reached(self):
        """Whether a connection waits to be accepted."""
        self.listener.setblocking(False)
        try:
            self.listener.accept()[0].close()
        except BlockingIOError:
            return False
        finally:
            self.listener.setblocking(True)
        return True


@pytest.fixture
def server():
    made = Server()
    yield made
    made.close()


@pytest.fixture
def user_proxy_server():
    made = Server()
    yield made
    made.close()


@pytest.fixture
def open_proxy(tmp_path):
    opened = []

    def open_one(*allowed, **options):
        opened.append(ModelProxy(tmp_path, allowed, **options))
        return opened[-1]

    yield open_one
    for proxy in opened:
        proxy.close()


@pytest.fixture
def connect(tmp_path):
    """Opens clients of the proxy."""
    clients = []

    def connect_one(data=b""):
        client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        clients.append(client)
        client.connect(str(tmp_path / "network"))
        with suppress(BrokenPipeError):  # a client above the limit is answered before it speaks
            client.sendall(data)
        return client

    yield connect_one
    for client in clients:
        client.close()


@pytest.fixture
def lead_to(monkeypatch):
    """Lets every route end at a server, whatever IP addresses it was for; returns those."""
    connect = route._connect

    def lead(server):
        tried = []

        def connect_to(places, deadline, track):
            tried.extend(place[0] for _, place in places)
            return connect([(socket.AF_INET, ("127.0.0.1", server.port))], deadline, track)

        monkeypatch.setattr(route, "_connect", connect_to)
        return tried

    return lead


@pytest.fixture
def named(open_proxy, connect, server, monkeypatch, lead_to):
    """Tunnels to model.example, which is the server."""
    answers(monkeypatch, "192.0.2.1")
    lead_to(server)

    def open_named(early=b""):
        proxy = open_proxy(MODEL)
        client = connect(tunnel(MODEL) + early)
        assert read_head(client).startswith(b"HTTP/1.1 200")
        return proxy, client, server.accept()

    return open_named


@pytest.fixture
def ask(connect):
    """All that comes back for a request."""
    return lambda data: read_all(connect(data))


def read_all(connection):
    """Everything up to the end, or to the break, of a connection."""
    received = b""
    try:
        while data := connection.recv(1 << 16):
            received += data
    except ConnectionError:
        pass
    return received


def read_exactly(connection, count):
    received = b""
    while len(received) < count:
        data = connection.recv(count - len(received))
        assert data, f"ended after {received!r}"
        received += data
    return received


def read_head(connection):
    received = b""
    while not received.endswith(b"\r\n\r\n"):
        received += read_exactly(connection, 1)
    return received


def tunnel(address):
    return f"CONNECT {address} HTTP/1.1\r\nhost: {address}\r\n\r\n".encode()


def client_hello(name):
    """The first message of a real TLS client; None is a client that names no server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    outgoing = ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=name).do_handshake()
    return outgoing.read()


def status_of(answer):
    return int(answer.split(b" ", 2)[1]) if answer else None


def answers(monkeypatch, *ips):
    """DNS that answers with these, and says how often it was asked."""
    asked = []

    def look_up(host, port, **_):
        asked.append(host)
        return [(socket.AF_INET6 if ":" in ip else socket.AF_INET, 1, 6, "", (ip, port)) for ip in ips]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


def record(kind, content):
    return bytes([kind, 3, 1]) + len(content).to_bytes(2) + content


def block(width, content):
    return len(content).to_bytes(width) + content


def made_hello(*extensions):
    body = b"\3\3" + bytes(32) + block(1, b"") + block(2, b"\x13\x01") + block(1, b"\0")
    body += block(2, b"".join(kind.to_bytes(2) + block(2, content) for kind, content in extensions))
    return record(0x16, b"\1" + block(3, body))


def names(*hosts):
    return 0, block(2, b"".join(b"\0" + block(2, host) for host in hosts))
