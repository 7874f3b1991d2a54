"""Where a connection leads: names, IP addresses and the user's own proxy. The contract is in test_model_proxy.py."""

from __future__ import annotations

import socket
from types import SimpleNamespace

import pytest
from tests.runner.network.conftest import (
    MODEL,
    answers,
    client_hello,
    read_all,
    read_exactly,
    read_head,
    status_of,
    tunnel,
)

from loopwright.errors import SettingsInvalid
from loopwright.kernel.address import Address
from loopwright.runner.network import route
from loopwright.runner.network.model_proxy import Limits, open_model_proxy
from loopwright.runner.network.route import UserProxy, user_proxy_of

ELSEWHERE = "evil.example:443 (TLS server name, through model.example:443)"


@pytest.mark.parametrize(
    "ip",
    ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "169.254.169.254", "::ffff:169.254.169.254", "fe80::1%lo",
     "0.0.0.0", "::", "224.0.0.1", "ff02::1"],
)  # fmt: skip
def test_an_allowed_name_that_leads_to_this_machine_or_its_link_is_refused(open_proxy, ask, server, monkeypatch, ip):
    answers(monkeypatch, ip, "127.0.0.1")
    proxy = open_proxy(Address("model.example", server.port))
    assert status_of(ask(tunnel(f"model.example:{server.port}"))) == 403
    assert proxy.refused == (f"model.example:{server.port} (resolves to {ip})",)
    assert not server.was_reached()


def test_a_name_is_looked_up_once_and_the_connection_uses_that_result(
    open_proxy, connect, server, monkeypatch, lead_to
):
    asked, tried = answers(monkeypatch, "127.0.0.1", "10.1.2.3", "::1", "2001:db8::1"), lead_to(server)
    open_proxy(MODEL)
    assert read_head(connect(tunnel("Model.Example.:443"))).startswith(b"HTTP/1.1 200")
    # A company's gateway has a private address. The others of this answer are never tried.
    assert (asked, tried) == (["model.example"], ["10.1.2.3", "2001:db8::1"])


def test_an_address_that_does_not_answer_leaves_the_next_one(open_proxy, connect, server, monkeypatch):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        places = [(socket.AF_INET, place) for place in (unused.getsockname(), ("127.0.0.1", server.port))]
        monkeypatch.setattr(route, "_look_up", lambda _: places)
        open_proxy(server.address)
        assert read_head(connect(tunnel(server.address))).startswith(b"HTTP/1.1 200")


def test_an_allowed_address_that_can_not_be_reached_is_a_bad_gateway(open_proxy, ask):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = Address(*unused.getsockname())
        proxy = open_proxy(address, Address("no-such-host.invalid"))
        said = ask(tunnel(address))
        assert (status_of(said), said.endswith(f"no connection to {address}: Connection refused\n".encode())) == (
            502,
            True,
        )
        assert status_of(ask(tunnel("no-such-host.invalid:443"))) == 502
    assert proxy.refused == ()


def test_an_address_is_looked_up_for_connections_alone():
    assert route._look_up(Address("127.0.0.1", 80)) == [(socket.AF_INET, ("127.0.0.1", 80))]


@pytest.mark.parametrize(("left_s", "most_s"), [(5.0, 5.0), (100.0, 10.0)])
def test_one_place_may_not_take_all_the_time(server, left_s, most_s):
    places = [(socket.AF_INET, ("127.0.0.1", server.port))]
    tracked = []
    with route._connect(places, route.Deadline(left_s), tracked.append) as connection:
        assert tracked == [connection]
        assert most_s - 4 < connection.gettimeout() <= most_s


