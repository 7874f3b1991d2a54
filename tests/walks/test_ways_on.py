"""What `status` tells a person to type really moves on, also after something was edited by hand or went wrong."""

from __future__ import annotations

import copy
import json
import shlex
import subprocess

import pytest
from tests.walks.workflow_kit import (
    BUILT,
    SLICE,
    blockers,
    build_it,
    ok,
    plan,
    planner,
    prepare,
    refusal,
    state,
    status,
)

BUILDS = {"role": "builder", "run": BUILT}
MORE = {"role": "builder", "run": "echo more > more.txt"}
DEFAULT = '[agents]\ndefault = "scripted"\n'
END = "loopwright specs verify"


def at_review(project, *turns, settings=""):
    prepare(project, [planner(), BUILDS, *turns], settings=settings + DEFAULT)
    project.at("approved")
    ok(project, "build", "greet")
    ok(project, "approve", "greet", "--from", "build", "--to", "review")
    ok(project, "review", "greet")


def follow(project, most=14):
    """Run each suggested command until the change is archived; returns the commands."""
    typed = []
    while len(typed) < most:
        command = status(project)["recommended_next_action"]
        if command == END:
            return typed
        typed.append(command)
        ok(project, *shlex.split(command)[1:])
    raise AssertionError(f"it leads nowhere: {typed}")


def edit(project, name, before, after):
    path = project.own / name
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))


def test_a_spec_that_changed_during_the_build_needs_a_new_approval(project):
    prepare(project, [planner(), BUILDS], settings=DEFAULT)
    project.at("approved")
    ok(project, "build", "greet")
    edit(project, "workflows/greet/spec.md", "- no dependency", "- no dependency at all")
    assert refusal(project, "approve", "greet", "--from", "build", "--to", "review")["blockers"]
    assert follow(project)[0] == "loopwright approve greet --from clarify --to plan"


@pytest.mark.parametrize(
    ("name", "before", "after", "target"),
    [
        ("workflows/greet/plan.md", "Change greet.", "Change greet, and more.", "build"),
        ("workflows/greet/spec.md", "- no dependency", "- no dependency at all", "plan"),
        ("workflows/greet/execution-record.md", "stage: build", "stage: build\nremaining_scope: VS-9", "build"),
    ],
)
def test_a_change_during_a_review_is_sent_back_and_built_again(project, name, before, after, target):
    at_review(project, planner(), MORE)
    edit(project, name, before, after)
    typed = follow(project)
    assert typed[:2] == ["loopwright review greet", f"loopwright approve greet --from review --to {target}"]
    assert "loopwright build greet" in typed


def test_a_run_proves_only_the_check_that_it_ran_and_not_a_later_check_of_the_same_name(project):
    fixes = {"role": "builder", "run": "echo 'MORE = 1' >> hello.py"}
    prepare(project, [planner(), BUILDS, fixes], settings=DEFAULT)
    project.at("approved")
    ok(project, "build", "greet")
    path = project.own / "changes/active/chg-greet/slices.json"
    document = json.loads(path.read_text())
    document["slices"][0]["checks"][0]["command"] = 'python3 -c "import hello; assert hello.MORE"'
    path.write_text(json.dumps(document))
    ok(project, "plan", "greet")
    ok(project, "approve", "greet", "--from", "plan", "--to", "build")
    assert "completion_audit_missing_evidence" in blockers(project, "review")
    refusal(project, "approve", "greet", "--from", "build", "--to", "review")
    ok(project, "build", "greet")
    assert blockers(project, "review") == {}


def test_a_check_that_changed_during_the_build_is_run_on_the_base_first(project):
    prepare(project, [planner(), BUILDS, {"role": "builder", "run": "echo NOW > now.txt"}], settings=DEFAULT)
    project.at("approved")
    ok(project, "build", "greet")
    path = project.own / "changes/active/chg-greet/slices.json"
    path.write_text(path.read_text().replace("hello Ann", "hello  Ann"))
    assert status(project)["recommended_next_action"] == "loopwright plan greet"


