"""The request to freeze: each listener is woken, and tells when it follows. No command runs here."""

from __future__ import annotations

import os
import select
import threading
import time

import pytest

from loopwright.kernel.cancellation import Cancellation
from loopwright.kernel.freezing import Freezer


def is_woken(listener):
    return bool(select.select([listener], [], [], 0)[0])


@pytest.fixture
def freezer():
    return Freezer()


@pytest.fixture
def listener(freezer):
    with freezer.listen() as made:
        yield made


def in_a_thread(work):
    results = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()

    def result():
        thread.join()
        return results[0]

    return result


def test_a_request_wakes_every_listener_once(freezer, listener):
    assert (listener.should_freeze(), is_woken(listener)) == (False, False)
    with freezer.listen() as other:
        freezer.freeze()
        assert (is_woken(listener), is_woken(other)) == (True, True)
        assert (listener.should_freeze(), is_woken(listener), is_woken(other)) == (True, False, True)
    freezer.thaw()
    assert is_woken(listener)
    assert (listener.should_freeze(), freezer.is_frozen) == (False, False)


def test_a_request_is_settled_when_all_listeners_follow(freezer, listener):
    assert freezer.settled(0)
    freezer.freeze()
    assert freezer.is_frozen
    assert not freezer.settled(0)
    settled = in_a_thread(lambda: freezer.settled(300))
    with freezer.listen() as other:
        listener.report(frozen=True)
        assert not freezer.settled(0)
        other.report(frozen=True)
        assert settled()
        freezer.thaw()
        listener.report(frozen=False)
        settled = in_a_thread(lambda: freezer.settled(300))
    assert settled(), "a command that ended is not waited for"


def test_a_thaw_settles_what_did_not_follow(freezer, listener):
    freezer.freeze()
    settled = in_a_thread(lambda: freezer.settled(300))
    freezer.thaw()
    assert settled()


def test_the_descriptors_of_a_listener_are_closed(freezer):
    with freezer.listen() as listener:
        handles = listener._read, listener._write
        assert listener.fileno() == handles[0]
        for _ in range(70_000):  # more than a pipe holds
            listener.wake()
        assert not listener.should_freeze()
        assert not is_woken(listener)
    for handle in handles:
        with pytest.raises(OSError, match="descriptor"):
            os.fstat(handle)
    assert (listener._read, listener._write) == (-1, -1), "the numbers may belong to other files soon"
    listener.wake()


@pytest.mark.parametrize("by", ["thaw", "stop"])
def test_a_command_waits_for_the_thaw_or_a_stop(freezer, listener, by):
    request = Cancellation()
    assert listener.wait_for_thaw(None) == 0.0
    freezer.freeze()
    began = time.monotonic()
    waited = in_a_thread(lambda: listener.wait_for_thaw(None if by == "thaw" else request))
    assert freezer.settled(300), "it counts as frozen"
    if by == "thaw":
        freezer.thaw()
    else:
        request.request("enough")
    assert 0 < waited() <= time.monotonic() - began
    assert not listener.is_frozen
    request.close()
