"""Files of loopx, Claude Code Workflow and OpenSpec, in the shapes of several versions."""

from __future__ import annotations

import json

import pytest

from loopwright.workflow.documents.spec import read_spec
from loopwright.workflow.slices import read_slices
from loopwright.workflow.takeover.ccw import read_ccw
from loopwright.workflow.takeover.loopx import read_loopx
from loopwright.workflow.takeover.openspec import read_openspec
from loopwright.workflow.takeover.source import Source

DELTA = """## ADDED Requirements

### Requirement: Sign in
The system SHALL let people in.

#### Scenario: Known
- **WHEN** they know it
- **THEN** they are in
"""


@pytest.fixture
def write(tmp_path):
    def put(files):
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else _text(content).encode())
        return Source(tmp_path)

    return put


def _text(content):
    return content if isinstance(content, str) else json.dumps(content)


def spec_of(candidate):
    return read_spec(candidate.documents["spec.md"])


def names(candidate):
    return set(candidate.documents)


# ---- loopx


def test_a_loopx_workflow_keeps_its_documents_and_its_evidence_is_set_aside(write):
    found = read_loopx(
        write({
            "workflows/web/state.json": {"current_stage": "review", "approval": {"plan": {"status": "approved"}}},
            "workflows/web/spec.md": "# W\n\n## Intent\n\nA web.\n\n## Out Of Scope / Non-Goals\n\n- tray\n",
            "workflows/web/plan.md": "# Plan",
            "workflows/web/execution-record.md": "# done",
            "workflows/web/review-report.md": "# approved",
            "workflows/web/build-support/completion-audit.json": "{}",
            "plans/prd-web.md": "# PRD",
            "plans/prd-other.md": "# PRD",
            "context/domain.md": "words",
            "context/web-20260507224917.md": "then",
        })
    )  # fmt: skip
    (web,) = found.candidates
    assert names(web) == {
        "spec.md", "plan.md", "plans/prd-web.md", "imported/state.json", "imported/spec.md",
        "imported/execution-record.md", "imported/review-report.md", "imported/build-support/completion-audit.json",
        "imported/context/web-20260507224917.md",
    }  # fmt: skip
    assert web.claims == {"current_stage": "review", "approval.plan": "approved"}
    assert not web.finished
    assert spec_of(web).page.text_of("Non-Goals") == "- tray"
    assert [(one.kind, one.name) for one in found.loose] == [("plan", "prd-other.md"), ("note", "domain.md")]
    assert found.troubles == ()


def test_loopx_without_a_spec_uses_the_newest_snapshot_or_the_state(write):
    found = read_loopx(
        write({
            "workflows/a/state.json": "{}",
            "specs/clarify-a-20260101000000.md": "## Intent\n\nold\n",
            "intake/clarify-a-20260201000000.md": "## Intent\n\nnew\n",
            "specs/clarify-a-b-20260301000000.md": "## Intent\n\nanother's\n",
            "workflows/b/state.json": {"summary": {"intent": "told", "non_goals": ["x"], "open_questions": ["who?"]}},
        })
    )  # fmt: skip
    first, second = found.candidates
    assert spec_of(first).page.text_of("Intent") == "new"
    assert spec_of(second).page.text_of("Intent") == "told"
    assert [item.question for item in spec_of(second).open_items] == ["who?"]
    assert {one.kind for one in found.loose} == {"snapshot"}


def test_early_loopx_had_its_workflows_at_the_top(write):
    found = read_loopx(write({"web/state.json": "{}", "views/index.html": "x", "README.md": "x"}))
    assert [(one.name, one.path) for one in found.candidates] == [("web", "web")]
    assert [one.path for one in found.left] == ["views", "README.md"]


def test_a_loopx_change_belongs_to_its_workflow_and_its_delta_to_its_domain(write):
    files = {
        "workflows/web/state.json": {"change_id": "chg-web"},
        "changes/active/chg-web/proposal.md": "## Why\n\nso\n\n## Target Spec Domains\n\n- auth\n",
        "changes/active/chg-web/spec-delta.md": DELTA,
        "changes/active/chg-web/artifact-graph.json": "{}",
        "changes/active/chg-web/slices.json": {"schema_version": 1, "slices": []},
        "changes/archive/chg-old/proposal.md": "x",
        "changes/active/chg-lone/proposal.md": "## Why\n\nalone\n",
    }
    found = read_loopx(write(files))
    web, lone = found.candidates
    assert "change/specs/auth/spec.md" in web.documents
    assert {"imported/change/spec-delta.md", "imported/change/artifact-graph.json"} <= names(web)
    assert "imported/change/slices.json" in web.documents
    assert (lone.name, lone.idea) == ("chg-lone", "alone")
    assert [(one.path, one.line) for one in found.troubles] == [("changes/active/chg-web/slices.json", 1)]
    assert [(one.kind, one.name) for one in found.loose] == [("change", "chg-old/proposal.md")]


