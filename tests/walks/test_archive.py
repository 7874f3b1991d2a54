"""`loopwright archive`: a done change is merged into the specs completely or not at all, and only by a person."""

from __future__ import annotations

import json

import pytest
import yaml
from tests.walks.workflow_kit import (
    DELTA,
    SLICE,
    blockers,
    built,
    bytes_of,
    finish,
    ok,
    plan,
    planner,
    prepare,
    refusal,
    state,
    status,
)

from loopwright.agents.port import AGENT_MARK

SHOUT = """

### Requirement: Shouting
The system SHALL shout when asked.

#### Scenario: Asked
- **WHEN** it is asked to shout
- **THEN** it shouts
"""
MODIFIED = DELTA.replace("ADDED", "MODIFIED")


def spec(project, domain="greeting"):
    return project.own / "specs" / domain / "spec.md"


def checks(project, domain="greeting"):
    return json.loads((project.own / "specs" / domain / "checks.json").read_text())


def active(project, slug="greet"):
    return project.own / "changes" / "active" / f"chg-{slug}"


def done(project, **changes):
    built(project, **changes)
    finish(project)


def another(project, slug, turns):
    """Build another change in the same project; returns the output of its plan."""
    project.write(".loopwright/turns.yaml", yaml.safe_dump({"turns": turns}))
    planned = plan(project, slug=slug)
    ok(project, "approve", slug, "--from", "plan", "--to", "build")
    ok(project, "build", slug, "--agent", "scripted")
    return planned


def test_a_done_change_is_merged_into_the_specs_and_a_repetition_changes_no_byte(project):
    done(project)
    assert blockers(project, "archive") == {}
    assert status(project)["recommended_next_action"] == "loopwright archive greet"
    said = ok(project, "archive", "greet", "--json").json()
    assert said["folder"] == ".loopwright/changes/archive/chg-greet"
    assert said["files"] == [
        ".loopwright/specs/greeting/spec.md", ".loopwright/specs/greeting/checks.json",
        ".loopwright/decisions/adr-candidates/chg-greet.md",
    ]  # fmt: skip
    assert "### Requirement: Greeting by name" in spec(project).read_text()
    assert "- chg-greet | ADDED | Greeting by name" in spec(project).read_text()
    kept = checks(project)["requirements"]["Greeting by name"]
    assert (kept["change_id"], [one["id"] for one in kept["checks"]]) == ("chg-greet", ["VS-1-C1"])
    candidate = (project.own / "decisions" / "adr-candidates" / "chg-greet.md").read_text()
    assert "Status: candidate. This is not a decision yet" in candidate
    assert "As simple as it can be." in candidate
    assert "People have names." in candidate
    assert not active(project).exists()
    assert (project.own / "changes" / "archive" / "chg-greet" / "slices.json").exists()
    found = state(project)
    assert (found["archive_status"], found["spec_sync_status"], found["current_stage"]) == (
        "archived",
        "synced",
        "done",
    )
    assert status(project)["recommended_next_action"] == "loopwright specs verify"
    assert "greet" not in ok(project, "next").stdout
    before = bytes_of(project.own)
    again = ok(project, "archive", "greet")
    assert "already archived" in again.stdout
    assert bytes_of(project.own) == before


def test_archived_work_of_older_rules_is_graded_by_them(project, monkeypatch):
    done(project)
    ok(project, "archive", "greet")
    monkeypatch.setattr("loopwright.workflow.audit.RULES", 99)
    assert [line["grade"] for line in status(project)["requirements"]] == ["old rules"]


def test_only_a_person_archives(project):
    done(project)
    before = bytes_of(project.own / "changes")
    refused = project.run("archive", "greet", "--json", env={AGENT_MARK: "1"})
    assert (refused.exit_code, json.loads(refused.stderr)["error"]) == (1, "INSIDE_AGENT")
    assert bytes_of(project.own / "changes") == before
    assert not spec(project).exists()


def test_only_a_done_change_is_archived(project):
    prepare(project, [planner()])
    assert refusal(project, "archive", "greet")["error"] == "workflow_not_initialized"
    plan(project)
    assert refusal(project, "archive", "greet")["error"] == "archive_requires_done_workflow"
    assert list(blockers(project, "archive")) == ["workflow_not_done"]


def test_remaining_work_on_record_prevents_archiving(project):
    done(project)
    path = project.own / "workflows" / "greet" / "execution-record.md"
    path.write_text(path.read_text().replace("schema_version", "remaining_scope: docs\nschema_version", 1))
    refused = refusal(project, "archive", "greet")
    assert refused["error"] == "archive_scope_blocked"
    assert refused["blockers"][0]["code"] == "partial_scope_remaining"
    assert not spec(project).exists()


