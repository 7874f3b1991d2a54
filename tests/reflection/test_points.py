"""The reflection on a turn in a sandbox: the agent's report in the specified format, without secrets."""

from __future__ import annotations

import pytest

from loopwright.reflection.capture.self_report import SelfReport
from loopwright.reflection.capture.settings import Floor
from loopwright.reflection.model import MostLikelyWrong
from loopwright.reflection.points import ReflectedWork, SelfRating, has_point, reflection_on, without_secrets

NOW_MS = 1_750_000_000_000


def taken(said, files=(), earlier=0):
    work = ReflectedWork(task_ref="L/T-1", session="L-a-1-claude", agent="claude", files=files)
    return reflection_on(work, said, Floor(), repo="project", mode="solo", at_ms=NOW_MS, earlier=earlier)


def test_a_record_is_the_contracts_and_a_claim_raises_its_risk():
    wrong = MostLikelyWrong(surface="data", description="it prints")
    said = SelfRating(confidence=0.25, most_likely_wrong=wrong).as_report()
    record = taken(said, ("src/auth.py", "a.md"), earlier=1)
    assert (record.task_ref, record.session_id, record.repo) == ("L/T-1", "L-a-1-claude", "project")
    assert (record.timestamp, record.confidence, record.most_likely_wrong) == ("2025-06-15T15:06:40.000Z", 0.25, wrong)
    assert record.files_changed == ["a.md", "src/auth.py"]
    assert record.risk.needs_review
    assert (record.provenance.reflection_attempt, record.provenance.degraded) == (2, False)
    assert not taken(SelfReport(is_complete=True), ("a.md",)).risk.needs_review
    assert taken(said, ("a.md",)).risk.surface == "data"


def test_an_answer_that_did_not_come_is_degraded_and_has_no_confidence():
    record = taken(SelfReport())
    assert (record.confidence, record.provenance.degraded, record.risk.needs_review) == (None, True, False)
    assert taken(SelfReport(is_complete=True), tuple(map(str, range(10_001)))).provenance.degraded


def test_a_secret_is_out_before_a_text_is_cut_and_the_names_of_fields_are_none():
    about = "x" * 4090 + "s3cr3t-s3cr3t"
    wrong = {"surface": "data", "description": about}
    record = taken(SelfReport(0.5, wrong, about, is_complete=True), ("s3cr3t-s3cr3t.py",))
    told = without_secrets(record, lambda text: text.replace("s3cr3t-s3cr3t", "***").replace("confidence", "***"))
    assert told.most_likely_wrong.description == told.known_not_in_diff == "x" * 4090 + "***"
    assert (told.files_changed, told.confidence) == (["***.py"], 0.5)
    long = without_secrets(taken(SelfReport(0.5, wrong | {"description": "y" * 5000})), str)
    assert len(long.most_likely_wrong.description) == 4096


@pytest.mark.parametrize(("session", "is_there"), [("L-a-1-claude", True), ("L-a-1", False), ("L", False)])
def test_a_point_is_found_again_by_its_whole_session(tmp_path, session, is_there):
    (tmp_path / "L-a-1-claude-20250615T150640.000Z.after.capture.json").touch()
    assert has_point(tmp_path, session, "after") is is_there
    assert not has_point(tmp_path, session, "adversarial")
    assert not has_point(tmp_path / "none", session, "after")
