"""What programs print, read as it grows: nothing twice, nothing lost, and no half line taken for a whole one."""

from __future__ import annotations

import os

import pytest
from msgspec.structs import replace

from loopwright.loop.model import Action, Loop, Running, UnderWay
from loopwright.verbs.loop.agent_logs import Tail, all_logs
from loopwright.workspace.layout import Flavour, Layout

NOW = "2026-01-01T00:00:00Z"
IDLE = Loop(
    loop_id="loop-v2-20260101-abcdef", title="t", description="", max_iterations=3, created_at=NOW, updated_at=NOW,
    phase=Running(), revision=1,
)  # fmt: skip
BUSY = replace(IDLE, under_way=UnderWay(action=Action.DEVELOP, id="a-1", started_at=NOW))


@pytest.fixture
def layout(tmp_path):
    return Layout(tmp_path, Flavour.UNIFIED, tmp_path)


def add(layout, name, data, age=0):
    path = layout.loop(IDLE.loop_id).progress / "turns" / name
    if name.startswith("runs/"):
        path = layout.runs / name.removeprefix("runs/")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as stream:
        stream.write(data)
    os.utime(path, ns=(10**18 + age, 10**18 + age))


def test_what_is_printed_comes_once_and_a_half_line_when_it_is_whole(layout):
    tail = Tail(layout)
    assert tail.read(BUSY) == ()
    add(layout, "a-1-builder/program-1.log", "one\ntwo is 写".encode())
    (printed,) = tail.read(BUSY)
    assert (printed.lines, printed.unfinished) == (("one",), "two is 写")
    assert tail.read(BUSY) == ()
    add(layout, "a-1-builder/program-1.log", b" whole\nthree")
    (printed,) = tail.read(BUSY)
    assert (printed.lines, printed.unfinished) == (("two is 写 whole",), "three")
    (printed,) = tail.read(IDLE)
    assert (printed.lines, printed.unfinished) == (("three",), ""), "its program is over"
    assert tail.read(IDLE) == ()


def test_a_progress_bar_is_what_it_came_to(layout):
    add(layout, "a-1-builder/program-1.log", b"10 %\r50 %\r100 %\r\nnext\n")
    (printed,) = Tail(layout).read(BUSY)
    assert printed.lines == ("100 %", "next")


def test_an_action_that_came_and_went_between_two_looks_is_told_too(layout):
    tail = Tail(layout)
    tail.read(BUSY)
    add(layout, "a-1-builder/program-1.log", b"first\n", age=1)
    add(layout, "a-2-debugger/program-1.log", b"second\n", age=2)
    add(layout, "a-2-H1.log", b"third\n", age=3)
    add(layout, f"runs/{IDLE.loop_id}-validate/logs/tests-1.log", b"fourth\n", age=4)
    add(layout, "runs/another-loop-validate/logs/tests-1.log", b"of another\n", age=5)
    assert [printed.lines for printed in tail.read(IDLE, started=("a-2",))] == [
        ("first",), ("second",), ("third",), ("fourth",)
    ]  # fmt: skip


def test_a_late_reader_sees_the_end_of_the_last_log_or_all_logs(layout):
    add(layout, "a-0-planner/program-1.log", b"old\n", age=1)
    add(layout, "a-1-builder/program-1.log", b"x" * 100 + b"\n" + b"line\n" * 100_000, age=2)
    add(layout, f"runs/{IDLE.loop_id}-validate/logs/tests-1.log", b"", age=3)
    (printed,) = Tail(layout).read(IDLE)
    assert len(printed.lines) < 60_000
    assert printed.lines[-1] == "line"
    whole = Tail(layout, whole=True).read(IDLE)
    assert [len(printed.lines) for printed in whole] == [1, 100_001]
    assert len(all_logs(layout, IDLE.loop_id)) == 3
