"""`loopwright import`: imports another tool's work, ignores its claims, and overwrites nothing."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from tests.walks.workflow_kit import (
    CHECK,
    DELTA,
    SPEC,
    blockers,
    bytes_of,
    finish,
    ok,
    plan,
    planner,
    prepare,
    state,
    status,
)

OPENSPEC = Path(__file__).resolve().parents[2] / ".cache" / "agents" / "node_modules" / ".bin" / "openspec"
LIVING = """# greeting Specification

## Purpose
Greets all people who come by, at any time of the day or the night.

## Requirements

### Requirement: Waving
The system SHALL wave.

#### Scenario: A person comes
- **WHEN** a person comes
- **THEN** it waves
"""
DONE_THERE = {
    "slug": "greet", "schema_version": 1, "current_stage": "review", "stage_status": "awaiting-approval",
    "approval": {key: {"status": "approved", "by": "ann"} for key in ("plan", "build", "review", "complete")},
    "review_verdict": "approve", "execution_record_status": "complete", "change_id": "chg-greet",
}  # fmt: skip
TOKEN = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"


def put(project, files):
    for name, content in files.items():
        project.write(name, content if isinstance(content, str) else json.dumps(content))


def rows(done):
    return {(row["what"], row["source"]): (row["outcome"], row["target"]) for row in done.json()["rows"]}


def take(project, *arguments, code=0):
    done = project.run("import", *arguments, "--json")
    assert done.exit_code == code, done.stdout + done.stderr
    return done


@pytest.fixture
def loopx(project):
    prepare(project)
    put(project, {
        ".loopx/workflows/greet/state.json": DONE_THERE,
        ".loopx/workflows/greet/spec.md": SPEC,
        ".loopx/workflows/greet/plan.md": f"# Plan\n\nWith {TOKEN} in it.\n",
        ".loopx/workflows/greet/execution-record.md": "# All done\n",
        ".loopx/workflows/greet/review-report.md": "---\nverdict: approve\n---\n",
        ".loopx/workflows/old/state.json": {"completion_confirmed": True, "archive_status": "archived"},
        ".loopx/changes/active/chg-greet/proposal.md": "## Why\n\nNames.\n\n## What Changes\n\n- greet\n",
        ".loopx/changes/active/chg-greet/spec-delta.md": DELTA,
        ".loopx/plans/prd-greet.md": "# PRD\n\nwords\n",
        ".loopx/specs/greeting/spec.md": LIVING,
        ".loopx/specs/broken/spec.md": "",
        ".loopx/context/domain.md": "people have names\n",
        ".loopx/journal/ann/journal-1.md": "# then\n",
    })  # fmt: skip
    return project


def test_a_loopx_workspace_is_imported_without_its_approvals(loopx):
    before = bytes_of(loopx.root / ".loopx")
    planned = take(loopx, "loopx", "--dry-run", code=1)
    assert not (loopx.own / "workflows").exists()
    done = take(loopx, "loopx", code=1)
    assert rows(done) == rows(planned)
    found = rows(done)
    assert found["workflow", "workflows/greet"] == ("taken", "greet")
    assert found["workflow", "workflows/old"][0] == "left"
    assert found["spec", "specs/greeting/spec.md"] == ("taken", ".loopwright/specs/greeting/spec.md")
    assert found["spec", "specs/broken/spec.md"][0] == "unreadable"
    assert found["note", "context/domain.md"][0] == "taken"
    assert bytes_of(loopx.root / ".loopx") == before
    # The workflow begins at clarify without approvals, and no gate reads its record or report.
    assert state(loopx)["current_stage"] == "clarify"
    assert {one["status"] for one in state(loopx)["approval"].values()} == {"not-requested"}
    folder = loopx.own / "workflows" / "greet"
    assert not (folder / "execution-record.md").exists()
    assert (folder / "imported" / "review-report.md").is_file()
    assert "clarify_current_round_required" in blockers(loopx, "plan")
    said = status(loopx)["origin"]
    assert (said["tool"], said["path"], said["said"]["review_verdict"]) == (
        "loopx",
        ".loopx/workflows/greet",
        "approve",
    )
    shown = ok(loopx, "status", "greet").stdout
    assert "imported from loopx (.loopx/workflows/greet)" in shown
    assert "does not count as proof here" in shown
    for name in ("approve", "build", "review"):
        arguments = ("--from", "review", "--to", "done") if name == "approve" else ()
        assert loopx.run(name, "greet", *arguments).exit_code == 1
    # A secret is masked in the stored files, and reported.
    assert TOKEN.encode() not in loopx.everything_kept()
    assert any(row["what"] == "secret" and "line 3" in row["why"] for row in done.json()["rows"])
    # A repeated import changes no byte, and adds new files.
    kept = bytes_of(loopx.own)
    assert {outcome for outcome, _ in rows(take(loopx, "loopx", code=1)).values()} == {
        "already",
        "left",
        "unreadable",
    }
    assert bytes_of(loopx.own) == kept
    put(loopx, {".loopx/workflows/new/spec.md": "## Intent\n\nmore\n"})
    assert rows(take(loopx, "loopx", code=1))["workflow", "workflows/new"] == ("taken", "new")
    # A person approves the spec; from then on it is a workflow like any other.
    planned = ok(loopx, "plan", "greet", "--direct", ".loopwright/workflows/greet/spec.md", "--agent", "")
    assert "slice_without_check_VS-1" in planned.stdout
    assert (loopx.own / "changes" / "active" / "chg-greet" / "specs" / "greeting" / "spec.md").read_text() == DELTA


def test_an_import_never_overwrites_and_suggests_another_name(loopx):
    ok(loopx, "clarify", "greet", "--idea", "mine")
    put(loopx, {".loopwright/specs/greeting/spec.md": LIVING.replace("wave", "nod")})
    mine = bytes_of(loopx.own / "workflows", loopx.own / "specs")
    done = take(loopx, "loopx", code=1)
    found = rows(done)
    assert found["workflow", "workflows/greet"] == ("conflict", "greet")
    assert found["spec", "specs/greeting/spec.md"][0] == "conflict"
    assert (loopx.own / "imported" / "loopx" / "specs" / "greeting" / "spec.md").read_text() == LIVING
    after = bytes_of(loopx.own / "workflows", loopx.own / "specs")
    assert {path: data for path, data in after.items() if path in mine} == mine
    way = next(row["next"] for row in done.json()["rows"] if row["source"] == "workflows/greet")
    assert way == "loopwright import loopx --as greet=SLUG"
    assert (
        rows(take(loopx, "loopx", "--as", "greet=greet-two", code=1))["workflow", "workflows/greet"][1] == "greet-two"
    )
    # From now on the workflow is known by its source, not by its name.
    assert rows(take(loopx, "loopx", code=1))["workflow", "workflows/greet"] == ("already", "greet-two")
    put(loopx, {".loopx/workflows/greet/plan.md": "another"})
    again = take(loopx, "loopx", code=1).json()["rows"]
    assert "changed there after the import" in next(row["why"] for row in again if row["source"] == "workflows/greet")
    assert loopx.run("import", "loopx", "--as", "unknown=x").exit_code == 2
    assert loopx.run("import", "loopx", "--as", "x").exit_code == 2
    assert rows(take(loopx, "loopx", "--finished", code=1))["workflow", "workflows/old"] == ("taken", "old")


def test_an_interrupted_import_leaves_nothing_or_the_whole_workflow(loopx):
    """Bytes are kept, then one line of the journal makes them a workflow, then they go to their places."""
    leftover = loopx.own / "workflows" / "greet"
    (leftover / "objects").mkdir(parents=True)
    (leftover / "objects" / ("0" * 64)).write_text("half")
    found = ok(loopx, "doctor", "--fix", "--json").json()["checks"]
    assert [one["health"] for one in found if one["code"] == "workflow_leftover"] == ["fixed"]
    assert not leftover.exists()
    take(loopx, "loopx", code=1)
    whole = bytes_of(leftover)
    for name in ("plan.md", "spec.md", "imported"):
        path = leftover / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    status(loopx)
    assert bytes_of(leftover) == whole


def test_sessions_tasks_and_loops_of_claude_code_workflow(project):
    prepare(project, [planner()])
    long = "n" * 100
    put(project, {
        ".workflow/active/WFS-greet/workflow-session.json": {"project": "Greet by name", "status": "active"},
        ".workflow/active/WFS-greet/IMPL_PLAN.md": "# Plan\r\n\r\nOne function.\r\n",
        ".workflow/active/WFS-greet/.task/IMPL-1.json": {
            "id": "IMPL-1", "title": "greet", "status": "completed", "convergence": {"criteria": ["it says the name"]},
        },
        ".workflow/active/WFS-greet/.task/IMPL-2.json": '{"id": ',
        f".workflow/active/WFS-{long}/workflow-session.json": {"project": "long"},
        ".loopwright/config.toml": (project.own / "config.toml").read_text() + '[workspace]\nlayout = "unified"\n',
        ".loop/loop-v2-20260101-abcdef.json": {
            "loop_id": "loop-v2-20260101-abcdef", "title": "a loop", "description": "d", "max_iterations": 5,
            "status": "completed", "current_iteration": 2, "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-01-01T00:00:00Z",
            "skill_state": {
                "validate": {"passed": True, "pass_rate": 100, "last_run_at": "2026-01-01T00:00:00Z"},
                "develop": {"tasks": [
                    {"id": "task-001", "description": "x", "tool": "gemini", "mode": "write", "status": "completed",
                     "files_changed": ["a.py"], "created_at": "2026-01-01T00:00:00Z", "completed_at": None},
                ]},
            },
        },
    })  # fmt: skip
    source = bytes_of(project.root / ".workflow", project.root / ".loop")
    found = rows(take(project, "ccw", code=1))
    assert found["workflow", "active/WFS-greet"] == ("taken", "greet")
    assert found["workflow", f"active/WFS-{long}"][0] == "conflict"
    assert found["file", "active/WFS-greet/.task/IMPL-2.json"][0] == "unreadable"
    assert found["loop", ".loop/loop-v2-20260101-abcdef.json"] == ("taken", "loop-v2-20260101-abcdef")
    assert bytes_of(project.root / ".workflow", project.root / ".loop") == source
    slices = json.loads((project.own / "changes" / "active" / "chg-greet" / "slices.json").read_text())["slices"]
    assert [(one["id"], one["title"], one["checks"]) for one in slices] == [("VS-1", "greet", [])]
    plan(project)
    prompt = (project.own / "turns" / "greet-planner-1" / "prompt.md").read_text()
    assert "ccw had a plan for this" in prompt
    assert "One function." in prompt
    loop = project.ask("loop", "show", "loop-v2-20260101-abcdef")
    assert loop["status"] == "paused"
    assert loop["skill_state"]["develop"]["tasks"][0]["status"] == "pending"
    assert loop["skill_state"]["validate"]["passed"] is False
    assert [one["code"] for one in loop["loopwright"]["holds"]] == ["imported"]
    again = rows(take(project, "ccw", "--as", f"WFS-{long}=short", code=1))
    assert again["workflow", f"active/WFS-{long}"] == ("taken", "short")
    assert again["loop", ".loop/loop-v2-20260101-abcdef.json"][0] == "already"
    assert project.run("import", "ccw", "nowhere").exit_code == 2
    assert project.run("import", "openspec").exit_code == 2


def openspec(project, *arguments):
    env = {**project.environment, "OPENSPEC_TELEMETRY": "0", "DO_NOT_TRACK": "1", "CI": "1", "NO_COLOR": "1"}
    done = subprocess.run(
        [str(OPENSPEC), *arguments], cwd=project.root, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_an_openspec_change_is_built_in_place_and_archived_under_its_own_name(project):
    prepare(
        project, [{"role": "builder", "run": "printf 'def greet(name):\\n    return f\"hello {name}\"\\n' > hello.py"}]
    )
    put(project, {
        "openspec/specs/greeting/spec.md": LIVING,
        "openspec/changes/add-names/proposal.md": "## Why\n\nPeople have names.\n\n## What Changes\n\n- greet\n",
        "openspec/changes/add-names/tasks.md": "## 1. Greet\n\n- [x] 1.1 by name\n\n## 2. Look\n\n- [ ] 2.1 nice\n",
        "openspec/changes/add-names/specs/greeting/spec.md": DELTA,
        "openspec/changes/archive/2026-01-01-old/proposal.md": "x",
    })  # fmt: skip
    project.commit("specs")
    assert any(one["code"] == "change_without_workflow" for one in project.run("doctor", "--json").json()["checks"])
    found = rows(take(project, "openspec"))
    assert found == {
        ("workflow", "changes/add-names"): ("taken", "add-names"), ("file", "changes/archive"): ("left", ""),
    }  # fmt: skip
    assert project.git("status", "--short").split() == []
    assert not any(one["code"] == "change_without_workflow" for one in project.run("doctor", "--json").json()["checks"])
    assert rows(take(project, "openspec"))["workflow", "changes/add-names"] == ("already", "add-names")
    # Planned from its own documents: its task list names the slices.
    change = project.root / "openspec" / "changes" / "add-names"
    plan(project, agent="", slug="add-names")
    slices = json.loads((change / "slices.json").read_text())
    assert [one["title"] for one in slices["slices"]] == ["Greet", "Look"]
    slices["slices"] = [{**slices["slices"][0], "checks": [{"id": "C-1", "command": CHECK}]}]
    (change / "slices.json").write_text(json.dumps(slices))
    for name in ("plan.md", "architecture.md"):
        (project.own / "workflows" / "add-names" / name).write_text("# It\n\nChange greet.\n")
    (change / "design.md").write_text("# Design\n\nSimple.\n")
    ok(project, "plan", "add-names", "--agent", "")
    assert blockers(project, "build", "add-names") == {}
    ok(project, "approve", "add-names", "--from", "plan", "--to", "build")
    ok(project, "build", "add-names", "--agent", "scripted")
    finish(project, "add-names")
    assert blockers(project, "archive", "add-names") == {}
    if OPENSPEC.exists() and shutil.which("node"):
        openspec(project, "validate", "--all", "--strict", "--no-interactive")
        assert "add-names" in openspec(project, "list")
    done = ok(project, "archive", "add-names", "--json").json()
    assert done["change_id"] == "add-names"
    assert done["folder"].endswith("-add-names")
    assert not change.exists()
    assert "### Requirement: Greeting by name" in (project.root / "openspec/specs/greeting/spec.md").read_text()
    assert os.listdir(project.root / "openspec" / "changes") == ["archive"]
    if OPENSPEC.exists() and shutil.which("node"):
        openspec(project, "validate", "--all", "--strict", "--no-interactive")


def test_a_persons_table_names_everything_and_the_way_on(loopx):
    done = loopx.run("import", "loopx", "--dry-run")
    assert done.exit_code == 1
    assert "✓ taken      workflow workflows/greet → greet" in done.stdout
    assert "state there: current_stage review" in done.stdout
    assert "→ loopwright clarify greet" in done.stdout
    assert "✗ unreadable" in done.stdout
    assert "would import from .loopx (loopx)" in done.stdout
    refused = json.loads(loopx.run("import", "loopx", "--dry-run", "--json").stderr)
    assert refused["error"] == "import_incomplete"
    assert {one["code"] for one in refused["blockers"]} == {"import_unreadable"}
    other = loopx.root.parent / "other"
    shutil.move(loopx.root / ".loopx", other / ".loopx")
    assert loopx.run("import", "loopx").exit_code == 2
    assert rows(take(loopx, "loopx", str(other), code=1))["workflow", "workflows/greet"] == ("taken", "greet")
    put(loopx, {"../other/.loopx/workflows/名字/spec.md": "## Intent\n\nx\n"})
    again = take(loopx, "loopx", str(other / ".loopx"), "--dry-run", code=1)
    way = next(row["next"] for row in again.json()["rows"] if row["source"] == "workflows/名字")
    assert way == f"loopwright import loopx {other / '.loopx'} --as '名字=SLUG'"
    assert rows(again)["workflow", "workflows/greet"] == ("already", "greet")


@pytest.mark.faults
@pytest.mark.needs("strace")
def test_after_a_kill_at_any_rename_a_workflow_is_complete_or_missing(project):
    prepare(project)
    project.environment["PYTHONDONTWRITEBYTECODE"] = "1"
    put(project, {
        ".loopx/workflows/greet/spec.md": SPEC, ".loopx/workflows/greet/plan.md": "# P\n\nwords\n",
        ".loopx/specs/greeting/spec.md": LIVING,
    })  # fmt: skip
    spare = project.root.parent / "spare"
    shutil.copytree(project.own, spare)
    take(project, "loopx")
    whole = documents(project)
    seen = {"old": 0, "new": 0}
    for number in itertools.count(1):
        shutil.rmtree(project.own)
        shutil.copytree(spare, project.own)
        inject = ("-e", "trace=rename", "-e", f"inject=rename:signal=SIGKILL:when={number}")
        argv = ["strace", "-qq", "-o", "/dev/null", *inject, *project.command("import", "loopx")]
        ended = subprocess.run(argv, cwd=project.root, env=project.environment, capture_output=True, check=False)
        assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
        if ended.returncode == 0:
            break
        is_there = (project.own / "workflows" / "greet" / "journal.ndjson").exists()
        seen["new" if is_there else "old"] += 1
        if number % 2:
            ok(project, "doctor", "--fix")
            assert list(project.own.rglob(".*.tmp")) == []
        again = rows(take(project, "loopx"))
        assert again["workflow", "workflows/greet"] == ("already" if is_there else "taken", "greet")
        status(project)
        assert documents(project) == whole
    assert min(seen.values()) >= 1, seen


def documents(project):
    """The files for people, by path; without journals, which contain times."""
    found = bytes_of(project.own / "workflows", project.own / "specs")
    other = ("journal.ndjson", "greet/state.json", ".tmp")
    return {path: data for path, data in found.items() if not path.endswith(other)}
