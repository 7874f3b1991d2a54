"""Documents with bad manual edits: each is named, none causes a traceback, and no content is lost."""

from __future__ import annotations

import os

import pytest
from tests.walks.workflow_kit import BUILT, build_it, planner, prepare, refusal

from loopwright.testing.project import Project

FLOW = "workflows/greet"
CHANGE = "changes/active/chg-greet"
CHINESE = "# 计划\n\n## 步骤\n\n改变问候语,并且说出名字。\n".encode()
DAMAGES = {
    "empty": b"",
    "NUL": b"\0\0\0",
    "not UTF-8": b"\xff\xfe",
    "huge": b"x" * (5 << 20),
    "in another language": CHINESE,
    "deep": b"[" * 100_000,
}
# The document, and the gate whose blockers report its problem; None if the document is only written again.
DOCUMENTS = {
    f"{FLOW}/plan.md": "build",
    f"{FLOW}/test-plan.md": "build",
    "plans/prd-greet.md": "build",
    f"{CHANGE}/proposal.md": "build",
    f"{CHANGE}/slices.json": "build",
    f"{CHANGE}/specs/greeting/spec.md": "build",
    f"{FLOW}/execution-record.md": "review",
    f"{FLOW}/build-context.jsonl": "review",
    f"{FLOW}/build-support/delegation-ledger.json": "review",
    f"{FLOW}/build-support/completion-audit.json": None,
}


# Words are words to a page, and a manifest may name nothing.
FINE = {("in another language", ".md"), ("deep", ".md"), ("empty", ".jsonl")}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """One built workflow for all cases; every case restores its changes."""
    project = Project(tmp_path_factory.mktemp("edited"))
    prepare(project, [planner(), {"role": "builder", "run": BUILT}])
    build_it(project)
    return project


def codes(project, gate):
    done = project.run("status", "greet", "--json")
    assert done.exit_code == 0, done.stderr
    assert done.stderr == ""
    return {one["code"]: one for one in done.json()["readiness"][gate]["blockers"]}


@pytest.mark.parametrize("name", list(DOCUMENTS))
def test_any_content_of_a_document_gets_an_answer_and_nothing_is_lost(built, name):
    gate, path = DOCUMENTS[name], built.own / name
    whole = path.read_bytes()
    fine = codes(built, gate or "review")
    try:
        for what, damage in DAMAGES.items():
            path.write_bytes(damage)
            found = codes(built, gate or "review")
            if gate is not None and (what, path.suffix) not in FINE:
                assert found.keys() - fine.keys(), what
                assert all(one["message"] and one["next"] for one in found.values())
            kept = (built.own / "workflows" / "greet" / "objects").iterdir()
            assert any(one.read_bytes() == whole for one in kept), f"{what}: what was there is kept"
        path.write_bytes(whole.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
        wrong = codes(built, gate or "review").keys() - fine.keys()
        assert wrong <= {"approval_void_build"}, "the line ends of Windows are no damage"
        path.unlink()
        path.mkdir()
        codes(built, gate or "review")
        path.rmdir()
        os.mkfifo(path)
        codes(built, gate or "review")
        path.unlink()
    finally:
        if path.is_dir():
            path.rmdir()
        path.unlink(missing_ok=True)
        path.write_bytes(whole)
    assert codes(built, gate or "review") == fine


@pytest.mark.parametrize("name", ["../../etc", "/etc/passwd", "a/../../b", "d" * 300, "a//b", ".hidden", "con\0trol"])
def test_an_invalid_domain_is_named(built, name):
    path = built.own / FLOW / "spec.md"
    whole = path.read_text()
    try:
        path.write_text(whole.replace("## Target Spec Domains\n", f"## Target Spec Domains\n\n- {name}\n", 1))
        done = built.run("status", "greet", "--json")
        assert done.exit_code == 0, done.stderr
        refused = refusal(built, "approve", "greet", "--from", "build", "--to", "review")
        assert refused["blockers"]
    finally:
        path.write_text(whole)
