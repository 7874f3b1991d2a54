"""The journal: append-only, in order, each entry bound to the one before it."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopwright.errors import DamagedFile
from loopwright.journal.store import Journal


def journal(tmp_path):
    return Journal(tmp_path / "journal.ndjson", tmp_path / "lock")


def add(journal, count, kind="k"):
    for number in range(count):
        with journal.writing() as writer:
            writer.append(kind, {"n": str(number)}, "2026-01-01T00:00:00Z")


def test_entries_come_back_in_order_with_their_links(tmp_path):
    one = journal(tmp_path)
    add(one, 3)
    entries = one.entries()
    assert [entry.seq for entry in entries] == [1, 2, 3]
    assert entries[1].previous == entries[0].digest


def test_no_append_of_many_writers_is_lost(tmp_path):
    one = journal(tmp_path)
    threads = [threading.Thread(target=add, args=(one, 10, f"w{n}")) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(one.entries()) == 80


@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_any_changed_byte_is_noticed(tmp_path_factory, data):
    one = journal(tmp_path_factory.mktemp("j"))
    add(one, 3)
    raw = bytearray(one.path.read_bytes())
    at = data.draw(st.integers(0, len(raw) - 1))
    new = data.draw(st.integers(0, 255).filter(lambda byte: byte != raw[at]))
    raw[at] = new
    one.path.write_bytes(bytes(raw))
    try:
        entries = one.entries()
    except DamagedFile:
        return
    # The only change that reads well cuts the last line's newline: a torn tail, which is set aside.
    assert len(entries) < 3


@pytest.mark.parametrize("cut", range(1, 40, 7))
def test_a_torn_tail_is_kept_aside_and_writing_goes_on(tmp_path, cut):
    one = journal(tmp_path)
    add(one, 2)
    raw = one.path.read_bytes()
    one.path.write_bytes(raw[:-cut])
    add(one, 1)
    assert len(one.entries()) == 2
    assert len(list(tmp_path.glob("*.torn-*"))) == 1


def test_a_missing_line_in_the_middle_is_damage(tmp_path):
    one = journal(tmp_path)
    add(one, 3)
    lines = one.path.read_bytes().splitlines(keepends=True)
    one.path.write_bytes(lines[0] + lines[2])
    with pytest.raises(DamagedFile, match="line 2"):
        one.entries()
