"""`doctor` and `gc` for workflows: problems have a code, fixable ones are fixed, and nothing needed is deleted."""

from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime

import pytest
from tests.walks.workflow_kit import (
    BUILT,
    blockers,
    build_it,
    built,
    bytes_of,
    finish,
    ok,
    planner,
    prepare,
    state,
    status,
)

from loopwright.workflow import commands as c
from loopwright.workflow.facts import Gates
from loopwright.workflow.model import Transition
from loopwright.workflow.standing import Readiness, Standing
from loopwright.workflow.store import WorkflowStore
from loopwright.workspace.layout import Flavour, Layout


def findings(project, *arguments, code=None):
    """What was found of workflows and their surroundings, by code."""
    done = project.run("doctor", *arguments, "--json")
    if code is not None:
        assert done.exit_code == code, done.stdout + done.stderr
    found = {}
    for one in done.json()["checks"]:
        assert one["code"]
        if one["health"] in ("problem", "fixed", "note"):
            assert one["health"] == "fixed" or one["remedy"] or one["health"] == "note", one
            found.setdefault(one["code"], []).append((one["health"], one["said"]))
    return found


def health(found, code):
    return [health for health, _ in found.get(code, [])]


def folder(project, slug="greet"):
    return project.own / "workflows" / slug


def test_a_damaged_journal_is_named_and_its_sound_lines_are_kept(project):
    built(project)
    journal = folder(project) / "journal.ndjson"
    whole = journal.read_bytes()
    lines = whole.splitlines(keepends=True)
    plain = next(number for number, line in enumerate(lines) if b'"build.driven"' in line or b"build." in line)
    damaged = b"".join([*lines[:plain], lines[plain].replace(b'"actor"', b'"actr"', 1), *lines[plain + 1 :]])
    journal.write_bytes(damaged)
    refused = project.run("status", "greet")
    assert refused.exit_code == 1
    assert "doctor --fix" in refused.stderr
    before = bytes_of(project.own)
    found = findings(project, code=1)
    assert health(found, "workflow_journal_damaged") == ["problem"]
    assert bytes_of(project.own) == before
    assert health(findings(project, "--fix", code=0), "workflow_journal_damaged") == ["fixed"]
    assert (folder(project) / "journal.ndjson.damaged-1").read_bytes() == damaged
    assert journal.read_bytes().startswith(b"".join(lines[:plain]))
    assert state(project)["current_stage"] in ("plan", "build")
    assert "workflow_journal_damaged" not in findings(project, code=0)
    # No line is sound: the workflow begins again with its documents, and needs every approval again.
    spec = (folder(project) / "spec.md").read_bytes()
    journal.write_bytes(b"rubbish\n")
    assert health(findings(project, "--fix", code=0), "workflow_journal_damaged") == ["fixed"]
    assert state(project)["current_stage"] == "clarify"
    assert (folder(project) / "spec.md").read_bytes() == spec
    assert {one["status"] for one in state(project)["approval"].values()} == {"not-requested"}


def test_files_that_derive_from_the_journal_are_restored(project):
    prepare(project)
    ok(project, "clarify", "greet", "--idea", "by name")
    path = folder(project) / "state.json"
    right = path.read_bytes()
    for wrong in (None, b"{", json.dumps({**json.loads(right), "current_stage": "done"}).encode()):
        path.unlink() if wrong is None else path.write_bytes(wrong)
        assert health(findings(project, code=1), "workflow_state_stale") == ["problem"]
        assert health(findings(project, "--fix", code=0), "workflow_state_stale") == ["fixed"]
        assert path.read_bytes() == right
    # An edited document is no damage.
    (folder(project) / "spec.md").write_text((folder(project) / "spec.md").read_text() + "\nmore\n")
    assert "workflow_state_stale" not in findings(project, code=0)


