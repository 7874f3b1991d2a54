"""A log's lines: readable after a write, durable after a sync, and never incomplete."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from loopwright.errors import StorageFailed
from loopwright.journal.event_log import LogWriter, has_content


def no_space(*_):
    raise OSError(28, "No space left on device")


def test_a_log_that_begins_is_there_at_once_and_durable_with_its_name_at_the_sync(tmp_path, monkeypatch):
    path, synced = tmp_path / "log", []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(Path(f"/proc/self/fd/{handle}").readlink()))
    writer = LogWriter(path)
    writer.start({"line": 1})
    writer.write({"line": 2})
    assert path.read_bytes() == b'{"line":1}\n{"line":2}\n'
    assert synced == []
    writer.sync()
    assert synced == [path, tmp_path]
    assert writer.append({"line": 3})[0] == 33
    assert synced == [path, tmp_path, path]
    writer.close()
    assert path.read_bytes().count(b"\n") == 3


@pytest.mark.parametrize("left", [None, b"", b"\0" * 20])
def test_what_a_power_cut_leaves_of_a_log_that_began_is_no_log(tmp_path, left):
    path = tmp_path / "log"
    if left is not None:
        path.write_bytes(left)
    assert not has_content(path)
    LogWriter(path).start({"line": 1})
    assert has_content(path)


def test_several_lines_wait_for_the_disk_once(tmp_path, monkeypatch):
    writer = LogWriter(tmp_path / "log")
    writer.begin({"line": 1})
    synced = []
    monkeypatch.setattr(os, "fsync", synced.append)
    for number in range(5):
        writer.write({"line": number})
    assert not synced
    writer.sync()
    writer.sync()
    assert len(synced) == 1


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_full_disk_leaves_the_log_as_it_was(tmp_path, monkeypatch, call):
    path = tmp_path / "log"
    writer = LogWriter(path)
    writer.begin({"line": 1})
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, call, no_space)
        with pytest.raises(StorageFailed, match="No space left"):
            writer.append({"line": 2})
    assert path.read_bytes() == before
    writer.append({"line": 2})
    writer.close()
    assert path.read_bytes() == before + b'{"line":2}\n'


def test_an_incomplete_line_is_removed_and_earlier_lines_stay(tmp_path, monkeypatch):
    path = tmp_path / "log"
    writer = LogWriter(path)
    writer.begin({"line": 1})
    writer.write({"line": 2})
    real = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda handle, data: real(handle, data[:3]))
        with pytest.raises(StorageFailed):
            writer.write({"line": 3})
    writer.sync()
    writer.close()
    assert path.read_bytes() == b'{"line":1}\n{"line":2}\n'
