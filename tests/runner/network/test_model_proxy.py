"""The network boundary of a confined agent, driven through real sockets by a hostile client.

THE CONTRACT

Allowed
  A client reaches the allowed addresses, by `CONNECT host:port` or by one plain `http://` request per connection.
  An address is a host and a port. Case, a trailing dot and the form of an IP address make no difference.
  Bytes pass in both directions as they come, at any size, with half-closed connections kept half-closed.

Refused, and recorded in `refused`
  403  an address that is not allowed: recorded as host:port. Its name is never looked up.
  403  an allowed name that resolves to this machine or its own link: recorded with the IP address.
  400  every request that is not exactly one of the two forms: recorded as "malformed request".
  503  a client above the limit of connections: recorded with the limit.
  end  TLS in a tunnel that names another server than the tunnel's, several, an encrypted one or none.

Not recorded
  408  a request that takes too long. 502 an allowed address that can't be reached. A client that leaves early.

Always
  A connection leads to one address to its end; the rest of its bytes can't change that. A plain request is rewritten
  with the Host of its target, and nothing behind its end is passed on.
  `refused` has at most 50 different lines ("more requests" stands for the rest), each short, printable and ASCII.
  The user's own proxy gets every connection to another machine. Its credentials and words reach no client and no log.
  After `close` no byte passes.
"""

from __future__ import annotations

import socket

import pytest
from tests.runner.network.conftest import (
    MODEL,
    read_all,
    read_exactly,
    read_head,
    status_of,
)

from loopwright.kernel.address import Address, parse_host
from loopwright.runner.network.request import TunnelRequest, read_request


@pytest.mark.parametrize(
    "request_line",
    [
        "CONNECT 127.0.0.1:{port} HTTP/1.1",
        "CONNECT 127.0.0.1:{port} HTTP/1.0",
        "CONNECT localhost:{port} HTTP/1.1",
        "CONNECT LocalHost.:{port} HTTP/1.1",
    ],
)
def test_a_tunnel_to_an_allowed_address_carries_bytes_both_ways(open_proxy, connect, server, request_line):
    proxy = open_proxy(server.address)
    client = connect(request_line.format(port=server.port).encode() + b"\r\nhost: any.example\r\n\r\nearly")
    outside = server.accept()
    assert read_exactly(outside, 5) == b"early"
    assert read_head(client).startswith(b"HTTP/1.1 200")
    outside.sendall(b"hello")
    assert read_exactly(client, 5) == b"hello"
    client.sendall(b"\x16 is not TLS to an IP address")
    assert read_exactly(outside, 5) == b"\x16 is "
    assert proxy.refused == ()


