"""`loopwright specs`: the requirements, and which of them fail on the current tree."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.walks.workflow_kit import (
    BUILT,
    CHECK,
    DELTA,
    SLICE,
    build_it,
    built,
    finish,
    ok,
    plan,
    planner,
    prepare,
    refusal,
)

from loopwright.workflow.delta.grammar import canonical
from loopwright.workflow.delta.read import read_living

OPENSPEC = Path(__file__).resolve().parents[2] / ".cache" / "agents" / "node_modules" / ".bin" / "openspec"
SPEC_FILE = Path("openspec/specs/greeting/spec.md")
NICE = """

### Requirement: Looking nice
The system SHALL look nice.

#### Scenario: A person looks
- **WHEN** a person looks at it
- **THEN** they find it nice
"""
SIGNED = {
    **SLICE, "id": "VS-2", "title": "looks nice", "type": "HITL", "checks": [], "blocked_by": ["VS-1"],
    "requirements": ["greeting: Looking nice"],
}  # fmt: skip


@pytest.fixture
def archived(project):
    """Three requirements: proven by a check, signed by a person, and written by hand."""
    built(
        project, [{"role": "builder", "run": BUILT}, {"role": "builder", "run": "echo nice > style"}],
        deltas={"greeting": DELTA + NICE}, slices=[SLICE, SIGNED],
    )  # fmt: skip
    ok(project, "sign", "greet", "VS-2", "--note", "seen")
    finish(project)
    ok(project, "archive", "greet")
    path = project.own / "specs" / "greeting" / "spec.md"
    by_hand = NICE.replace("Looking nice", "By hand").lstrip()
    path.write_text(path.read_text().replace("## Archived", by_hand + "\n## Archived"))
    return project


def test_specs_are_listed_with_the_proof_of_each_requirement(archived):
    listed = ok(archived, "specs", "list", "--json").json()["domains"]
    assert listed == [
        {"domain": "greeting", "path": ".loopwright/specs/greeting/spec.md", "requirements": 3, "checked": 1,
         "signed": 1, "unchecked": 1, "problem": None}
    ]  # fmt: skip
    assert (
        "requirements: 3; proven by checks: 1, signed by a person: 1, not proven: 1"
        in ok(archived, "specs", "list").stdout
    )
    shown = ok(archived, "specs", "show", "greeting").stdout
    assert f"proven by `{CHECK}` (chg-greet)" in shown
    assert "signed by" in shown
    assert "· A name is given" in shown
    found = ok(archived, "specs", "show", "greeting", "--json").json()["requirements"]
    assert [one["basis"] for one in found] == ["checks", "signed", "none"]
    refused = refusal(archived, "specs", "show", "parting")
    assert (refused["error"], "domains: greeting" in refused["message"]) == ("unknown_domain", True)


def test_requirements_whose_checks_fail_now_are_named(archived):
    said = ok(archived, "specs", "verify").stdout
    assert "✓ greeting: Greeting by name" in said
    assert "· greeting: Looking nice" in said
    assert "no check can prove it again" in said
    assert "· greeting: By hand  not proven" in said
    archived.write("hello.py", "def greet(name):\n    return 'hi'\n")
    broken = archived.run("specs", "verify", "--json")
    assert broken.exit_code == 1
    assert [one["status"] for one in broken.json()["requirements"]] == ["broken", "signed", "unchecked"]
    refused = json.loads(broken.stderr)
    assert refused["error"] == "spec_requirement_broken"
    assert [one["code"] for one in refused["blockers"]] == ["spec_broken_greeting"]
    run_id = broken.json()["requirements"][0]["checks"][0]["run_id"]
    evidence = archived.evidence(run_id)
    assert (evidence["kind"], evidence["workflow"], evidence["status"]) == ("workflow", "greet", "ERROR")
    assert refused["next"] == f"loopwright verify {run_id}"
    ok(archived, *refused["next"].split()[1:])
    assert archived.run("specs", "verify", "greeting").exit_code == 1
    assert not (archived.own / "latch.lock").exists()
    assert list(archived.sandboxes.iterdir()) == []


def test_a_spec_or_a_list_of_checks_that_cant_be_read_is_named(archived):
    path = archived.own / "specs" / "greeting" / "checks.json"
    whole = path.read_text()
    path.write_text(whole.replace('"schema_version": 1', '"schema_version": 2'))
    refused = archived.run("specs", "verify")
    assert refused.exit_code == 1
    assert "checks.json can't be read" in refused.stderr
    path.write_text(whole)
    spec = archived.own / "specs" / "greeting" / "spec.md"
    spec.write_bytes(b"\xff\xfe")
    assert refusal(archived, "specs", "verify", "greeting")["error"] == "spec_unreadable"
    assert archived.run("specs", "verify").exit_code == 1
    assert "unreadable" in ok(archived, "specs", "list").stdout


def test_a_hidden_check_needs_its_files_and_keeps_its_command(project):
    hidden = {"id": "H", "command": "python3 hidden_check.py", "hidden": True}
    prepare(project, [planner(slices=[{**SLICE, "checks": [hidden]}]), {"role": "builder", "run": BUILT}])
    project.write(
        ".loopwright/workflows/greet/hidden/hidden_check.py",
        "import hello\nassert hello.greet('Zoë') == 'hello Zoë'\n",
    )
    build_it(project)
    finish(project)
    ok(project, "archive", "greet")
    assert "hidden_check" not in ok(project, "specs", "show", "greeting").stdout
    ok(project, "specs", "verify")
    shutil.rmtree(project.own / "workflows" / "greet" / "hidden")
    refused = refusal(project, "specs", "verify")
    assert (refused["error"], refused["blockers"][0]["code"]) == (
        "spec_check_unavailable", "spec_unavailable_greeting"
    )  # fmt: skip


def test_without_specs_there_is_nothing_to_verify(project):
    prepare(project)
    assert "no living specs yet" in ok(project, "specs", "list").stdout
    assert "no living specs yet" in ok(project, "specs", "verify").stdout


def openspec(project, *arguments, cwd=None):
    environment = {
        **project.environment, "OPENSPEC_TELEMETRY": "0", "DO_NOT_TRACK": "1", "OPENSPEC_NO_UPDATE_CHECK": "1",
        "CI": "1", "NO_COLOR": "1",
    }  # fmt: skip
    done = subprocess.run(
        [str(OPENSPEC), *arguments], cwd=cwd or project.root, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_in_an_openspec_project_openspec_accepts_our_files(project):
    if shutil.which("node") is None or not OPENSPEC.exists():
        pytest.skip("needs openspec (scripts/agents installs it)")
    project.write("openspec/specs/.gitkeep", "")
    prepare(project, [planner(), {"role": "builder", "run": BUILT}])
    plan(project)
    assert "chg-greet" in openspec(project, "list")
    ok(project, "approve", "greet", "--from", "plan", "--to", "build")
    ok(project, "build", "greet", "--agent", "scripted")
    finish(project)
    twin = project.root.parent / "twin"
    shutil.copytree(project.root, twin)
    openspec(project, "archive", "chg-greet", "--yes", cwd=twin)
    said = ok(project, "archive", "greet", "--json").json()
    theirs, ours = (read_living((top / SPEC_FILE).read_bytes()) for top in (twin, project.root))
    assert [canonical(one) for one in ours.requirements] == [canonical(one) for one in theirs.requirements]
    assert {name[10:] for name in os.listdir(twin / "openspec" / "changes" / "archive")} == {"-chg-greet"}
    folder = project.root / said["folder"]
    assert folder.parent == project.root / "openspec" / "changes" / "archive"
    assert folder.name[10:] == "-chg-greet"
    assert os.listdir(project.root / "openspec" / "changes") == ["archive"]
    assert json.loads(openspec(project, "list", "--specs", "--json"))["specs"][0]["id"] == "greeting"
    openspec(project, "validate", "--all", "--strict")
    assert "Greeting by name" in openspec(project, "show", "greeting", "--type", "spec")
    assert sorted(os.listdir(project.root / "openspec" / "specs" / "greeting")) == ["spec.md"]
    assert (project.own / "specs" / "greeting" / "checks.json").exists()
    ok(project, "specs", "verify")