@pytest.mark.parametrize("domain", ["../../up", "/abs", "x" * 300])
def test_a_domain_that_leaves_the_folder_gives_no_document(write, domain):
    found = read_loopx(
        write({
            "workflows/w/spec.md": f"## Intent\n\nx\n\n## Target Spec Domains\n\n- {domain}\n",
            "workflows/w/state.json": {"change_id": "../../../etc"},
            "changes/active/chg-w/spec-delta.md": DELTA,
        })
    )  # fmt: skip
    (one,) = found.candidates
    assert not any("specs/" in name for name in one.documents)
    assert not any(".." in name for name in one.documents)
    assert found.troubles[0].path == "changes/active/chg-w/spec-delta.md"


def test_an_unreadable_loopx_spec_is_named_and_the_rest_is_imported(write):
    found = read_loopx(
        write({
            "workflows/w/spec.md": "## Intent\n\nx\n\n## Ambiguity List\n\n- A-1 | maybe | what?\n",
            "workflows/w/plan.md": "# Plan",
            "workflows/w/state.json": '{\n"a":\n',
        })
    )  # fmt: skip
    (one,) = found.candidates
    assert "plan.md" in one.documents
    assert "imported/spec.md" in one.documents
    assert [(trouble.path, trouble.line) for trouble in found.troubles] == [
        ("workflows/w/state.json", 3), ("workflows/w/spec.md", 7),
    ]  # fmt: skip


def test_other_words_for_statuses_are_read(write):
    spec = "## Intent\n\nx\n\n## Ambiguity List\n\n- A-1 | resolved | a?\n- A-2 | unresolved | b?\n"
    found = read_loopx(write({"workflows/w/spec.md": spec}))
    assert [(item.id, item.status) for item in spec_of(found.candidates[0]).items] == [
        ("A-1", "answered"), ("A-2", "open"),
    ]  # fmt: skip
    assert found.troubles == ()


# ---- Claude Code Workflow


def task(number, **more):
    return {"id": f"IMPL-{number}", "title": f"task {number}", "status": "pending", **more}


def test_a_session_becomes_a_spec_a_plan_and_slices_without_checks(write):
    found = read_ccw(
        write({
            "active/WFS-login/workflow-session.json": {
                "session_id": "WFS-login", "project": "Log people in", "status": "active",
                "description": {"GOAL": "a form"}, "scope": ["the form"],
            },
            "active/WFS-login/IMPL_PLAN.md": "# Plan",
            "active/WFS-login/TODO_LIST.md": "- [ ] x",
            "active/WFS-login/.summaries/IMPL-1-summary.md": "done",
            "active/WFS-login/.task/IMPL-10.json": task(10, depends_on=["IMPL-2", "IMPL-99"]),
            "active/WFS-login/.task/IMPL-2.json": task(
                2, context={"acceptance": ["it works"], "focus_paths": ["src/a.py", "/etc", "../up"], "depends_on": []},
            ),
            "active/WFS-login/.task/IMPL-3.json": task(
                3, status="completed", depends_on=["IMPL-2"],
                convergence={"criteria": ["3 pass"], "verification": "npm test"},
            ),
            ".debug/x.md": "x",
        })
    )  # fmt: skip
    (session,) = found.candidates
    assert {"plan.md", "spec.md", "change/slices.json", "imported/TODO_LIST.md"} <= names(session)
    slices = read_slices(session.documents["change/slices.json"]).slices
    assert [(one.id, one.title, one.blocked_by) for one in slices] == [
        ("VS-1", "task 2", ()), ("VS-2", "task 3", ("VS-1",)), ("VS-3", "task 10", ("VS-1",)),
    ]  # fmt: skip
    assert all(one.checks == () for one in slices)
    assert slices[1].verification_signal == "npm test"
    spec = spec_of(session).page
    assert spec.text_of("Intent") == "Log people in\n\nGOAL: a form"
    assert spec.text_of("Execution Inputs") == "- src/a.py"
    assert spec.text_of("Testable Acceptance Criteria") == "- it works\n- 3 pass"
    assert session.claims == {"status": "active", "tasks": "1 of 3 completed"}
    assert [one.message.partition(":")[0] for one in found.troubles] == [
        "depends on IMPL-99, which is not a task",
        "names a path outside the project", "names a path outside the project",
    ]  # fmt: skip
    assert [one.path for one in found.left] == [".debug"]