def test_kept_versions_that_are_damaged_or_gone(project):
    prepare(project)
    ok(project, "clarify", "greet", "--idea", "by name")
    spec, objects = folder(project) / "spec.md", folder(project) / "objects"
    text = spec.read_bytes()
    kept = next(path for path in objects.iterdir() if path.read_bytes() == text)
    kept.write_bytes(b"rubbish")
    assert health(findings(project, code=1), "document_object_damaged") == ["problem"]
    assert health(findings(project, "--fix", code=0), "document_object_damaged") == ["fixed"]
    assert kept.read_bytes() == text
    # Damaged bytes never come back as a document.
    kept.write_bytes(b"rubbish")
    spec.unlink()
    status(project)
    assert not spec.exists()
    findings(project, "--fix")
    assert health(findings(project, code=1), "document_lost") == ["problem"]
    spec.write_bytes(text)
    assert "document_lost" not in findings(project, "--fix", code=0)


def test_unowned_and_missing_folders_are_reported(project):
    built(project)
    change = project.own / "changes" / "active" / "chg-greet"
    there = bytes_of(change)
    shutil.move(change, project.own / "changes" / "active" / "chg-stray")
    (folder(project, "half") / "objects").mkdir(parents=True)
    (folder(project, "lost")).mkdir()
    (project.own / "workflows" / "NOTES").write_text("mine")
    (folder(project, "lost") / "spec.md").write_text("## Intent\n\nkept\n")
    found = findings(project, code=1)
    assert health(found, "change_folder_gone") == ["problem"]
    assert health(found, "change_without_workflow") == ["note"]
    assert health(found, "workflow_leftover") == ["problem"]
    assert health(found, "workflow_stray_file") == ["note"]
    assert health(found, "workflow_without_journal") == ["problem"]
    found = findings(project, "--fix", code=0)
    assert health(found, "change_folder_gone") == ["fixed"]
    assert bytes_of(change) == there
    assert not folder(project, "half").exists()
    assert status(project, "lost")["stage"] == "clarify"


def test_interrupted_work_is_finished_by_doctor(project):
    built(project)
    finish(project)
    specs = project.own / "specs"
    # The state after a crash behind the journal's line: decided, but nothing written.
    ok(project, "archive", "greet")
    journal = folder(project) / "journal.ndjson"
    lines = journal.read_bytes().splitlines(keepends=True)
    assert b"archive.settled" in lines[-1]
    journal.write_bytes(b"".join(lines[:-1]))
    written = bytes_of(specs)
    shutil.rmtree(specs / "greeting")
    shutil.move(project.own / "changes" / "archive" / "chg-greet", project.own / "changes" / "active" / "chg-greet")
    assert health(findings(project, code=1), "archive_cut_short") == ["problem"]
    assert not (specs / "greeting").exists()
    assert health(findings(project, "--fix", code=0), "archive_cut_short") == ["fixed"]
    assert bytes_of(specs) == written
    assert "archive_cut_short" not in findings(project, code=0)


def test_mixed_layouts_foreign_folders_branches_and_agents(project):
    prepare(project, settings='[agents.gone]\nkind = "command"\ncommand = "no-such-agent --print"\n')
    project.write("openspec/specs/.gitkeep", "")
    project.write(".loopwright/specs/a/spec.md", "# a\n")
    project.write(".loopx/workflows/x/spec.md", "## Intent\n\nx\n")
    project.write(".workflow/active/WFS-x/IMPL_PLAN.md", "x")
    project.git("branch", "loopwright/old")
    project.environment["LOOPWRIGHT_AGENTS_DEFAULT"] = "unknown"
    found = findings(project, code=1)
    assert health(found, "specs_in_two_places") == ["note"]
    assert health(found, "foreign_workspace") == ["note", "note"]
    assert health(found, "branch_left_over") == ["note"]
    assert [said for _, said in found["agent_missing"]] == [
        "there is no agent 'unknown' (known: claude, codex, gemini, gone, interactive, opencode, scripted)",
        "its program no-such-agent is not on PATH",
    ]  # fmt: skip
    told = project.run("doctor").stdout
    assert "`loopwright import loopx --dry-run`" in told
    ok(project, "import", "loopx")
    assert len(findings(project)["foreign_workspace"]) == 1


