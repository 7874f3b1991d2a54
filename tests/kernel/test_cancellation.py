"""A request to stop: the first reason counts, parts stop with the whole, and helpers are killed."""

from __future__ import annotations

import pytest

from loopwright.kernel.cancellation import (
    Cancellation,
    Stopped,
    check_for_stop,
    current_cancellation,
    stopping_on,
    wait_for_request,
)


class Helper:
    killed = 0

    def kill(self):
        self.killed += 1


@pytest.fixture
def whole():
    request = Cancellation()
    yield request
    request.close()
    request.close()


def test_the_first_reason_is_kept_and_wakes_who_waits(whole):
    assert whole.reason is None
    assert not wait_for_request(whole, 0)
    whole.request("first")
    whole.request("second")
    assert whole.reason == "first"
    assert wait_for_request(whole, 60)
    with pytest.raises(Stopped, match="first"):
        whole.raise_if_requested()


def test_a_part_stops_with_the_whole_and_not_the_reverse(whole):
    with whole.nested() as part:
        part.request("of the part")
        assert whole.reason is None
    with whole.nested() as one, whole.nested() as two:
        whole.request("of the whole")
        assert (one.reason, two.reason) == ("of the whole", "of the whole")
    with whole.nested() as late:
        assert late.reason == "of the whole"


def test_a_helper_is_killed_by_a_request_and_then_left_alone(whole):
    helper, other = Helper(), Helper()
    with whole.killing_on_request(other):
        assert other.killed == 0
    with pytest.raises(Stopped, match="enough"), whole.killing_on_request(helper):
        whole.request("enough")
    whole.request("again")
    assert (helper.killed, other.killed) == (1, 0)
    with pytest.raises(Stopped), whole.killing_on_request(helper):
        assert helper.killed == 2, "a request that came before"


def test_a_block_stops_on_its_request(whole):
    check_for_stop()
    with stopping_on(whole):
        assert current_cancellation() is whole
        check_for_stop()
        whole.request("enough")
        with pytest.raises(Stopped):
            check_for_stop()
    assert current_cancellation() is None
    with pytest.raises(Stopped), stopping_on(whole):
        pytest.fail("the block of a request that came before")
    assert current_cancellation() is None
