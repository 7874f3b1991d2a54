"""Random bytes for the parsers of the boundary. The contract is in test_model_proxy.py."""

from __future__ import annotations

import re
import socket
from contextlib import suppress
from itertools import pairwise

import h11
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.runner.network.conftest import MODEL, client_hello, made_hello, names

from loopwright.kernel.address import Address, parse_address
from loopwright.runner.network import model_proxy
from loopwright.runner.network.model_proxy import Limits, Policy, serve_client
from loopwright.runner.network.request import PlainRequest, Refusal, TunnelRequest, read_request, read_server_name

MOST = 4 << 10
ALLOWED = frozenset({MODEL, Address("model.example", 80), Address("127.0.0.1", 80), Address("::1", 443)})

HOSTS = ["model.example", "MODEL.example.", "evil.example", "localhost", "127.0.0.1", "127.1", "[::1]", "x@y", ""]
# For each part of a request: honest values, and hostile ones.
PARTS = {
    "method": (["CONNECT", "GET", "POST"], st.sampled_from(["connect", "", "PRI", "G\0", "GET "])),
    "host": (HOSTS[:1], st.sampled_from(HOSTS) | st.text(max_size=6)),
    "port": ([":443", ":80"], st.sampled_from(["", ":0", ":", ":99999", ":443:80", "@evil.example:443", ":8080"])),
    "path": (
        ["", "/v1?x=/../"],
        st.sampled_from(["?q", "#", "/#@evil.example", "\\", "/\t", "/ x", "/\n", "/\r\nx: y", "/\0", "/\r"]),
    ),
    "version": (
        ["HTTP/1.1"],
        st.sampled_from(["HTTP/1.0", "HTTP/2.0", "http/1.1", "", "HTTP/1.1 x", "HTTP/1.1\nx: y"]),
    ),
    "end": (["\r\n\r\n"], st.sampled_from(["\n\n", "\r\n", "\r\n\n", "", "\r\r"])),
    "body": (
        ["", "body"],
        st.sampled_from(["4\r\nbody\r\n0\r\n\r\n", "0\r\nx: y\r\n\r\n", "4\nbody", "f" * 30, "\x16\3"]),
    ),
}
HEADERS = [
    "content-length: 4", "content-length: 0", "transfer-encoding: chunked", "connection: close, x", "x: y",
    "upgrade: h2c", "connection: content-length, host, x", "proxy-authorization: basic s3cret", "te: trailers",
    "expect: 100-continue", "X: \x1b[2J", "x: é", " folded", "x:",
    # The rest makes most requests invalid.
    "host: evil.example", "host : x", "content-length: 4, 5", "content-length: 4x", "transfer-encoding: gzip", "x",
    ": x", "x: \0", "x: y\nz: a", "x: y\rz", "x:\x0b", "",
]  # fmt: skip


@st.composite
def requests(draw):
    """A request with at most two hostile parts: the more of them, the sooner it is refused for the first."""
    hostile = draw(st.sets(st.sampled_from(sorted(PARTS)), max_size=2))
    part = {name: draw(wrong if name in hostile else st.sampled_from(right)) for name, (right, wrong) in PARTS.items()}
    scheme = "" if part["method"] == "CONNECT" else "http://"
    if part["method"] == "CONNECT" and "path" not in hostile:
        part["path"] = ""
    headers = draw(st.lists(st.sampled_from(HEADERS), max_size=3, unique=True))
    first = "{method} {scheme}{host}{port}{path} {version}".format(scheme=scheme, **part)
    return ("\r\n".join([first, "host: x", *headers]) + part["end"] + part["body"]).encode("utf-8", "surrogatepass")


ANY = requests() | requests() | st.tuples(requests(), requests()).map(b"".join) | st.binary(max_size=80)


def in_pieces(data, cuts=()):
    """Gives the data as a socket would, then its end."""
    edges = [0, *sorted({cut % len(data) for cut in cuts} - {0} if data else ()), len(data)]
    pieces = iter([data[start:end] for start, end in pairwise(edges) if start < end])
    return lambda: next(pieces, b"")


