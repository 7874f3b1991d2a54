"""Files that version 1 wrote must load for ever, to the same bytes."""

from __future__ import annotations

from pathlib import Path

from loopwright.evidence.store import decode_evidence, encode_evidence
from loopwright.journal.store import Journal
from loopwright.plan.parse import parse_plan

GOLDENS = Path(__file__).resolve().parent.parent / "goldens" / "v1"


def test_evidence_of_version_1_loads_and_encodes_to_the_same_bytes():
    for path in sorted(GOLDENS.glob("evidence-*.json")):
        data = path.read_bytes()
        assert encode_evidence(decode_evidence(data, path)) == data
    assert len(list(GOLDENS.glob("evidence-*.json"))) >= 3


def test_a_journal_of_version_1_loads_with_its_digests(tmp_path):
    entries = Journal(GOLDENS / "runs.journal.ndjson", tmp_path / "lock").entries()
    assert [entry.kind for entry in entries][:2] == ["run.recorded", "run.recorded"]
    assert "run.collected" in {entry.kind for entry in entries}


def test_a_plan_of_version_1_loads():
    assert parse_plan((GOLDENS / "plan.yaml").read_bytes(), "plan.yaml").steps