def test_gc_keeps_the_evidence_of_an_open_review_at_any_age(project):
    built(project)
    for number in range(2):
        project.plan({"id": "A", "commands": ["true"]}, run_id=f"r{number}")
        ok(project, "run")
    planned = ok(project, "gc", "--keep", "0", "--dry-run", "--json").json()
    done = ok(project, "gc", "--keep", "0", "--json").json()
    assert {name: done[name] for name in ("runs", "needed")} == {name: planned[name] for name in ("runs", "needed")}
    assert {"r0", "r1"} <= set(done["runs"])
    assert set(done["needed"].values()) == {"greet"}
    assert all((project.own / "runs" / run_id / "evidence.json").is_file() for run_id in done["needed"])
    assert ": greet needs it" in ok(project, "gc", "--keep", "0").stdout
    ok(project, "verify")
    ok(project, "approve", "greet", "--from", "build", "--to", "review")
    ok(project, "review", "greet")
    assert state(project)["review_verdict"] == "approve"
    assert blockers(project, "done") == {}
    # The needs of a damaged workflow are unknown: everything that belongs to it stays.
    journal = folder(project) / "journal.ndjson"
    sound = journal.read_bytes()
    journal.write_bytes(sound[:100] + b"x" + sound[100:])
    assert set(ok(project, "gc", "--keep", "0", "--json").json()["needed"]) >= set(done["needed"])
    journal.write_bytes(sound)
    ok(project, "approve", "greet", "--from", "review", "--to", "done")
    assert (project.root / "hello.py").read_text().startswith("def greet(name)")
    # The state after a crash between two files: planned, but incomplete.
    delivery = folder(project) / "delivery"
    (delivery / "done.json").rename(delivery / "plan.json")
    project.write("hello.py", "def greet(name):\n    return 'hi'\n")
    assert health(findings(project, code=1), "delivery_cut_short") == ["problem"]
    assert health(findings(project, "--fix", code=0), "delivery_cut_short") == ["fixed"]
    assert "hello {name}" in (project.root / "hello.py").read_text()
    ok(project, "gc", "--keep", "0")
    # The delivery can still be undone; a crash before its journal line is reported.
    journal_before = journal.read_bytes()
    ok(project, "undo", "greet")
    undone = journal.read_bytes()
    journal.write_bytes(journal_before)
    assert health(findings(project, code=1), "undo_cut_short") == ["problem"]
    assert health(findings(project, "--fix", code=1), "undo_cut_short") == ["problem"]
    journal.write_bytes(undone)
    assert "undo_cut_short" not in findings(project, "--fix", code=0)
    assert "return 'hi'" in (project.root / "hello.py").read_text()


def test_gc_keeps_the_files_of_the_audit_while_the_work_continues(project):
    built(project)
    before = set(ok(project, "gc", "--keep", "0", "--json").json()["needed"])
    ok(project, "approve", "greet", "--from", "build", "--to", "review")
    ok(project, "review", "greet", "--verdict", "request-changes", "--target", "build", "--rationale", "again")
    # The state when an agent works again and nothing is verified yet.
    with opened(project) as workflow:
        standing = Standing(Readiness(), workflow.standing().subjects)
        workflow.apply(c.Approve(transition=Transition.REVIEW_BUILD, standing=standing, by="ann"), "ann")
        workflow.apply(c.Enter(transition=Transition.REVIEW_BUILD, standing=standing), "ann")
        assert workflow.workflow.verification is None
    assert set(ok(project, "gc", "--keep", "0", "--json").json()["needed"]) == before
    assert len(before) == 6, "on base and work, and four controls"


def archived_writes(project):
    lines = (folder(project) / "journal.ndjson").read_text().splitlines()
    events = [event for line in lines for event in json.loads(line)["events"]]
    return next(event["writes"] for event in events if event["kind"] == "archived")


