"""Verification: each damage is named, and nothing else is."""

from __future__ import annotations

import pytest

from loopwright.evidence.model import PreviousRun
from loopwright.evidence.store import EVIDENCE, RunOrigin, encode_evidence
from loopwright.evidence.verify import _short, verify_all, verify_run
from loopwright.kernel.digest import sha256

AT = "2026-01-01T00:00:00Z"
CONTENT = sha256(b"content\n")


@pytest.fixture
def verified(store, record, tmp_path):
    """Verify the run `two` of three after a change of its folder."""

    def verified(change, **fields):
        record("one")
        record("two", **fields)
        record("three")
        change(store.folder("two"))
        return verify_run(store, "two", None, tmp_path / "scratch")

    return verified


def nothing(_):
    pass


@pytest.mark.parametrize(
    ("change", "fields", "mismatches"),
    [
        (nothing, {}, []),
        (nothing, {"files": {"a.txt": CONTENT}}, []),
        (nothing, {"files": {"plan.yaml": CONTENT}, "plan_source_hash": CONTENT}, []),
        (nothing, {"files": {"changes.patch": CONTENT}, "patch_sha256": CONTENT}, []),
        (nothing, {"files": {"a.txt": "0" * 64}}, [f"a.txt: recorded 000000000000…, found {CONTENT[:12]}…"]),
        (
            nothing,
            {"files": {"plan.yaml": CONTENT}, "plan_source_hash": "short"},
            [f"the plan's digest: recorded short, found {CONTENT[:12]}…"],
        ),
        (lambda run: (run / "a.txt").unlink(), {"files": {"a.txt": CONTENT}}, ["a.txt: recorded, but missing"]),
        (lambda run: (run / "extra").touch(), {}, ["extra: not listed in the evidence"]),
        (lambda run: (run / "logs/a.log").touch(), {}, ["logs/a.log: not listed in the evidence"]),
        (lambda run: (run / "logs").rmdir(), {}, []),
        (lambda run: (run / "changes.patch").touch(), {}, ["changes.patch: not listed in the evidence"]),
    ],
    ids=["whole", "a file", "a plan", "a patch", "a digest", "the plan's digest", "a missing file", "an extra file",
         "an extra log", "no logs", "an extra patch"],
)  # fmt: skip
def test_every_difference_is_named(verified, change, fields, mismatches):
    assert list(verified(change, **fields).mismatches) == mismatches


def test_a_link_in_place_of_a_file_counts_as_missing(verified, tmp_path):
    (tmp_path / "elsewhere").write_bytes(b"content\n")

    def change(run):
        (run / "a.txt").unlink()
        (run / "a.txt").symlink_to(tmp_path / "elsewhere")

    verdict = verified(change, files={"a.txt": CONTENT})
    assert verdict.mismatches == ("a.txt: recorded, but missing",)
    assert verdict.checked == 4


def test_forged_evidence_differs_from_the_journal(verified, evidence):
    verdict = verified(lambda run: (run / EVIDENCE).write_bytes(encode_evidence(evidence("other"))))
    assert [mismatch.partition(":")[0] for mismatch in verdict.mismatches] == [
        "evidence.json's digest in the journal", "the run's own name", "the link to the previous run",
    ]  # fmt: skip
    assert "recorded None, found one " in verdict.mismatches[2]
    assert (verdict.run_id, verdict.checked, verdict.notes) == ("two", 3, ())


def test_evidence_that_cannot_be_read_is_the_only_mismatch(verified):
    verdict = verified(lambda run: (run / EVIDENCE).unlink())
    assert verdict.checked == 1
    assert "can't be read" in verdict.mismatches[0]


@pytest.mark.parametrize(
    ("value", "text"),
    [("a" * 40, "a" * 40), ("a" * 41, "a" * 12 + "…"), (("one", "b" * 20), "one " + "b" * 12), (None, "None")],
)
def test_long_values_are_shortened(value, text):
    assert _short(value) == text


def test_a_run_that_another_run_links_to_has_no_run_before_it(store, record, evidence, tmp_path):
    record("one")
    record("two")
    data = encode_evidence(evidence("one", previous=PreviousRun(run_id="two", evidence_sha256="0" * 64)))
    (store.folder("one") / EVIDENCE).write_bytes(data)
    mismatch = verify_run(store, "one", None, tmp_path).mismatches[1]
    assert mismatch == "the link to the previous run: recorded two 000000000000, found None"


def test_every_run_that_was_not_removed_is_verified(store, record, tmp_path):
    for run in ("one", "two", "three"):
        record(run)
    store.record_collected("two", AT)
    store.claim("unfinished", RunOrigin(), AT).release()
    assert [verdict.run_id for verdict in verify_all(store, None, tmp_path)] == ["one", "three"]
