"""A workflow is read without its lock, unless something must be written first."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from loopwright.workflow import commands as c
from loopwright.workflow import store as workflow_store
from loopwright.workflow.facts import Gates
from loopwright.workflow.profiles import PROFILES
from loopwright.workflow.store import WorkflowStore
from loopwright.workspace.layout import Flavour, Layout


@pytest.fixture
def store(tmp_path):
    store = WorkflowStore(Layout(tmp_path, Flavour.UNIFIED, tmp_path), lambda: datetime.now(UTC), Gates())
    with store.beginning(c.Begin(slug="greet", idea="an idea", profile=PROFILES["standard"]), "ann") as opened:
        opened.write({"spec.md": b"# one\n"}, "ann")
    return store


def test_a_snapshot_of_an_unchanged_workflow_takes_no_lock_and_writes_nothing(store, monkeypatch):
    def refuse(path):
        raise AssertionError(path)

    monkeypatch.setattr(workflow_store, "locked_first", refuse)
    snapshot = store.snapshot("greet")
    assert snapshot.workflow.slug == "greet"
    assert snapshot.standing.readiness is not None


@pytest.mark.parametrize("change", [lambda path: path.write_bytes(b"# two\n"), lambda path: path.unlink()])
def test_a_snapshot_adopts_an_edit_and_restores_a_deleted_document(store, change):
    path = store.paths("greet").document("spec.md")
    before = store.snapshot("greet").workflow.revision
    change(path)
    snapshot = store.snapshot("greet")
    assert path.is_file()
    assert snapshot.workflow.revision - before == (path.read_bytes() == b"# two\n")


def test_a_snapshot_after_a_restart_of_the_machine_opens_the_workflow(store, monkeypatch, tmp_path):
    """A power cut may have removed data: the first use of the lock checks for losses."""
    boot = tmp_path / "boot_id"
    boot.write_text("another boot")
    monkeypatch.setattr("loopwright.kernel.locks._BOOT", boot)
    path = store.paths("greet").document("spec.md")
    path.write_bytes(b"")
    store.snapshot("greet")
    assert path.read_bytes() == b"# one\n"
