"""A store in a folder of its own, and the evidence of a run that did nothing."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from loopwright.evidence.store import RunOrigin, RunStore, decode_evidence
from loopwright.workspace.layout import Flavour, Layout

GOLDEN = Path(__file__).resolve().parents[1] / "goldens" / "v1" / "evidence-ok.json"
AT = "2026-01-01T00:00:00Z"


@pytest.fixture
def layout(tmp_path):
    return Layout(tmp_path / "project", Flavour.UNIFIED, tmp_path / "home")


@pytest.fixture
def store(layout):
    return RunStore(layout)


@pytest.fixture
def evidence():
    """Evidence of a run without steps, files or a base; keyword arguments change fields."""
    empty = msgspec.structs.replace(
        decode_evidence(GOLDEN.read_bytes(), GOLDEN),
        steps=[], files={}, base=None, result_tree=None, patch_sha256=None, plan_source_hash=None,
    )  # fmt: skip

    def make(run_id, **changes):
        return msgspec.structs.replace(empty, run_id=run_id, **changes)

    return make


@pytest.fixture
def record(store, evidence):
    """Claim, publish and release a run."""

    def record(name, **changes):
        folder = store.claim(name, RunOrigin(), AT)
        for file in changes.get("files", ()):
            (folder.path / file).write_bytes(b"content\n")
        published = store.publish(folder, evidence(folder.run_id, **changes))
        folder.release()
        return published

    return record