def test_an_incomplete_change_is_not_archived(project):
    done(project)
    (active(project) / "design.md").write_text("# Design\n")
    assert "missing_change_artifact_design" in blockers(project, "archive")
    (active(project) / "specs" / "greeting" / "spec.md").write_text("## ADDED Requirements\n")
    assert "spec_delta_missing_requirements" in blockers(project, "archive")
    page = project.own / "workflows" / "greet" / "spec.md"
    page.write_text(page.read_text().replace("- greeting", "- greeting\n- parting"))
    found = blockers(project, "archive")
    assert (
        found["missing_spec_delta_path"]["message"]
        == ".loopwright/changes/active/chg-greet/specs/parting/spec.md is missing"
    )
    assert found["spec_delta_missing_domains"]["next"].endswith('then loopwright archive greet --fitted "…"')
    # From here nothing is planned again, so nothing says so.
    assert not [one["next"] for one in found.values() if "loopwright plan" in one["next"]]
    assert refusal(project, "archive", "greet")["error"] == "archive_blocked"
    assert not spec(project).exists()


def test_a_requirement_without_proof_or_approval_is_not_archived(project):
    done(project)
    delta = active(project) / "specs" / "greeting" / "spec.md"
    delta.write_text(DELTA + SHOUT)
    refused = refusal(project, "archive", "greet")
    assert [one["code"] for one in refused["blockers"]] == ["approval_void_build", "completion_audit_missing_evidence"]
    assert "greeting: Shouting" in refused["blockers"][1]["message"]
    assert refusal(project, "archive", "greet", "--fitted", "I want it")["blockers"][0]["code"] == (
        "completion_audit_missing_evidence"
    )
    assert not spec(project).exists()
    delta.write_text(DELTA)
    assert "approval_void_build" in blockers(project, "archive"), "a person stood for the other one last"
    ok(project, "archive", "greet", "--fitted", "as it was approved")
    assert "Shouting" not in spec(project).read_text()


def test_two_active_changes_with_the_same_requirement_are_reported_before_anything_is_written(project):
    done(project)
    slices = [{**SLICE, "checks": [{"id": "C", "command": "test -e other"}]}]
    planned = another(project, "other", [planner(slices=slices), {"role": "builder", "run": "touch other"}])
    assert "note: chg-greet is active and also touches 'Greeting by name'" in planned.stdout
    finish(project, "other", work="touch other")
    before = bytes_of(project.own / "specs", project.own / "changes")
    refused = refusal(project, "archive", "greet")
    assert refused["error"] == "archive_blocked"
    assert [one["code"] for one in refused["blockers"]] == ["spec_conflict_greeting"]
    assert "chg-other is active and also touches 'Greeting by name'" in refused["blockers"][0]["message"]
    assert refused["next"] == "loopwright archive greet --before chg-other"
    unknown = refusal(project, "archive", "greet", "--before", "chg-nobody")
    assert (unknown["error"], "active: chg-other" in unknown["message"]) == ("unknown_change", True)
    assert project.run("archive", "greet", "--fitted", " ").exit_code == 2
    assert bytes_of(project.own / "specs", project.own / "changes") == before
    ok(project, *refused["next"].split()[1:])
    late = refusal(project, "archive", "other")
    assert "already exists (chg-greet: ADDED)" in late["blockers"][0]["message"]
    assert "chg-other" not in spec(project).read_text()


def test_a_requirement_that_changed_meanwhile_is_a_conflict_until_a_person_fits_the_delta(project):
    done(project)
    ok(project, "archive", "greet")
    kinder = MODIFIED.replace("by name.", "by name, kindly.")
    louder = MODIFIED.replace("by name.", "by name, loudly.")
    for slug, delta in (("kinder", kinder), ("louder", louder)):
        check = {"id": "C", "command": f"test -e {slug}"}
        another(project, slug, [planner(deltas={"greeting": delta}, slices=[{**SLICE, "checks": [check]}]),
                                {"role": "builder", "run": f"touch {slug}"}])  # fmt: skip
        finish(project, slug, work=f"touch {slug}")
    ok(project, "archive", "kinder", "--before", "chg-louder")
    before = spec(project).read_bytes()
    refused = refusal(project, "archive", "louder")
    assert "was changed after the change was planned (chg-kinder: MODIFIED)" in refused["blockers"][0]["message"]
    assert refused["blockers"][0]["code"] == "spec_conflict_greeting"
    assert spec(project).read_bytes() == before
    path = active(project, "louder") / "specs" / "greeting" / "spec.md"
    path.write_text(path.read_text().replace("loudly", "kindly and loudly"))
    ok(project, "archive", "louder", "--fitted", "kept the kindness of chg-kinder")
    assert "kindly and loudly" in spec(project).read_text()
    kept = checks(project)["requirements"]["Greeting by name"]
    assert (kept["change_id"], kept["checks"][0]["command"]) == ("chg-louder", "test -e louder")


