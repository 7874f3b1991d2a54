"""Two pieces of work really run at the same time, and an error of one is not lost."""

from __future__ import annotations

import threading

import pytest

from loopwright.runner import side_by_side
from loopwright.runner.side_by_side import both, has_free_core


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