def test_checks_that_a_person_corrected_are_not_planned_away(project):
    vacuous = {**SLICE, "checks": [{"id": "VS-1-C1", "command": "true"}]}
    prepare(project, [planner(slices=[vacuous]), planner(plan="Another one.")], settings=DEFAULT)
    plan(project)
    path = project.own / "changes/active/chg-greet/slices.json"
    assert str(path.relative_to(project.root)) in status(project)["recommended_next_action"]
    path.write_text(path.read_text().replace('"true"', '"grep -q hello hello.py"'))
    assert status(project)["recommended_next_action"] == "loopwright plan greet"
    ok(project, "plan", "greet")
    assert "grep -q hello" in path.read_text()
    assert status(project)["recommended_next_action"] == "loopwright approve greet --from plan --to build"
    ok(project, "plan", "greet", "--agent", "scripted")
    assert "Another one." in (project.own / "workflows/greet/plan.md").read_text()


def test_an_approval_covers_the_files_of_hidden_checks(project):
    hidden = {**SLICE, "checks": [{"id": "VS-1-C1", "command": "sh judge.sh", "hidden": True}]}
    prepare(project, [planner(slices=[hidden]), BUILDS], settings=DEFAULT)
    project.write(".loopwright/workflows/greet/hidden/judge.sh", "grep -q hello hello.py\n")
    project.at("approved")
    project.write(".loopwright/workflows/greet/hidden/judge.sh", "true\n")
    found = refusal(project, "build", "greet")
    assert found["blockers"][0]["code"] == "approval_void_build"
    assert "hidden judge.sh" in found["blockers"][0]["message"]


def test_a_required_review_without_a_reviewer_asks_for_one(project):
    at_review(project, settings="[risk]\nthreshold = 0.0\n")
    assert status(project)["recommended_next_action"] == "loopwright review greet --reviewer …"
    assert "needs a reviewer" in ok(project, "status", "greet").stdout
    ok(project, "review", "greet", "--verdict", "approve")
    assert status(project)["recommended_next_action"] == "loopwright approve greet --from review --to done"


def test_an_empty_answer_is_refused_and_a_loop_that_missed_an_answer_gets_it(project):
    asks = {"role": "builder", "run": """printf '{"question": "Red or blue?"}' > "$LOOPWRIGHT_DECISIONS/q.json\""""}
    prepare(project, [planner(), asks, BUILDS], settings=DEFAULT)
    project.at("approved")
    project.run("build", "greet")
    waiting = project.ask("next")
    assert waiting["workflows"][0]["recommended_next_action"] == 'loopwright answer greet D-1 "…"'
    assert waiting["loops"] == []  # asked once
    assert refusal(project, "answer", "greet", "D-1", "  ")["error"] == "empty_answer"
    loop = next((project.own / "loops").glob("*.json"))
    head = {path: path.read_bytes() for path in loop.parent.iterdir() if path.is_file()}
    ok(project, "answer", "greet", "D-1", "blue")
    for path, data in head.items():  # as if we had died before the loop heard of it
        path.write_bytes(data)
    ok(project, "build", "greet")
    assert status(project)["recommended_next_action"] == "loopwright approve greet --from build --to review"


def test_a_failed_delivery_is_repeated_by_the_same_approval(project):
    at_review(project)
    (project.root / ".git").rename(project.root.parent / "aside.git")
    found = refusal(project, "approve", "greet", "--from", "review", "--to", "done", "--as-branch")
    assert found["error"] == "delivery_blocked"
    assert found["next"] == "loopwright approve greet --from review --to done"
    assert status(project)["recommended_next_action"] == found["next"]
    assert follow(project)[0] == found["next"]


def test_names_that_git_quotes_are_moved_in_place_and_back(project):
    project.write("café.py", "x = 1\n")
    moves = {"role": "builder", "run": f"{BUILT}; mv café.py 'naïve file.py'"}
    prepare(project, [planner(), moves], settings=DEFAULT)
    project.at("approved")
    ok(project, "build", "greet")
    ok(project, "approve", "greet", "--from", "build", "--to", "review")
    ok(project, "review", "greet")
    ok(project, "approve", "greet", "--from", "review", "--to", "done")
    assert (project.root / "naïve file.py").read_text() == "x = 1\n"
    assert not (project.root / "café.py").exists()
    ok(project, "undo", "greet")
    assert (project.root / "café.py").is_file()


