"""Two pieces of work really run at the same time, and an error of one is not lost."""

from __future__ import annotations

import threading

import pytest

from loopwright.kernel.process import Cancellation, Stopped, wait_for_request
from loopwright.runner import side_by_side
from loopwright.runner.side_by_side import WorkAhead, both, has_free_core


def test_both_run_at_the_same_time():
    meeting = threading.Barrier(2, timeout=60)
    assert both(lambda: (meeting.wait(), "a")[1], lambda: (meeting.wait(), "b")[1]) == ("a", "b")


@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_of_one_reaches_the_caller_after_the_end_of_the_other(failing):
    ended = []

    def work(number):
        if number == failing:
            raise ValueError(number)
        ended.append(number)

    with pytest.raises(ValueError, match=str(failing)):
        both(lambda: work(0), lambda: work(1))
    assert ended == [1 - failing]


@pytest.mark.parametrize(("running", "expected"), [("1/300", True), ("2/300", False), ("9/300", False)])
def test_a_core_is_free_if_fewer_threads_run_than_there_are_cores(tmp_path, monkeypatch, running, expected):
    load = tmp_path / "loadavg"
    load.write_text(f"0.00 0.00 0.00 {running} 4711\n")
    monkeypatch.setattr(side_by_side, "_LOAD", load)
    monkeypatch.setattr(side_by_side.os, "sched_getaffinity", lambda _: {0, 1})
    assert has_free_core() is expected


@pytest.fixture
def free_core(monkeypatch):
    """Whether a core is free, as a list with one value."""
    free = [True]
    monkeypatch.setattr(side_by_side, "has_free_core", lambda: free[0])
    return free


@pytest.fixture
def cancellation():
    request = Cancellation()
    yield request
    request.close()


def test_work_ahead_runs_next_to_other_work_and_keeps_its_result(free_core, cancellation):
    meeting = threading.Barrier(2, timeout=60)
    with WorkAhead(cancellation) as ahead:
        ahead.offer(lambda _: (meeting.wait(), "done")[1])
        meeting.wait()
        assert ahead.has_begun
        assert ahead.take() == "done"


def test_an_error_of_work_ahead_reaches_the_caller(free_core, cancellation):
    def fail(_):
        raise ValueError("no")

    with WorkAhead(cancellation) as ahead:
        ahead.offer(fail, at_once=True)
        with pytest.raises(ValueError, match="no"):
            ahead.take()


def test_work_ahead_does_not_begin_without_a_free_core_or_after_its_result_was_asked_for(free_core, cancellation):
    free_core[0] = False
    with WorkAhead(cancellation) as ahead:
        ahead.offer(lambda _: "done")
        assert ahead.take() is None
        free_core[0] = True
    assert not ahead.has_begun


def test_work_ahead_that_is_not_needed_is_stopped_and_the_other_work_goes_on(free_core, cancellation):
    begun, reasons = threading.Event(), []

    def work(inner):
        begun.set()
        wait_for_request(inner, 60)
        reasons.append(inner.reason)
        raise Stopped(inner.reason)

    with WorkAhead(cancellation) as ahead:
        ahead.offer(work)
        begun.wait(60)
        ahead.stop()
        assert reasons == ["over"]
        assert ahead.take() is None
    assert cancellation.reason is None
