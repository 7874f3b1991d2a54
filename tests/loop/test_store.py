"""A loop is read without its lock, unless something must be written first."""

from __future__ import annotations

import threading
from datetime import UTC, datetime

import pytest

from loopwright.kernel.locks import locked
from loopwright.loop import events as e
from loopwright.loop import store as loop_store
from loopwright.loop.store import LoopStore
from loopwright.workspace.layout import Flavour, Layout

LOOP = "loop-v2-20260101-abcdef"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def layout(tmp_path):
    return Layout(tmp_path, Flavour.UNIFIED, tmp_path)


@pytest.fixture
def store(layout):
    store = LoopStore(layout, lambda: NOW)
    store.create(e.LoopCreated(loop_id=LOOP, title="t", description="", max_iterations=3), "ann")
    return store


@pytest.mark.timeout(20)
def test_a_reader_does_not_wait_for_a_process_that_holds_the_lock(store, layout):
    with locked(layout.lock(f"loop-{LOOP}")):
        assert store.load(LOOP).title == "t"


def test_a_reader_finishes_an_interrupted_write(store, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(loop_store.OpenedLoop, "project", lambda opened: None)
        with store.changing(LOOP) as opened:
            opened.apply(e.IterationsGiven(max_iterations=9), "ann")
    paths = store.paths(LOOP)
    before = paths.state.read_bytes()
    assert store.load(LOOP).max_iterations == 9
    assert paths.state.read_bytes() != before, "the derived files are written again"


def test_a_reader_waits_for_a_change_that_is_being_written(store, monkeypatch):
    """If the log is longer than the head, the reader waits for the writer, and opens nothing itself."""
    read, write, open_loop = loop_store.LoopStore._read, loop_store.OpenedLoop.project, loop_store._open
    seen, opened_loops, is_unreadable = [], [], threading.Event()

    def read_and_tell(reader, loop_id):
        loop = read(reader, loop_id)
        if loop is None:
            is_unreadable.set()
        return loop

    def write_while_read(opened):
        reader.start()
        assert is_unreadable.wait(60)
        assert not seen
        write(opened)

    def open_and_count(*arguments):
        opened_loops.append(arguments)
        return open_loop(*arguments)

    reader = threading.Thread(target=lambda: seen.append(store.load(LOOP).max_iterations))
    monkeypatch.setattr(loop_store.LoopStore, "_read", read_and_tell)
    monkeypatch.setattr(loop_store.OpenedLoop, "project", write_while_read)
    monkeypatch.setattr(loop_store, "_open", open_and_count)
    with store.changing(LOOP) as opened:
        opened.apply(e.IterationsGiven(max_iterations=9), "ann")
    reader.join()
    assert seen == [9]
    assert len(opened_loops) == 1