NOT_ALLOWED = [
    ("CONNECT evil.example:443", "evil.example:443"),
    ("CONNECT model.example:80", "model.example:80"),
    ("CONNECT evilmodel.example:443", "evilmodel.example:443"),
    ("CONNECT model.example.evil.example:443", "model.example.evil.example:443"),
    ("CONNECT 169.254.169.254:80", "169.254.169.254:80"),
    ("CONNECT localhost:1", "127.0.0.1:1"),
    ("CONNECT [::1]:443", "[::1]:443"),
    ("CONNECT [::FFFF:1.2.3.4]:{port}", f"[{parse_host('::ffff:102:304')}]:{{port}}"),
    ("GET http://evil.example/", "evil.example:80"),
    ("GET http://127.0.0.1:{other}/", "127.0.0.1:{other}"),
    ("GET http://169.254.169.254/latest/meta-data", "169.254.169.254:80"),
]
MALFORMED = [
    # The target: userinfo, paths, escapes, spellings that a resolver would take for an IP address, missing parts.
    "CONNECT user@127.0.0.1:{port}", "CONNECT 127.0.0.1:{port}@evil.example:443", "CONNECT 127.0.0.1:{port}/evil",
    "CONNECT 127.0.0.1:{port}#", "CONNECT 127.0.0.1", "CONNECT 127.0.0.1:", "CONNECT :{port}", "CONNECT 127.0.0.1:0",
    "CONNECT 127.0.0.1:99999", "CONNECT 127.0.0.1:+{port}", "CONNECT 127.1:{port}", "CONNECT 2130706433:{port}",
    "CONNECT 0x7f.1:{port}", "CONNECT 0177.0.0.1:{port}", "CONNECT [127.0.0.1:{port}", "CONNECT [::1%25lo]:{port}",
    "CONNECT loc%61lhost:{port}", "CONNECT model.example:443:443", "CONNECT http://127.0.0.1:{port}", "CONNECT *",
    "CONNECT exämple.example:443", "connect 127.0.0.1:{port}", "CONNECT 127.0.\t0.1:{port}",
    "CONNECT  127.0.0.1:{port}", "CONNECT 127.0.0.1:{port} ", "GET /origin-form", "GET *", "GET //127.0.0.1:{port}/",
    "GET http://user:pass@127.0.0.1:{port}/", "GET http://127.0.0.1:{port}@evil.example/",
    "GET http://127.0.0.1:{port}/#x", "GET http://127.0.0.1:{port}#@evil.example/", "GET http://127.0.0.1:{port}\\@evil.example/",
    # The proxy would have to encrypt, or would send what was meant to be encrypted in clear.
    "GET https://127.0.0.1:{port}/", "GET ftp://127.0.0.1:{port}/", "GET ws://127.0.0.1:{port}/",
    # A second line in the first one, and bytes that end texts in C or drive a terminal.
    "GET http://127.0.0.1:{port}/\nx: y", "GET http://127.0.0.1:{port}/\rx: y", "GET http://127.0.0.1:{port}/\0",
    "GET /\nloopwright:\x1b[2Jforged", "CONNECT evil\x1b[2J.example:443", "PRI * HTTP/2.0\r\n\r\nSM",
    "\x16\x03\x01\x02\0",
]  # fmt: skip


@pytest.mark.parametrize(("asked", "recorded"), NOT_ALLOWED)
def test_another_address_is_refused_and_recorded_and_not_looked_up(
    open_proxy, ask, server, monkeypatch, asked, recorded
):
    looked_up = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *given, **_: looked_up.append(given))
    proxy = open_proxy(server.address, MODEL)
    ports = {"port": server.port, "other": server.port - 1}
    assert status_of(ask(f"{asked.format(**ports)} HTTP/1.1\r\nhost: model.example\r\n\r\n".encode())) == 403
    assert proxy.refused == (recorded.format(**ports),)
    assert (looked_up, server.was_reached()) == ([], False)


@pytest.mark.parametrize("asked", MALFORMED)
def test_a_target_of_another_form_is_malformed(open_proxy, ask, server, asked):
    proxy = open_proxy(server.address, MODEL)
    assert status_of(ask(f"{asked.format(port=server.port)} HTTP/1.1\r\nhost: x\r\n\r\n".encode())) == 400
    assert proxy.refused == ("malformed request",)
    assert not server.was_reached()