def test_a_plan_on_changed_specs_is_reported_before_the_build(project):
    done(project)
    ok(project, "archive", "greet")
    prepared = [
        planner(deltas={"greeting": MODIFIED}, slices=[{**SLICE, "checks": [{"id": "C", "command": "test -e x"}]}])
    ]
    project.write(".loopwright/turns.yaml", json.dumps({"turns": prepared}))
    plan(project, slug="later")
    assert blockers(project, "build", "later") == {}
    spec(project).write_text(spec(project).read_text().replace("greet a person", "greet every person"))
    assert "was changed" in blockers(project, "build", "later")["spec_conflict_greeting"]["message"]
    ok(project, "plan", "later")
    assert "spec_conflict_greeting" in blockers(project, "build", "later"), "the delta was not rewritten"
    path = active(project, "later") / "specs" / "greeting" / "spec.md"
    path.write_text(path.read_text().replace("greet a person", "greet every person"))
    ok(project, "plan", "later")
    assert blockers(project, "build", "later") == {}


def test_specs_that_change_during_planning_are_not_the_base_of_the_plan(project):
    done(project)
    ok(project, "archive", "greet")
    moves = {"run": f"sed -i 's/greet a person/greet every person/' {spec(project)}"}
    slices = [{**SLICE, "checks": [{"id": "C", "command": "test -e x"}]}]
    turns = [{**planner(deltas={"greeting": MODIFIED}, slices=slices), **moves}]
    project.write(".loopwright/turns.yaml", yaml.safe_dump({"turns": turns}))
    plan(project, slug="later")
    assert "every person" in spec(project).read_text()
    assert "was changed" in blockers(project, "build", "later")["spec_conflict_greeting"]["message"]


def test_renamed_and_removed_requirements_take_their_checks_along(project):
    done(project, deltas={"greeting": DELTA + SHOUT}, slices=[{**SLICE, "requirements": []}])
    ok(project, "archive", "greet")
    assert set(checks(project)["requirements"]) == {"Greeting by name", "Shouting"}
    delta = (
        "## REMOVED Requirements\n\n### Requirement: Shouting\n**Reason**: rude\n\n## RENAMED Requirements\n\n"
        "- FROM: `### Requirement: Greeting by name`\n- TO: `### Requirement: Naming`\n"
    )
    check = {"id": "C", "command": "test -e quiet"}
    another(project, "quiet", [planner(deltas={"greeting": delta},
                                       slices=[{**SLICE, "requirements": [], "checks": [check]}]),
                               {"role": "builder", "run": "touch quiet"}])  # fmt: skip
    finish(project, "quiet", work="touch quiet")
    ok(project, "archive", "quiet")
    found = checks(project)["requirements"]
    assert list(found) == ["Naming"]
    assert (found["Naming"]["change_id"], found["Naming"]["workflow"]) == ("chg-greet", "greet")
    assert ok(project, "specs", "verify").stdout.startswith("✓ greeting: Naming")


def test_a_candidate_that_a_person_wrote_is_not_overwritten(project):
    done(project)
    project.write(".loopwright/decisions/adr-candidates/chg-greet.md", "mine\n")
    ok(project, "archive", "greet")
    assert (project.own / "decisions" / "adr-candidates" / "chg-greet.md").read_text() == "mine\n"


@pytest.mark.parametrize("damage", ["# x\n\n## Requirements\n\n### Requirement: a\n### Requirement: a\n", "\x00"])
def test_a_living_spec_that_cant_be_read_is_named_and_left_alone(project, damage):
    done(project)
    project.write(".loopwright/specs/greeting/spec.md", damage)
    refused = refusal(project, "archive", "greet")
    assert refused["blockers"][0]["code"] == "spec_conflict_greeting"
    assert ".loopwright/specs/greeting/spec.md can't be read: line" in refused["blockers"][0]["message"]
    assert spec(project).read_text() == damage
    assert active(project).exists()