def test_sessions_of_the_archive_are_finished_and_older_places_are_known(write):
    found = read_ccw(
        write({
            "WFS-old/workflow-session.json": {"project": "p"},
            "archives/WFS-a/workflow-session.json": {"project": "p", "status": "active"},
            "active/WFS-b/workflow-session.json": {"project": "p", "status": "completed"},
        })
    )  # fmt: skip
    assert {one.name: one.finished for one in found.candidates} == {"WFS-old": False, "WFS-a": True, "WFS-b": True}


def test_tasks_that_wait_for_each_other_are_kept_without_their_dependencies(write):
    found = read_ccw(
        write({
            "active/WFS-x/workflow-session.json": b"\xef\xbb\xbf{}",
            "active/WFS-x/.task/IMPL-1.json": task(1, depends_on=["IMPL-2"]),
            "active/WFS-x/.task/IMPL-2.json": task(2, depends_on=["IMPL-1"]),
            "active/WFS-x/.task/IMPL-3.json": "",
        })
    )  # fmt: skip
    (session,) = found.candidates
    assert [one.blocked_by for one in read_slices(session.documents["change/slices.json"]).slices] == [(), ()]
    assert [one.path for one in found.troubles] == ["active/WFS-x/.task/IMPL-3.json", "active/WFS-x/.task"]


# ---- OpenSpec


def test_an_active_change_becomes_a_workflow_and_stays_where_it_is(write):
    source = write({
        "changes/add-login/proposal.md": "## Why\r\n\r\nPeople.\r\n\r\n## What Changes\r\n\r\n- a form\r\n",
        "changes/add-login/tasks.md": "## 1. Form\n- [x] 1.1 a\n- [ ] 1.2 b\n",
        "changes/add-login/specs/auth/spec.md": DELTA,
        "changes/add-login/specs/bad/spec.md": "nothing\n",
        "changes/archive/2026-01-01-old/proposal.md": "x",
        "specs/auth/spec.md": "# auth\n",
    })  # fmt: skip
    found = read_openspec(source, in_place=True)
    (login,) = found.candidates
    assert (login.name, login.change, login.idea) == ("add-login", "add-login", "People.")
    assert names(login) == {"spec.md", "change/proposal.md", "change/tasks.md", "change/specs/auth/spec.md"}
    assert spec_of(login).domains == ("auth",)
    assert spec_of(login).page.text_of("Testable Acceptance Criteria") == "- auth: Sign in"
    assert login.claims == {"tasks": "1 of 2 ticked"}
    assert found.loose == ()
    assert [one.path for one in found.troubles] == ["changes/add-login/specs/bad/spec.md"]
    assert [one.path for one in found.left] == ["changes/archive"]


def test_everything_is_copied_from_another_project(write):
    source = write({"changes/a/specs/bad/spec.md": "nothing\n", "specs/auth/spec.md": "x", "specs/../up.md": "x"})
    found = read_openspec(source, in_place=False)
    (one,) = found.candidates
    assert (one.change, names(one)) == ("", {"spec.md", "imported/change/specs/bad/spec.md"})
    assert [(file.kind, file.name) for file in found.loose] == [("spec", "auth")]


def test_checks_of_another_tool_are_set_aside_and_never_run(write):
    one = {
        "id": "VS-1", "title": "t", "type": "AFK", "blocked_by": [], "behavior": "b", "acceptance_criteria": ["a"],
        "verification_signal": "s", "checks": [{"id": "C-1", "command": "rm -rf ~"}],
    }  # fmt: skip
    source = write({
        "workflows/w/state.json": "{}",
        "changes/active/chg-w/slices.json": {"schema_version": 1, "slices": [one]},
    })  # fmt: skip
    (found,) = read_loopx(source).candidates
    assert read_slices(found.documents["change/slices.json"]).checks == ()
    assert b"rm -rf" in found.documents["imported/change/slices.json"]
    assert [left.path for left in source.others] == ["changes/active/chg-w/slices.json"]


def test_text_that_looks_like_a_part_of_a_spec_stays_in_its_section(write):
    wild = "Do it.\n## Non-Goals\n- nothing\n# Title\n```\nopen"
    found = read_ccw(write({"active/WFS-x/workflow-session.json": {"project": "p", "description": wild}}))
    spec = spec_of(found.candidates[0]).page
    assert [section.name for section in spec.sections].count("Non-Goals") == 1
    assert spec.text_of("Intent").endswith("```\nopen\n```")
    assert spec.text_of("Non-Goals") == ""