POST = "POST http://{at}/ HTTP/1.1\r\nhost: x\r\n"
GET = "GET http://{at}/ HTTP/1.1\r\n"
HEADS = {
    "two lengths": POST + "content-length: 5\r\ncontent-length: 6\r\n\r\n123456",
    "a list of two lengths": POST + "content-length: 5, 6\r\n\r\n123456",
    "a negative length": POST + "content-length: -1\r\n\r\n",
    "a length with a sign": POST + "content-length: +5\r\n\r\n12345",
    "a length and chunks": POST + "content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks and a length": POST + "transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n",
    "an unknown encoding": POST + "transfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
    "two encodings": POST + "transfer-encoding: identity, chunked\r\n\r\n0\r\n\r\n",
    "a repeated encoding": POST + "transfer-encoding: chunked\r\ntransfer-encoding: x\r\n\r\n",
    "two hosts": GET + "host: {at}\r\nhost: evil.example\r\n\r\n",
    "no host": GET + "\r\n",
    "a space before the colon": GET + "host : {at}\r\n\r\n",
    "a header without a colon": GET + "host: x\r\nnonsense\r\n\r\n",
    "a folded first header": GET + " host: x\r\n\r\n",
    "NUL in a header": GET + "host: x\r\na: \0\r\n\r\n",
    "CR in a header": GET + "host: x\r\na: b\rc: d\r\n\r\n",
    "HTTP/1.0 without a tunnel": "GET http://{at}/ HTTP/1.0\r\n\r\n",
    "an unknown version": "CONNECT {at} HTTP/3.0\r\nhost: x\r\n\r\n",
    "no version": "GET http://{at}/\r\nhost: x\r\n\r\n",
    "a tunnel with a body": "CONNECT {at} HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc",
    "a tunnel with chunks": "CONNECT {at} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_a_head_that_can_be_read_in_two_ways_is_malformed(open_proxy, ask, server, head):
    proxy = open_proxy(server.address)
    assert status_of(ask(head.format(at=server.address).encode())) == 400
    assert proxy.refused == ("malformed request",)
    assert not server.was_reached()


@pytest.mark.parametrize(("port", "is_valid"), [(0, False), (1, True), (65535, True), (65536, False)])
@pytest.mark.parametrize("head", ["CONNECT a.example:{port} HTTP/1.1", "GET http://a.example:{port}/ HTTP/1.1"])
def test_a_port_is_between_1_and_65535(head, port, is_valid):
    data = [f"{head}\r\nhost: x\r\n\r\n".format(port=port).encode()]
    request = read_request(lambda: data.pop() if data else b"", 1 << 10)
    assert (request.address if is_valid else request.status) == (Address("a.example", port) if is_valid else 400)


@pytest.mark.parametrize(("most", "is_read"), [(64 << 10, True), (8 << 10, False)])
def test_a_head_may_be_as_long_as_its_limit(most, is_read):
    head = b"CONNECT a.example:443 HTTP/1.1\r\nhost: x\r\nx: " + b"y" * 12_000 + b"\r\n"
    pieces = [b"\r\n", b"z: " + b"y" * 12_000 + b"\r\n", head]
    request = read_request(lambda: pieces.pop() if pieces else b"", most)
    assert isinstance(request, TunnelRequest) == is_read


def passed_on(server, client, request):
    """What the server gets of a request; it answers, and closes as it was asked to."""
    client.sendall(request.format(at=server.address).encode())
    with server.accept() as outside:
        head = read_head(outside)
        length = head.partition(b"content-length: ")[2].partition(b"\r\n")[0]
        body = read_exactly(outside, int(length or 0))
        outside.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        outside.shutdown(socket.SHUT_WR)
        answer = read_all(client)
        rest = read_all(outside)
    assert answer == b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
    return head, body + rest


def test_a_plain_request_is_rewritten_for_its_server(open_proxy, connect, server):
    open_proxy(server.address)
    request = (
        "POST HTTP://{at}?q=1 HTTP/1.1\r\nHost: evil.example\r\nX-Kept: 1\r\nProxy-Authorization: basic YQ==\r\n"
        "Proxy-Connection: keep-alive\r\nConnection: keep-alive, x-dropped, content-length, Upgrade\r\nX-Dropped: 1\r\n"
        "Upgrade: h2c\r\ncontent-length: 4\r\nX-Folded: a\r\n b\r\n\r\nbody"
    )
    head, body = passed_on(server, connect(), request)
    assert head.decode().split("\r\n") == [
        "POST /?q=1 HTTP/1.1", f"host: {server.address}", "X-Kept: 1", "content-length: 4", "X-Folded: a b",
        "connection: close", "", "",
    ]  # fmt: skip
    assert body == b"body"


@pytest.mark.parametrize(("path", "asked"), [("", "/"), ("/", "/"), ("/v1?x=//", "/v1?x=//"), ("?q", "/?q")])
def test_the_path_of_a_plain_request_is_passed_on(open_proxy, connect, server, path, asked):
    open_proxy(server.address)
    head, _ = passed_on(server, connect(), f"GET http://{{at}}{path} HTTP/1.1\r\nhost: x\r\n\r\n")
    assert head.startswith(f"GET {asked} HTTP/1.1\r\n".encode())


@pytest.mark.parametrize("body", ["content-length: 4\r\n\r\nbody", "\r\n"], ids=["body", "none"])
def test_a_second_request_on_a_connection_goes_nowhere(open_proxy, connect, server, body):
    """It may be for another server: its keys must not reach this one."""
    proxy = open_proxy(server.address, MODEL)
    second = "GET http://model.example/ HTTP/1.1\r\nhost: model.example\r\nauthorization: other\r\n\r\n"
    _, got = passed_on(server, connect(), f"POST http://{{at}}/ HTTP/1.1\r\nhost: x\r\n{body}{second}")
    assert got == (b"body" if "body" in body else b"")
    assert not server.was_reached()
    assert proxy.refused == ()


def test_a_second_request_that_comes_later_goes_nowhere_either(open_proxy, connect, server):
    open_proxy(server.address)
    request = f"GET http://{server.address}/ HTTP/1.1\r\nhost: x\r\n\r\n".encode()
    client = connect(request)
    outside = server.accept()
    read_head(outside)
    client.sendall(request * 1000)
    outside.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    outside.shutdown(socket.SHUT_WR)
    assert read_all(client) == b"HTTP/1.1 200 OK\r\n\r\n"
    assert read_all(outside) == b""


CHUNKED = b"POST http://%s/ HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"


def test_chunks_are_passed_on_at_once_and_rewritten(open_proxy, connect, server):
    open_proxy(server.address)
    client = connect(CHUNKED % str(server.address).encode() + b'0004;evil="\r\n\r\n\r\n1234\r\n')
    assert status_of(read_all(client)) is None, "a line break in a chunk's extension breaks the request off"
    client = connect(CHUNKED % str(server.address).encode() + b"0004;a=b \r\n1234\r\n")
    server.accept().close()
    outside = server.accept()
    read_head(outside)
    assert read_exactly(outside, 9) == b"4\r\n1234\r\n"
    client.sendall(b"0\r\n\r\nGET http://evil.example/ HTTP/1.1\r\n\r\n")
    assert read_exactly(outside, 5) == b"0\r\n\r\n"
    outside.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    outside.shutdown(socket.SHUT_WR)
    assert read_all(client) == b"HTTP/1.1 200 OK\r\n\r\n"
    assert read_all(outside) == b""


@pytest.mark.parametrize("rest", [b"x\r\n", b"4\r\n12345\r\n", b"fffffffffffffffffffff\r\n", b"2\r\n1"])
def test_a_body_that_breaks_off_or_is_malformed_ends_both_connections(open_proxy, connect, server, rest):
    open_proxy(server.address)
    client = connect(CHUNKED % str(server.address).encode() + rest)
    client.shutdown(socket.SHUT_WR)
    got = read_all(server.accept()).partition(b"\r\n\r\n")[2]
    assert not got.endswith(b"0\r\n\r\n"), "the server must not take it for complete"
    assert read_all(client) == b""


def test_a_client_that_leaves_ends_the_request_at_the_server(open_proxy, connect, server):
    open_proxy(server.address)
    client = connect(f"GET http://{server.address}/ HTTP/1.1\r\nhost: x\r\n\r\n".encode())
    outside = server.accept()
    read_head(outside)
    client.close()
    assert read_all(outside) == b""