@pytest.mark.parametrize("uncommitted", [False, True])
def test_a_branch_of_a_project_in_a_folder_leaves_the_rest_of_the_repository_alone(make_project, uncommitted):
    top = make_project({"top.txt": "t\n", "sub/hello.py": "", "sub/.gitignore": ".loopwright/\n__pycache__/\n"})
    project = copy.copy(top)
    project.root = top.root / "sub"
    # Work that rests on a file that is not committed, or on none.
    rests = " && echo more >> notes.txt" if uncommitted else ""
    prepare(project, [planner(), {"role": "builder", "run": BUILT + rests}], settings=DEFAULT)
    if uncommitted:
        project.write("notes.txt", "mine\n")
    project.at("approved")
    ok(project, "build", "greet")
    ok(project, "approve", "greet", "--from", "build", "--to", "review")
    ok(project, "review", "greet")
    ok(project, "approve", "greet", "--from", "review", "--to", "done", "--as-branch")
    changed = top.git("diff", "--name-only", "HEAD", "loopwright/greet").split()
    assert changed == ["sub/hello.py", *(["sub/notes.txt"] if uncommitted else [])]


def test_a_page_of_the_journal_is_never_written_over(project):
    at_review(project)
    ok(project, "review", "greet")
    pages = sorted((project.own / "journal").rglob("journal-*.md"))
    assert [page.name for page in pages] == ["journal-1.md", "journal-2.md"]
    pages[0].unlink()
    pages[1].write_text("mine\n")
    ok(project, "review", "greet")
    assert pages[1].read_text() == "mine\n"


def test_undo_reports_that_the_delivery_was_merged(project):
    at_review(project)
    ok(project, "approve", "greet", "--from", "review", "--to", "done", "--as-branch")
    subprocess.run(["git", "merge", "-q", "loopwright/greet"], cwd=project.root, check=True)
    said = ok(project, "undo", "greet").stdout
    assert "you merged it" in said
    assert "git revert" in said
    assert state(project)["current_stage"] == "review"


def test_a_planner_that_is_asked_again_after_a_rejection_reads_the_reason(project):
    prepare(project, [planner()], settings=DEFAULT)
    plan(project)
    ok(project, "reject", "greet", "--from", "plan", "--to", "build", "--reason", "it misses Windows")
    assert "it misses Windows" in ok(project, "status", "greet").stdout


def test_next_and_the_list_are_correct_after_a_manual_edit(project):
    prepare(project, [planner(), BUILDS])
    build_it(project)
    assert "approve greet --from build --to review" in ok(project, "next").stdout
    path = project.own / "workflows" / "greet" / "plan.md"
    path.write_text(path.read_text() + "\nAnd a pony.\n")
    assert "approve greet --from plan --to build" in ok(project, "next").stdout
    path.write_text(path.read_text().replace("\nAnd a pony.\n", ""))
    assert "approve greet --from build --to review" in ok(project, "status").stdout


def test_an_existing_branch_of_the_same_name_stays(project):
    prepare(project, [planner(), BUILDS])
    build_it(project)
    ok(project, "approve", "greet", "--from", "build", "--to", "review")
    ok(project, "review", "greet")
    project.git("branch", "loopwright/greet")
    said = ok(project, "approve", "greet", "--from", "review", "--to", "done", "--as-branch").stdout
    assert "git merge loopwright/greet-2" in said
    assert project.git("rev-parse", "loopwright/greet") == project.git("rev-parse", "HEAD")
    ok(project, "undo", "greet")
    assert "greet-2" not in project.git("branch", "--list", "loopwright/*")


def test_the_default_agent_does_not_overwrite_a_plan_that_a_person_wrote(project):
    prepare(project, [planner(), planner(plan="something else")], settings=DEFAULT)
    plan(project)
    path = project.own / "workflows" / "greet" / "plan.md"
    path.write_text(path.read_text() + "\nMine.\n")
    assert "To plan again, use --agent NAME" in ok(project, "plan", "greet").stdout
    assert "Mine." in path.read_text()
    ok(project, "plan", "greet", "--agent", "scripted")
    assert "something else" in path.read_text()