def opened(project):
    layout = Layout(project.root, Flavour.UNIFIED, project.home)
    return WorkflowStore(layout, lambda: datetime.now(UTC), Gates()).changing("greet")


def test_gc_removes_unreferenced_objects_and_leftovers_of_an_archived_workflow(project):
    prepare(project, [planner(), {"role": "builder", "run": BUILT}])
    ok(project, "clarify", "greet", "--idea", "say the name", "--agent", "")
    build_it(project)
    objects = folder(project) / "objects"
    named = {path.name for path in objects.iterdir()}
    stray = objects / ("f" * 64)
    stray.write_text("not referenced")
    done = ok(project, "gc", "--json").json()
    assert done["objects"] == [f".loopwright/workflows/greet/objects/{'f' * 64}"]
    assert {path.name for path in objects.iterdir()} == named
    finish(project)
    ok(project, "archive", "greet")
    done = ok(project, "gc", "--keep", "0", "--json").json()
    assert done["needed"] == {}
    # Older versions of its documents are gone; `undo` would restore the last versions.
    left = {path.name for path in objects.iterdir()}
    assert left < named | {write["after"] for write in archived_writes(project)}
    assert findings(project, code=0).keys().isdisjoint({"document_lost", "document_object_damaged"})
    ok(project, "verify")
    verified = ok(project, "specs", "verify", "--json").json()
    assert verified["ok"] is True
    assert ok(project, "archive", "greet", "--json").json()["files"] == []
    ok(project, "undo", "greet")
    assert not (project.own / "specs" / "greeting" / "spec.md").exists()
    assert state(project)["current_stage"] == "review"
    assert "document_lost" not in findings(project, code=0)


@pytest.mark.parametrize("domain", ["../../../../up", "../../../../../../up", "/abs/up"])
def test_a_domain_that_leaves_its_place_makes_no_skeleton(project, domain):
    prepare(project)
    spec = project.root.parent / "SPEC.md"
    spec.write_text(spec.read_text().replace("- greeting", f"- {domain}"))
    done = ok(project, "plan", "greet", "--direct", str(spec), "--agent", "")
    assert "leaves its folder" in done.stdout or "absolute path" in done.stdout
    assert list(project.root.parent.rglob("up")) == []
    assert "spec_delta_empty" in blockers(project, "build")


PROGRAMS = ("claude", "codex", "gemini", "opencode")


@pytest.mark.parametrize("named", [True, False])
def test_doctor_explains_each_agent_that_cant_be_used_in_one_line_with_its_fix(project, tmp_path, named):
    """Missing, too old, broken and not logged in; a problem if the settings name the agent, else a note."""
    folder = tmp_path / "bin"
    folder.mkdir()
    scripts = {"codex": "echo 0.1.0", "gemini": "echo no node here >&2; exit 127", "opencode": "echo 99.0.0"}
    for name, text in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    if named:
        project.write(".loopwright/config.toml", f"[agents]\norder = {json.dumps(PROGRAMS)}\n")
    project.environment["PATH"] = f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin"
    done = project.run("doctor", "--json")
    told = {one["what"].removeprefix("agent "): one for one in done.json()["checks"] if one["what"][6:] in PROGRAMS}
    assert told["claude"]["said"] == "its program claude is not on PATH"
    assert "npm install -g @anthropic-ai/claude-code@latest" in told["claude"]["remedy"]
    assert "is version 0.1.0; " in told["codex"]["said"]
    assert "npm install -g @openai/codex" in told["codex"]["remedy"]
    assert "can't be started: no node here" in told["gemini"]["said"]
    assert "no login found" in told["opencode"]["said"]
    assert "opencode auth login" in told["opencode"]["remedy"]
    assert all(one["remedy"] and "\n" not in one["said"] + one["remedy"] for one in told.values())
    assert not any("npm install" in one["said"] for one in told.values()), "the fix is said once"
    assert {told[name]["health"] for name in PROGRAMS[:3]} == {"problem" if named else "note"}
    assert (done.exit_code != 0) is named