def test_an_open_connection_finds_a_server_that_vanished(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        ready = route._ready(connection)
        options = [socket.TCP_NODELAY, socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT]
        assert [ready.getsockopt(socket.IPPROTO_TCP, option) for option in options] == [1, 60, 15, 4]
        assert ready.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert ready.gettimeout() is None


def test_a_name_without_a_place_is_an_error():
    with pytest.raises(OSError, match="the name has no address"):
        route._connect([], route.Deadline(5.0), lambda _: None)


LOGIN = b"YW5uOnMzY3JldC8="
SECRETS = (b"s3cret", LOGIN, b"ann")


@pytest.fixture
def through(open_proxy, connect, user_proxy_server):
    """A tunnel to the model that waits for the user's proxy."""

    def open_through():
        environment = {"HTTPS_PROXY": f"http://ann:s3cret%2F@{user_proxy_server.address}"}
        proxy = open_proxy(MODEL, user_proxy=user_proxy_of(environment))
        client = connect(tunnel(MODEL))
        outside = user_proxy_server.accept()
        return proxy, client, outside, read_head(outside)

    return open_through


def test_the_users_proxy_is_asked_with_its_credentials_and_its_early_bytes_are_kept(through, monkeypatch):
    _, client, outside, head = through()
    assert head == b"CONNECT model.example:443 HTTP/1.1\r\nhost: model.example:443\r\nproxy-authorization: Basic " + (
        LOGIN + b"\r\n\r\n"
    )
    outside.sendall(b"HTTP/1.1 103 Hints\r\n\r\nHTTP/1.0 200 Connected\r\nx: ann:s3cret/\r\n\r\nhello")
    assert read_exactly(client, 24) == b"HTTP/1.1 200 OK\r\n\r\nhello"
    hello = client_hello("model.example")
    client.sendall(hello)
    assert read_exactly(outside, len(hello)) == hello


REFUSALS = {
    "asks for a login": (
        b"HTTP/1.1 407 ann:s3cret/\r\nx: ann\r\ncontent-length: 6\r\n\r\ns3cret",
        "refused with status 407",
    ),
    "refuses": (b"HTTP/1.1 403 No\r\n\r\n", "refused with status 403"),
    "redirects": (b"HTTP/1.1 300 Choose\r\n\r\n", "refused with status 300"),
    "leaves": (b"", "did not answer as a proxy"),
    "leaves after an interim answer": (b"HTTP/1.1 103 Hints\r\n\r\n", "did not answer as a proxy"),
    "breaks off": (b"HTTP/1.1 200 OK\r\nx: s3cret", "did not answer as a proxy"),
    "speaks nonsense": (b"ann:s3cret nonsense\r\n\r\n", "did not answer as a proxy"),
    "does not end": (b"HTTP/1.1 200 OK\r\n" + b"x: s3cret\r\n" * 9000, "did not answer as a proxy"),
}


@pytest.mark.parametrize(("answer", "why"), REFUSALS.values(), ids=REFUSALS)
def test_a_users_proxy_that_does_not_let_us_through_is_a_bad_gateway_without_its_words(through, answer, why):
    proxy, client, outside, _ = through()
    outside.sendall(answer)
    outside.shutdown(socket.SHUT_WR)
    said = read_all(client)
    assert status_of(said) == 502
    assert said.endswith(f"loopwright: no connection to model.example:443: the user's proxy {why}\n".encode())
    assert not any(secret in said for secret in SECRETS)
    assert proxy.refused == ()


def test_a_users_proxy_may_answer_with_many_headers():
    pieces = [b"HTTP/1.1 299 Well\r\n" + b"x: header\r\n" * 3000, b"\r\nearly"]
    deadline = SimpleNamespace(receive=lambda _: pieces.pop(0))
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert UserProxy(Address("proxy.example")).open_tunnel(ours, MODEL, deadline) == b"early"


def test_a_users_proxy_that_says_nothing_is_a_bad_gateway(open_proxy, ask, user_proxy_server):
    open_proxy(MODEL, user_proxy=UserProxy(user_proxy_server.address), limits=Limits(connect_s=0.05))
    assert status_of(ask(tunnel(MODEL))) == 502


def test_tls_through_the_users_proxy_names_the_server_of_the_tunnel(through):
    proxy, client, outside, _ = through()
    outside.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    read_head(client)
    client.sendall(client_hello("evil.example"))
    assert (read_all(client), read_all(outside)) == (b"", b"")
    assert proxy.refused == (ELSEWHERE,)


def test_a_model_on_this_machine_is_reached_without_the_users_proxy(tmp_path, connect, server, user_proxy_server):
    environment = {"https_proxy": f"http://{user_proxy_server.address}"}
    for allowed in ((server.address, MODEL), (server.address,)):
        proxy = open_model_proxy(tmp_path, allowed, environment)
        assert read_head(connect(tunnel(server.address))).startswith(b"HTTP/1.1 200")
        proxy.close()
    assert not user_proxy_server.was_reached()
    # A proxy that no address needs may be one that we can't use.
    open_model_proxy(tmp_path, (server.address, Address("::1", 5)), {"HTTPS_PROXY": "socks5://x"}).close()


@pytest.mark.parametrize(
    "value",
    ["https://ann:s3cret@proxy.example", "socks5://ann:s3cret@proxy.example", "http://ann:s3cret@", "[ann:s3cret"],
)
def test_a_users_proxy_that_we_can_not_use_is_an_error_and_no_direct_connection(tmp_path, value):
    with pytest.raises(SettingsInvalid) as caught:
        open_model_proxy(tmp_path, (MODEL,), {"HTTPS_PROXY": value})
    assert "s3cret" not in f"{caught.value.message} {caught.value.hint}"


def test_the_users_proxy_is_read_from_its_variable():
    assert user_proxy_of({}) is user_proxy_of({"HTTPS_PROXY": ""}) is None
    assert user_proxy_of({"https_proxy": "proxy.example:3128"}) == UserProxy(Address("proxy.example", 3128))
    assert user_proxy_of({"HTTPS_PROXY": "http://proxy.example"}) == UserProxy(Address("proxy.example", 80))
    assert repr(user_proxy_of({"HTTPS_PROXY": "http://ann:s3cret@p.example"})) == "UserProxy(p.example:80)"
