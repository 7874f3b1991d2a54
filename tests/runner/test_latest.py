"""The latch and the `latest` files: what they contain after a run, and how damaged ones are read."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
import yaml

from loopwright.errors import DamagedFile
from loopwright.evidence.model import FindingRecord, ReplanTurn
from loopwright.evidence.store import decode_evidence
from loopwright.redaction.model import seal
from loopwright.runner.latch import Latch, clear_latch, read_latch, set_latch
from loopwright.runner.latest import blocker_text, envelope_of, needs_of, write_blocker, write_result
from loopwright.runner.request import Failure

GOLDENS = Path(__file__).resolve().parents[1] / "goldens" / "v1"
RUN = Path("/runs/r")
FAILURE = Failure(
    "STEP_FAILED", seal(b"step B failed"), "look", "B", seal(b"pytest"), 3, seal(b"the tail"), seal(b"AssertionError"),
)  # fmt: skip


@pytest.fixture
def evidence():
    finding = FindingRecord(rule="r", source=seal(b"log"), line=7, fingerprint="f", action="mask")
    return msgspec.structs.replace(
        decode_evidence((GOLDENS / "evidence-ok.json").read_bytes(), GOLDENS), findings=[finding]
    )


def test_a_latch_is_set_once_and_read_until_it_is_cleared(tmp_path):
    path = tmp_path / "state" / "latch.lock"
    assert read_latch(path) is None
    assert set_latch(path, created_at="2026-01-01T00:00:00Z", reason="it: failed", run_id="r-1") is True
    assert set_latch(path, created_at="later", reason="other", run_id="r-2") is False
    assert read_latch(path) == Latch(
        pid=os.getpid(), created_at="2026-01-01T00:00:00Z", reason="it: failed", run_id="r-1"
    )
    clear_latch(path)
    clear_latch(path)
    assert read_latch(path) is None


UNKNOWN = "unknown: another tool set the latch, or its file is damaged"


@pytest.mark.parametrize(
    ("text", "latch"),
    [
        ("", (0, "unknown", UNKNOWN, "unknown")),
        ("[1, 2]", (0, "unknown", UNKNOWN, "unknown")),
        ("{", (0, "unknown", UNKNOWN, "unknown")),
        ("pid: 12345678901\nreason: r\nrun_id: {a: b}", (12345678901, "unknown", "r", "unknown")),
        ("pid: 123456789012\ncreated_at: c\nrun_id: i", (0, "c", UNKNOWN, "i")),
        ("pid: x1", (0, "unknown", UNKNOWN, "unknown")),
    ],
)
def test_a_latch_of_another_tool_counts(tmp_path, text, latch):
    path = tmp_path / "latch"
    path.write_text(text)
    read = read_latch(path)
    assert (read.pid, read.created_at, read.reason, read.run_id) == latch


def test_a_latch_that_can_not_be_read_is_an_error(tmp_path):
    with pytest.raises(DamagedFile) as caught:
        read_latch(tmp_path)
    assert caught.value.message == f"the latch {tmp_path} can't be read: Is a directory"
    assert caught.value.hint == "look at the file, then remove it by hand"


@pytest.mark.parametrize(
    ("log", "needs", "reason"),
    [
        ("bash: foo: command NOT FOUND", "RESEARCH", "something that the step needs is missing"),
        ("No module named x", "RESEARCH", "something that the step needs is missing"),
        ("Import Error: version", "RESEARCH", "something that the step needs is missing"),
        ("wrong version, assert", "RESEARCH", "incompatible versions"),
        ("incompatible", "RESEARCH", "incompatible versions"),
        ("AssertionError", "REPLAN", "the result is not as expected"),
        ("Expected 2", "REPLAN", "the result is not as expected"),
        ("1 Test Failed", "REPLAN", "the result is not as expected"),
        ("", "RESEARCH", "the log does not show the problem"),
    ],
)
def test_the_log_decides_what_a_failed_step_needs(log, needs, reason):
    row = needs_of(log)
    assert (row.needs, row.reason) == (needs, reason)


def test_the_envelope_of_a_run(evidence):
    ok = envelope_of(evidence, None, plan=seal(b"p.yaml"), written=["w"], missing=False)
    assert msgspec.structs.astuple(ok) == (
        "reflectloop", evidence.finished_at, "OK", None, [], [seal(b"p.yaml")], ["w"], None,
    )  # fmt: skip
    failed = envelope_of(evidence, FAILURE, plan=seal(b"p.yaml"), written=[], missing=True)
    assert (failed.status, failed.error_code, failed.next) == ("ERROR", "STEP_FAILED", "loopwright unlatch")
    assert (failed.missing_inputs, failed.artifacts_read, failed.artifacts_written) == ([seal(b"p.yaml")], [], [])
    interrupted = msgspec.structs.replace(FAILURE, code="INTERRUPTED")
    assert envelope_of(evidence, interrupted, plan=seal(b"p"), written=[], missing=False).next == "loopwright run"


ENVELOPE = {
    "command": "reflectloop", "status": "OK", "error_code": None, "missing_inputs": [], "artifacts_read": ["p"],
    "artifacts_written": [], "next": None,
}  # fmt: skip


def test_the_result_file_has_the_run_and_its_steps(evidence, tmp_path):
    turn = ReplanTurn(agent="a", attempt=1, turn="t", failure=None, usd=None, tokens=1, worked_s=1.0)
    envelope = envelope_of(evidence, None, plan=seal(b"p"), written=[], missing=False)
    write_result(tmp_path / "run.yaml", envelope, evidence, RUN, seal(b"all well"), [turn])
    result = yaml.safe_load((tmp_path / "run.yaml").read_text())
    assert next(iter(result)) == "envelope"
    assert result == {
        "envelope": {**ENVELOPE, "timestamp": evidence.finished_at},
        "run_id": evidence.run_id,
        "run_path": "/runs/r",
        "plan_source_hash": evidence.plan_source_hash,
        "message": "all well",
        "goal": evidence.goal.text,
        "mode": evidence.sandbox.mode,
        "isolation": evidence.isolation.used,
        "base_commit": evidence.base.commit,
        "patch": "/runs/r/changes.patch",
        "summary": "/runs/r/summary.md",
        "evidence": "/runs/r/evidence.json",
        "env_status": evidence.env_status,
        "relaxed_rules": evidence.relaxed_rules,
        "findings": [{"rule": "r", "file": "log", "line": "7", "fingerprint": "f", "action": "mask"}],
        "steps": [
            {"id": "P-1", "outcome": "passed", "exit_codes": [0], "duration_s": 0.014, "verified": ["file_exists"],
             "declared": ["reads well"]},
            {"id": "P-2", "outcome": "passed", "exit_codes": [0], "duration_s": 0.011, "verified": [], "declared": []},
        ],
        "replanning": [msgspec.structs.asdict(turn)],
    }  # fmt: skip


def test_a_run_that_did_not_get_far_has_a_result_too(evidence, tmp_path):
    early = msgspec.structs.replace(
        evidence, sandbox=None, isolation=None, base=None, patch_sha256=None, files={}, steps=[], findings=[]
    )
    write_result(
        tmp_path / "x", envelope_of(early, None, plan=seal(b"p"), written=[], missing=True), early, RUN, seal(b"")
    )
    result = yaml.safe_load((tmp_path / "x").read_text())
    for name in ("mode", "isolation", "base_commit", "patch", "summary"):
        assert result[name] is None
    assert (result["replanning"], result["steps"], result["findings"]) == ([], [], [])


def test_the_blocker_file_has_the_failure_and_what_it_needs(evidence, tmp_path):
    envelope = envelope_of(evidence, None, plan=seal(b"p"), written=[], missing=False)
    blocker = write_blocker(tmp_path / "b", envelope, evidence, RUN, FAILURE)
    written = (tmp_path / "b").read_text()
    assert yaml.safe_load(written) == {
        "envelope": {**ENVELOPE, "timestamp": evidence.finished_at},
        "failed_step": "B",
        "command": "pytest",
        "exit_code": 3,
        "log_tail": "the tail",
        "needs": "REPLAN",
        "needs_reason": "the result is not as expected",
        "run_path": "/runs/r",
        "plan_source_hash": evidence.plan_source_hash,
        "message": "step B failed",
    }
    assert blocker_text(blocker) == written
    silent = msgspec.structs.replace(FAILURE, log_tail=None, log_end=None, message=seal(b"command not found"))
    blocker = write_blocker(tmp_path / "b", envelope, evidence, RUN, silent)
    assert (blocker.log_tail.text, blocker.needs_reason) == (
        "command not found", "something that the step needs is missing",
    )  # fmt: skip
    tail_only = msgspec.structs.replace(FAILURE, log_end=None)
    assert write_blocker(tmp_path / "b", envelope, evidence, RUN, tail_only).needs == "RESEARCH"
