"""What clients may cost, and how connections end. The contract is in test_model_proxy.py."""

from __future__ import annotations

import errno
import socket
import struct
import threading
import tracemalloc
from contextlib import ExitStack, suppress

import pytest
from tests.runner.network.conftest import (
    MODEL,
    client_hello,
    read_all,
    read_exactly,
    read_head,
    status_of,
    tunnel,
)

from loopwright.runner.network import model_proxy, route
from loopwright.runner.network.model_proxy import Limits, Policy
from loopwright.runner.network.request import TunnelRequest
from loopwright.runner.network.route import UserProxy

BIG = 16 << 20
RESET = struct.pack("ii", 1, 0)


def test_more_connections_than_the_limit_are_refused_until_one_ends(open_proxy, connect, ask, server):
    proxy = open_proxy(server.address, limits=Limits(connections=2))
    clients = [connect(tunnel(server.address)) for _ in range(2)]
    for client in clients:
        read_head(client)
        server.accept()
    assert status_of(ask(tunnel(server.address))) == 503
    assert proxy.refused == ("more than 2 connections at once",)
    for client in clients:
        client.close()
    server.close_accepted()
    while read_head(client := connect(tunnel(server.address))).startswith(b"HTTP/1.1 503"):
        client.close()


@pytest.mark.parametrize("start", [b"", b"GET http://127.0.0.1/ HTTP/1.1\r\nx: ", b"CONNECT "])
def test_a_head_without_an_end_is_cut_off_at_its_limit(open_proxy, connect, start):
    open_proxy(limits=Limits(head_bytes=4 << 10))
    with pytest.raises(ConnectionError):
        send_on(connect(start), most=4 << 20)


@pytest.mark.parametrize("start", [b"", b"CONNECT 127.0.0.1:1 HTTP/1.1\r\nhost: x\r\n"])
def test_a_head_that_takes_too_long_is_cut_off(open_proxy, connect, start):
    proxy = open_proxy(limits=Limits(head_s=0.05))
    assert status_of(read_all(connect(start))) == 408
    assert proxy.refused == ()


def test_the_time_for_a_head_does_not_begin_again_with_every_byte(open_proxy, connect):
    open_proxy(limits=Limits(head_s=0.2))
    client = connect()
    client.settimeout(0.02)
    answer = b""
    while not answer:
        client.sendall(b"a")
        with suppress(TimeoutError):
            answer = client.recv(12)
    assert status_of(answer) == 408


def test_a_first_message_of_tls_that_takes_too_long_is_cut_off():
    client, proxy = socket.socketpair()
    policy = Policy(frozenset(), None, Limits(head_s=0), [].append)
    with client, proxy, pytest.raises(TimeoutError):
        model_proxy.first_bytes(proxy, TunnelRequest(MODEL, client_hello("model.example")[:100]), policy)


def test_the_list_of_refused_requests_is_limited(open_proxy, ask):
    proxy = open_proxy(limits=Limits(refused=3))
    for host in ("a", "b", "a", "c", "d", "b", "e"):
        ask(tunnel(f"{host}.example:443"))
    assert proxy.refused == ("a.example:443", "b.example:443", "c.example:443", "more requests")


def test_a_client_that_leaves_in_its_head_is_not_recorded(open_proxy, connect):
    proxy = open_proxy()
    for start in (b"", b"CONNECT evil.exam"):
        client = connect(start)
        client.shutdown(socket.SHUT_WR)
        assert read_all(client) == b""
    assert proxy.refused == ()


def test_too_many_open_files_do_not_end_the_proxy(open_proxy, ask, monkeypatch):
    accept, failures = socket.socket.accept, [errno.EMFILE, errno.ENFILE, errno.ECONNABORTED]

    def fail_first(listener):
        if failures:
            raise OSError(failures.pop(), "")
        return accept(listener)

    monkeypatch.setattr(socket.socket, "accept", fail_first)
    open_proxy()
    assert status_of(ask(tunnel("evil.example:443"))) == 403


def test_too_many_threads_do_not_end_the_proxy(open_proxy, connect, ask, monkeypatch):
    open_proxy(limits=Limits(connections=1))
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", lambda _: (_ for _ in ()).throw(RuntimeError("no more threads")))
        assert read_all(connect(tunnel("evil.example:443"))) == b""
    assert status_of(ask(tunnel("evil.example:443"))) == 403


@pytest.mark.parametrize("is_plain", [False, True], ids=["tunnel", "plain"])
def test_big_bodies_pass_both_ways_without_being_kept(open_proxy, connect, server, is_plain):
    open_proxy(server.address)
    post = f"POST http://{server.address}/ HTTP/1.1\r\nhost: x\r\ncontent-length: {BIG}\r\n\r\n"
    client = connect(post.encode() if is_plain else tunnel(server.address))
    outside = server.accept()
    if is_plain:
        read_head(outside)
    else:
        read_head(client)
    tracemalloc.start()
    try:
        for source, target in ((client, outside), (outside, client)):
            sender = threading.Thread(target=send_much, args=(source,))
            sender.start()
            left = BIG
            while left:
                left -= len(read_some(target))
            sender.join()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < BIG / 8


