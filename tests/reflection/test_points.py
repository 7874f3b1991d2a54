"""What a doer said at a point of its work, kept in the form of the contract, by the rules of its workspace."""

from __future__ import annotations

import json

import pytest

from loopwright.reflection.model import MostLikelyWrong
from loopwright.reflection.points import SelfRating, Work, has_point, keep_point
from loopwright.reflection.store import read_one

NOW_MS = 1_750_000_000_000


def work(tmp_path, **more):
    named = {"task_ref": "L/T-1", "session": "L-a-1-claude", "agent": "claude", "mode": "solo", "environment": {}}
    return Work(**{"root": tmp_path / "project", **named, **more})


def test_a_capture_is_the_contracts_record_and_is_found_again(tmp_path):
    about = work(tmp_path, files=("src/auth.py", "a.md"), environment={"MY_TOKEN": "s3cr3t-s3cr3t"})
    said = SelfRating(
        confidence=0.25,
        most_likely_wrong=MostLikelyWrong(surface="data", description="it prints s3cr3t-s3cr3t " + "x" * 5000),
    )
    assert not has_point(about, "after")
    stored = read_one(keep_point(about, "after", said, NOW_MS))
    assert has_point(about, "after")
    assert not has_point(about, "adversarial")
    assert not has_point(work(tmp_path, session="L-a-1"), "after")
    record = stored.reflection
    assert stored.name == "L-a-1-claude-20250615T150640.000Z.after.capture.json"
    assert (record.task_ref, record.session_id, record.repo) == ("L/T-1", "L-a-1-claude", "project")
    assert record.files_changed == ["a.md", "src/auth.py"]
    assert record.risk.needs_review
    assert record.most_likely_wrong.description.startswith("it prints [secret] xxx")
    assert len(record.most_likely_wrong.description) < 4200
    assert record.provenance.reflection_mode == "solo"
    assert keep_point(about, "after", said, NOW_MS) != stored.path, "two of one moment are two"


def test_an_answer_that_did_not_come_is_degraded_and_has_no_confidence(tmp_path):
    record = read_one(keep_point(work(tmp_path), "before", None, NOW_MS)).reflection
    assert (record.confidence, record.provenance.degraded, record.risk.needs_review) == (None, True, False)


@pytest.mark.parametrize(("by", "is_inside"), [("variable", False), ("workspace", True)])
def test_the_folder_is_the_chosen_one_as_far_as_who_chose_is_trusted(tmp_path, by, is_inside):
    elsewhere = tmp_path / "elsewhere"
    environment = {"REFLECTION_DIR": str(elsewhere)} if by == "variable" else {}
    config = tmp_path / "project" / ".loopwright" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f"[reflection]\ndir = {json.dumps(str(elsewhere))}\n" if by == "workspace" else "")
    path = keep_point(work(tmp_path, environment=environment), "before", SelfRating(confidence=1), NOW_MS)
    assert path.is_relative_to(config.parent) is is_inside
    assert path.is_relative_to(elsewhere) is not is_inside
