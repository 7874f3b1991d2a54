"""TLS in a tunnel: the server name must be the tunnel's. The contract is in test_model_proxy.py."""

from __future__ import annotations

import pytest
from tests.runner.network.conftest import (
    answers,
    block,
    client_hello,
    made_hello,
    names,
    read_all,
    read_exactly,
    record,
    tunnel,
)

from loopwright.kernel.address import Address


def padded(length):
    """A first message of this length, in records as long as possible."""
    short = made_hello(names(b"model.example"), (21, b""))[5:]
    message = made_hello(names(b"model.example"), (21, bytes(length - len(short))))[5:]
    return b"".join(record(0x16, message[at : at + (1 << 14)]) for at in range(0, len(message), 1 << 14))


@pytest.mark.parametrize(
    "hello",
    [client_hello("MODEL.example"), made_hello((5, b""), names(b"model.example.")), padded(1 << 14)],
    ids=["real", "made", "long"],
)
@pytest.mark.parametrize("pieces", [1, 7])
def test_tls_with_the_server_of_the_tunnel_passes(named, hello, pieces):
    _, client, outside = named(hello[:pieces])
    client.sendall(hello[pieces:])
    assert read_exactly(outside, len(hello)) == hello
    client.sendall(b"more")
    assert read_exactly(outside, 4) == b"more"


@pytest.mark.parametrize("size", [1, 9])
def test_a_first_message_of_tls_in_many_records_passes(named, size):
    message = client_hello("model.example")[5:]
    hello = b"".join(record(0x16, message[at : at + size]) for at in range(0, len(message), size))
    _, client, outside = named()
    client.sendall(hello)
    assert read_exactly(outside, len(hello)) == hello


ELSEWHERE = "evil.example:443 (TLS server name, through model.example:443)"
UNREADABLE = "model.example:443 (TLS without a readable server name)"
# The first of the three bytes that tell the length of the message.
LONGER = made_hello(names(b"model.example"))[:6] + b"\1" + made_hello(names(b"model.example"))[7:]
HELLOS = {
    "another server": (client_hello("evil.example"), ELSEWHERE),
    "a subdomain": (client_hello("x.model.example"), ELSEWHERE.replace("evil", "x.model")),
    "no server": (client_hello(None), UNREADABLE),
    "no extensions": (made_hello(), UNREADABLE),
    "two servers": (made_hello(names(b"model.example", b"evil.example")), UNREADABLE),
    "two extensions": (made_hello(names(b"model.example"), names(b"evil.example")), UNREADABLE),
    "an encrypted server": (made_hello(names(b"model.example"), (0xFE0D, b"x")), UNREADABLE),
    "an empty name": (made_hello(names(b"")), UNREADABLE),
    "another type of name": (made_hello((0, block(2, b"\1" + block(2, b"model.example")))), UNREADABLE),
    "a name with NUL": (made_hello(names(b"model.example\0.evil.example")), UNREADABLE),
    "a name beyond ASCII": (made_hello(names("mödel.example".encode())), UNREADABLE),
    "an escape in the name": (made_hello(names(b"\x1b[2J.example")), UNREADABLE),
    "no first message": (record(0x16, b"\2" + block(3, bytes(50))), UNREADABLE),
    "an empty first message": (record(0x16, b"\1\0\0\0"), UNREADABLE),
    "a first message of another length": (LONGER, UNREADABLE),
    "a first message above the limit": (padded((1 << 14) + 1), UNREADABLE),
    "an endless first message": (record(0x16, b"\1" + b"\xff\xff\xff" + bytes(50)), UNREADABLE),
    "another record in between": (record(0x16, b"\1\0\0") + record(0x17, b"x"), UNREADABLE),
    "a record above the limit": (record(0x16, made_hello(names(b"model.example"))[5:].ljust(16385, b"\0")), UNREADABLE),
    "an empty record": (record(0x16, b""), UNREADABLE),
    "another protocol": (b"\x16\x09\x01\0\1\1", UNREADABLE),
}


@pytest.mark.parametrize(("hello", "recorded"), HELLOS.values(), ids=HELLOS)
def test_tls_with_another_server_behind_the_same_address_is_cut_off(named, hello, recorded):
    proxy, client, outside = named(hello)
    assert (read_all(client), read_all(outside)) == (b"", b"")
    assert proxy.refused == (recorded,)


def test_another_server_is_recorded_with_the_port_of_the_tunnel(open_proxy, connect, server, monkeypatch, lead_to):
    answers(monkeypatch, "192.0.2.1")
    lead_to(server)
    address = Address("model.example", 8443)
    proxy = open_proxy(address)
    client = connect(tunnel(address) + client_hello("evil.example"))
    assert read_all(client) == b"HTTP/1.1 200 OK\r\n\r\n"
    assert proxy.refused == ("evil.example:8443 (TLS server name, through model.example:8443)",)


def test_a_server_that_speaks_first_and_a_protocol_without_tls_pass(named):
    _, client, outside = named()
    outside.sendall(b"SSH-2.0-server\r\n")
    assert read_exactly(client, 16) == b"SSH-2.0-server\r\n"
    client.sendall(b"SSH-2.0-client\r\n")
    assert read_exactly(outside, 16) == b"SSH-2.0-client\r\n"
