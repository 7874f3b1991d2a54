"""Power fails at every sync of a workflow's writes: afterwards the workflow is in one of its earlier states."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime

import pytest
from tests.workflow.power_cut import KEPT, LOSSES, Disk, PowerCut

from loopwright.kernel import locks
from loopwright.kernel.digest import sha256
from loopwright.workflow import commands as c
from loopwright.workflow import events as e
from loopwright.workflow.facts import Gates
from loopwright.workflow.profiles import PROFILES
from loopwright.workflow.store import OUTSIDE, WorkflowStore
from loopwright.workspace.layout import Flavour, Layout

BEGIN = c.Begin(slug="greet", idea="an idea", profile=PROFILES["standard"])
FIRST = {"spec.md": b"# one\n"}
# A document that replaces another, a new document, and a new document larger than a block.
SECOND = {"spec.md": b"# two\n", "plan.md": b"# plan\n", "change/design.md": b"design\n" * 2000}
THIRD = {"plan.md": b"# plan, again\n", "change/tasks.md": b"# tasks\n"}


def store_in(folder):
    return WorkflowStore(Layout(folder, Flavour.UNIFIED, folder), lambda: datetime.now(UTC), Gates())


def work(store, seen):
    """Write as commands do; `seen` gets the recorded documents after each line."""
    with store.beginning(BEGIN, "ann") as opened:
        opened.write(FIRST, "ann")
        seen.append(dict(opened.workflow.documents))
    with store.changing("greet") as opened:
        opened.write(SECOND, "tool")
        seen.append(dict(opened.workflow.documents))
        opened.apply(e.ProfileSet(profile=PROFILES["deep"]), "ann")
        opened.write(THIRD, "tool")
        seen.append(dict(opened.workflow.documents))


def documents_in(store):
    """The recorded and stored documents, read by the next command; None if there is no workflow."""
    if not store.exists("greet"):
        return None
    with store.changing("greet") as opened:
        for name, digest in opened.workflow.documents.items():
            assert sha256(opened.read(name)) == digest, name
        return dict(opened.workflow.documents)


@pytest.fixture
def restart(tmp_path, monkeypatch):
    """Restarts the machine: each call gives a new boot id."""
    numbers = itertools.count()

    def start():
        name = tmp_path / "boot_id"
        name.write_text(f"boot {next(numbers)}\n")
        monkeypatch.setattr(locks, "_BOOT", name)

    start()
    return start


def syncs_of_all(folder, monkeypatch):
    with monkeypatch.context() as patch:
        disk = Disk(folder, patch)
        seen = []
        work(store_in(folder), seen)
        disk.come_back(KEPT)
    return disk.syncs, seen


@pytest.mark.parametrize("loss", LOSSES)
def test_after_any_power_cut_every_document_is_a_complete_written_version(tmp_path, monkeypatch, restart, loss):
    syncs, states = syncs_of_all(tmp_path / "whole", monkeypatch)
    assert syncs >= 10
    versions = {(name, digest) for state in states for name, digest in state.items()}
    found = []
    for number in range(1, syncs + 2):
        folder = tmp_path / str(number)
        with monkeypatch.context() as patch:
            disk = Disk(folder, patch)
            disk.fail_at(number)
            try:
                work(store_in(folder), [])
                is_over = True
            except PowerCut:
                is_over = False
            disk.come_back(loss)
        assert is_over is (number > syncs)
        restart()
        after = documents_in(store_in(folder))
        assert after is None or after.items() <= versions, number
        found.append(after)
    # The result of a finished command stays: no part of it looks like an external edit.
    assert found[-1] == states[-1]
    journal = store_in(folder).paths("greet").journal
    assert f'"actor":"{OUTSIDE}"' not in journal.read_text()
    assert found[0] in (None, {}), "a cut before the first sync leaves no document"


def test_a_document_that_a_person_emptied_stays_empty(tmp_path, restart):
    store = store_in(tmp_path)
    work(store, [])
    path = store.paths("greet").document("plan.md")
    path.write_bytes(b"")
    with store.changing("greet") as opened:
        assert opened.written_outside() == ("plan.md",)
    assert path.read_bytes() == b""
    # The empty document is on record; only a document that differs from its record can have lost its content.
    restart()
    with store.changing("greet"):
        assert path.read_bytes() == b""


def test_no_outside_file_depends_on_a_line_that_is_not_durable(tmp_path, monkeypatch):
    store = store_in(tmp_path)
    work(store, [])
    disk = Disk(tmp_path, monkeypatch)
    with store.changing("greet") as opened:
        opened.apply(e.ProfileSet(profile=PROFILES["standard"]), "ann")
        assert disk.syncs == 0
        opened.make_durable()
        assert disk.syncs == 1
    assert disk.syncs == 1
    disk.come_back(KEPT)