def send_on(connection, *, most):
    """Send until the connection breaks."""
    for _ in range(most // 1000):
        connection.sendall(b"a" * 1000)


def send_much(connection):
    for _ in range(BIG // (1 << 16)):
        connection.sendall(bytes(1 << 16))


def read_some(connection):
    data = connection.recv(1 << 16)
    assert data
    return data


def opened(open_proxy, connect, server, **options):
    proxy = open_proxy(server.address, **options)
    client = connect(tunnel(server.address))
    read_head(client)
    return proxy, client, server.accept()


def test_a_half_closed_connection_carries_the_other_half(open_proxy, connect, server):
    _, client, outside = opened(open_proxy, connect, server)
    client.shutdown(socket.SHUT_WR)
    assert outside.recv(1) == b""
    outside.sendall(b"late")
    assert read_exactly(client, 4) == b"late"
    _, client, outside = opened(open_proxy, connect, server)
    outside.shutdown(socket.SHUT_WR)
    assert client.recv(1) == b""
    client.sendall(b"late")
    assert read_exactly(outside, 4) == b"late"


def test_a_server_that_resets_frees_its_client_and_its_place(open_proxy, connect, server):
    _, client, outside = opened(open_proxy, connect, server, limits=Limits(connections=1))
    outside.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    outside.close()
    assert read_all(client) == b""
    # The client itself still holds its end open.
    while read_head(again := connect(tunnel(server.address))).startswith(b"HTTP/1.1 503"):
        again.close()


def test_a_client_that_vanishes_in_a_transfer_frees_its_server(open_proxy, connect, server):
    _, client, outside = opened(open_proxy, connect, server)
    client.close()
    with pytest.raises(ConnectionError):
        send_on(outside, most=64 << 20)


def test_after_close_no_byte_passes(open_proxy, connect, server):
    proxy, client, outside = opened(open_proxy, connect, server)
    waiting = connect(b"CONNECT ")
    proxy.close()
    assert [read_all(one) for one in (client, outside, waiting)] == [b"", b"", b""]
    with pytest.raises(ConnectionError):
        connect()


def test_close_ends_a_connection_that_is_being_opened(open_proxy, connect, user_proxy_server):
    proxy = open_proxy(MODEL, user_proxy=UserProxy(user_proxy_server.address))
    client = connect(tunnel(MODEL))
    outside = user_proxy_server.accept()
    read_head(outside)
    proxy.close()
    assert read_all(outside) == b""
    # The server's end may come first: then the client is told that.
    assert status_of(read_all(client)) in (None, 502)


def test_a_connection_that_comes_to_be_after_close_is_closed_at_once(open_proxy, connect, server, monkeypatch):
    looking_up, go_on = threading.Event(), threading.Event()

    def look_up(address):
        looking_up.set()
        go_on.wait()
        return [(socket.AF_INET, ("127.0.0.1", server.port))]

    monkeypatch.setattr(route, "_look_up", look_up)
    proxy = open_proxy(server.address)
    client = connect(tunnel(server.address))
    looking_up.wait()
    proxy.close()
    go_on.set()
    assert read_all(client) == b""
    assert not server.was_reached()


def test_a_connection_is_forgotten_when_its_client_is_served(open_proxy):
    proxy = open_proxy()
    ours, theirs = socket.socketpair()
    with theirs:
        with ExitStack() as sockets:
            proxy._track(sockets, ours)
            assert proxy._sockets == {ours}
        assert (proxy._sockets, ours.fileno()) == (set(), -1)


def test_no_thread_of_the_proxy_keeps_the_process_alive(open_proxy, connect, server):
    before = set(threading.enumerate())
    open_proxy(server.address)
    client = connect(tunnel(server.address))
    read_head(client)
    outside = server.accept()
    client.sendall(b"x")
    assert read_exactly(outside, 1) == b"x"
    started = set(threading.enumerate()) - before
    assert len(started) >= 2
    assert all(thread.daemon for thread in started)


def test_no_room_for_the_second_thread_of_a_client_ends_that_client(open_proxy, connect, server, monkeypatch):
    def failing(*_, **__):
        raise RuntimeError("can't start new thread")

    unhandled, before = [], set(threading.enumerate())
    monkeypatch.setattr(threading, "excepthook", unhandled.append)
    proxy = open_proxy(server.address)
    with monkeypatch.context() as patched:
        patched.setattr(model_proxy, "_answering", failing)
        assert read_all(connect(tunnel(server.address))) == b"HTTP/1.1 200 OK\r\n\r\n"
    proxy.close()
    for thread in set(threading.enumerate()) - before:
        thread.join()
    assert unhandled == []


class Clock:
    now = 1000.0

    def monotonic(self):
        return self.now


def test_a_time_limit_is_over_at_its_end(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(route, "time", clock)
    deadline = route.Deadline(5.0)
    clock.now += 4.0
    assert deadline.left() == 1.0
    for _ in range(2):
        clock.now += 1.0
        with pytest.raises(TimeoutError, match="timed out"):
            deadline.left()


def test_a_connection_without_bytes_times_out():
    silent, other = socket.socketpair()
    with silent, other, pytest.raises(TimeoutError, match="timed out"):
        route.Deadline(0.01).receive(silent)