def shown(request):
    return (type(request), request.address) if isinstance(request, TunnelRequest | PlainRequest) else request


@settings(max_examples=200)
@example(b"CONNECT model.example:443 HTTP/1.1\r\nhost: x\r\n\r\nearly", [7])
@example(b"POST http://model.example/ HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nbodyGET", [7])
@given(ANY, st.lists(st.integers(0, 500), max_size=4))
def test_any_bytes_are_one_request_to_one_address_or_a_refusal(data, cuts):
    request = read_request(in_pieces(data), MOST)
    assert request is None or isinstance(request, TunnelRequest | PlainRequest | Refusal)
    assert shown(read_request(in_pieces(data, cuts), MOST)) == shown(request), "however the bytes arrive"
    if isinstance(request, TunnelRequest | PlainRequest):
        assert parse_address(str(request.address)) == request.address
    if isinstance(request, PlainRequest):
        with suppress(ValueError):
            assert_one_request(b"".join(request.rewritten(in_pieces(b""))))


def assert_one_request(written):
    """By two readers: a strict look at the lines, and h11 as the server."""
    head, _, _ = written.partition(b"\r\n\r\n")
    first, *headers = head.split(b"\r\n")
    assert re.fullmatch(rb"[!-~]+ /[!-~]* HTTP/1\.1", first)
    assert all(re.fullmatch(rb"[!-9;-~]+: ?[^\r\n\0]*", header) for header in headers)
    found = [header.partition(b":")[0].lower() for header in headers]
    assert found[0] == b"host"
    assert found.count(b"host") == 1
    assert headers[-1] == b"connection: close"
    assert not {b"proxy-authorization", b"upgrade", b"te"} & set(found)
    assert b"@" not in headers[0]
    server = h11.Connection(h11.SERVER)
    server.receive_data(written)
    while not isinstance(event := server.next_event(), h11.EndOfMessage):
        assert isinstance(event, h11.Request | h11.Data)
    assert server.trailing_data == (b"", False)


@settings(max_examples=200)
@given(ANY)
def test_whatever_a_client_sends_only_allowed_addresses_are_opened(data):
    opened, recorded = [], []

    def open_route(address, *_):
        opened.append(address)
        return Refusal(502, "closed for the test")

    client, proxy = socket.socketpair()
    original, model_proxy.open_route = model_proxy.open_route, open_route
    try:
        with client, proxy:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            serve_client(proxy, Policy(ALLOWED, None, Limits(), recorded.append), lambda _: None)
            proxy.shutdown(socket.SHUT_WR)
            answer = client.recv(1 << 16)
    finally:
        model_proxy.open_route = original
    assert set(opened) <= ALLOWED
    assert len(opened) + len(recorded) <= 1
    assert re.fullmatch(rb"(HTTP/1\.1 (502|403|400) [^\0]*)?", answer)
    assert bool(answer) == bool(opened or recorded)
    assert all(re.fullmatch(r"[ -~]{1,300}", line) for line in recorded)


HELLOS = [client_hello("model.example"), client_hello(None), made_hello((5, b"x"), names(b"model.example"))]


@settings(max_examples=200)
@given(
    st.sampled_from(HELLOS),
    st.lists(st.tuples(st.integers(0, 600), st.integers(0, 255)), max_size=4),
    st.integers(0, 700),
    st.binary(max_size=10),
)
def test_any_first_tls_message_gives_one_name_or_none(hello, changes, end, more):
    data = bytearray(hello)
    for at, value in changes:
        data[at % len(data)] = value
    data, taken = bytes(data[:end]) + more, 0

    def read(count):
        nonlocal taken
        if taken + count > len(data):
            raise EOFError
        taken += count
        return data[taken - count : taken]

    with suppress(ValueError, EOFError):
        name = read_server_name(read).encode()
        assert name in data[:taken]
        assert bytes(2) + (len(name) + 5).to_bytes(2) in data, "in an extension of its length"
