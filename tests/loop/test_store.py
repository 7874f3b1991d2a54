"""A loop is read without its lock, unless something must be written first."""

from __future__ import annotations

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
    """If the log is longer than the head and the lock is held, the head will follow soon."""
    write = loop_store.OpenedLoop.project
    seen = []

    def write_while_read(opened):
        monkeypatch.setattr(loop_store.time, "sleep", lambda _: write(opened))
        seen.append(store.load(LOOP).max_iterations)

    monkeypatch.setattr(loop_store.OpenedLoop, "project", write_while_read)
    with store.changing(LOOP) as opened:
        opened.apply(e.IterationsGiven(max_iterations=9), "ann")
    assert seen == [9]
