"""`loopwright review`, the last approval, delivery and `undo`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest
from tests.walks.workflow_kit import BUILT, blockers, bytes_of, ok, planner, prepare, refusal, state, status

BUILDS = {"role": "builder", "run": BUILT}
STRICT = "[risk]\nthreshold = 0.0\n"
CODE = {"role": "reviewer", "answer": '{"verdict": "approve", "summary": "fine"}'}
SMELL = {"role": "smell reviewer", "answer": '{"verdict": "pass"}'}


def built(project, *turns, settings="", uncommitted=None):
    """A workflow whose build may be reviewed."""
    prepare(project, [planner(), *(turns or (BUILDS,))], settings=settings)
    for name, text in (uncommitted or {}).items():
        (project.root / name).write_text(text)
    project.at("in review")


def reviewer(project, *turns):
    """A second agent."""
    project.write(".loopwright/reviewer.yaml", json.dumps({"turns": list(turns)}))
    config = project.own / "config.toml"
    config.write_text(config.read_text() + '[agents.second]\nkind = "scripted"\nturns = ".loopwright/reviewer.yaml"\n')


def report(project):
    return (project.own / "workflows" / "greet" / "review-report.md").read_text()


def test_below_the_risk_floor_no_reviewer_is_asked_and_the_report_says_so(project):
    built(project)
    unread = re.compile(r"! no reviewer read the code: risk floor 0\.\d+ is below 0\.50\n")
    assert unread.search(ok(project, "review", "greet").stdout)
    assert unread.search(ok(project, "status", "greet").stdout)
    assert status(project)["review"]["unread"].startswith("risk floor")
    assert "code review was skipped: risk floor" in report(project)
    assert state(project)["review_verdict"] == "approve"
    assert blockers(project, "done") == {}
    assert state(project)["requested_transition"] == "review->done"
    assert next((project.own / "journal").glob("*/journal-1.md")).read_text().startswith("# greet")
    support = project.own / "workflows" / "greet" / "review-support"
    assert json.loads((support / "changed-files.json").read_text())["files"] == ["hello.py"]
    assert json.loads((support / "code-review.json").read_text())["verdict"] == "skipped"


def test_done_delivers_the_patch_and_undo_restores_every_byte(project):
    built(
        project, {"role": "builder", "run": f"{BUILT}; mkdir new; printf '#!/bin/sh\\n' > new/tool; chmod +x new/tool"}
    )
    ok(project, "review", "greet")
    before = (project.root / "hello.py").read_bytes()
    head = project.git("rev-parse", "HEAD")
    assert (
        "files changed in your checkout: 2;"
        in ok(project, "approve", "greet", "--from", "review", "--to", "done").stdout
    )
    assert "hello {name}" in (project.root / "hello.py").read_text()
    assert (project.root / "new" / "tool").stat().st_mode & 0o111
    assert (project.git("rev-parse", "HEAD"), project.git("diff", "--cached")) == (head, ""), "nothing is committed"
    assert status(project)["stage"] == "done"
    assert state(project)["completion_confirmed"] is True
    ok(project, "undo", "greet")
    assert (project.root / "hello.py").read_bytes() == before
    assert not (project.root / "new" / "tool").exists()
    assert refusal(project, "undo", "greet")["error"] == "nothing_delivered"


def test_a_protected_file_that_a_person_signed_is_delivered_and_archived_with_the_rest(project):
    built_with = {"role": "builder", "run": f"{BUILT}; echo 'import os' > conftest.py"}
    prepare(project, [planner(), built_with])
    project.at("built")
    ok(project, "sign", "greet", "--protected", "--note", "seen")
    ok(project, "approve", "greet", "--from", "build", "--to", "review")
    ok(project, "review", "greet")
    ok(project, "approve", "greet", "--from", "review", "--to", "done")
    assert status(project)["stage"] == "done"
    assert (project.root / "conftest.py").is_file()
    project.git("add", "-A")
    project.commit("delivered")
    ok(project, "archive", "greet")


def test_delivery_follows_no_link_and_a_link_may_become_a_folder(project):
    outside = project.root.parent / "outside"
    outside.mkdir()
    (outside / "key.py").write_text("PRIVATE = 1\n")
    project.write("lib/key.py", "KEY = 1\n")
    (project.root / "vendored").symlink_to("../packages")
    honest = "rm vendored && mkdir vendored && echo 'KEY = 2' > vendored/key.py"
    work = {"role": "builder", "run": f"{BUILT}; rm -r lib && ln -s ../outside lib; {honest}"}
    prepare(project, [planner(), work], settings="[risk]\nthreshold = 1.0\n")
    project.at("built")
    ok(project, "sign", "greet", "--protected", "--note", "links")
    ok(project, "approve", "greet", "--from", "build", "--to", "review")
    ok(project, "review", "greet")
    ok(project, "approve", "greet", "--from", "review", "--to", "done")
    assert str((project.root / "lib").readlink()) == "../outside"
    assert (project.root / "vendored" / "key.py").read_text() == "KEY = 2\n"
    assert b"PRIVATE" not in b"".join(bytes_of(project.own).values()), "nothing outside was read"
    ok(project, "undo", "greet")
    assert (project.root / "lib" / "key.py").read_text() == "KEY = 1\n"
    assert str((project.root / "vendored").readlink()) == "../packages"
    assert list(bytes_of(outside).values()) == [b"PRIVATE = 1\n"]


def test_other_work_of_the_user_stays_and_conflicting_work_makes_the_delivery_a_branch(project):
    built(project)
    ok(project, "review", "greet")
    (project.root / "other.txt").write_text("mine\n")
    (project.root / "hello.py").write_text("def greet(name):\n    return 'moin'\n")
    said = ok(project, "approve", "greet", "--from", "review", "--to", "done").stdout
    assert "files that changed since the build began (hello.py, other.txt)" in said
    assert "git merge loopwright/greet" in said
    assert "moin" in (project.root / "hello.py").read_text(), "the checkout is untouched"
    assert "hello {name}" in project.git("show", "loopwright/greet:hello.py")
    assert (project.root / "other.txt").read_text() == "mine\n"
    ok(project, "undo", "greet")
    assert project.git("branch", "--list", "loopwright/*") == ""


def test_the_users_uncommitted_changes_are_not_part_of_the_work(project):
    mine = "def greet(name):\n    return 'hi'\n\n\nMINE = 1\n"
    built(
        project,
        {"role": "builder", "run": "sed -i 's/.hi./f\"hello {name}\"/' hello.py"},
        uncommitted={"auth_secrets.tf": "mine\n" * 400, "hello.py": mine},
    )
    path = project.root / "hello.py"
    ok(project, "review", "greet")
    support = project.own / "workflows" / "greet" / "review-support"
    assert json.loads((support / "changed-files.json").read_text())["files"] == ["hello.py"]
    assert "code review was skipped: risk floor" in report(project), "their files raise no floor"
    assert "auth_secrets.tf" not in (support / "reviewed.patch").read_text()
    said = ok(project, "approve", "greet", "--from", "review", "--to", "done").stdout
    assert "files changed in your checkout: 1;" in said
    assert "hello {name}" in path.read_text()
    assert "MINE = 1" in path.read_text()
    ok(project, "undo", "greet")
    assert path.read_text() == mine


def test_work_that_needs_uncommitted_changes_includes_them_on_a_branch(project):
    built(project, uncommitted={"hello.py": "def greet(name):\n    return 'hey'\n"})
    ok(project, "review", "greet")
    said = ok(project, "approve", "greet", "--from", "review", "--to", "done", "--as-branch").stdout
    assert "not committed when it was built" in said
    assert "hello {name}" in project.git("show", "loopwright/greet:hello.py")


def test_a_project_without_git_gets_the_work_alone(project):
    prepare(project, [planner(), BUILDS])
    shutil.rmtree(project.root / ".git")
    project.write("other.txt", "mine\n")
    project.at("reviewed")
    refused = refusal(project, "approve", "greet", "--from", "review", "--to", "done", "--as-branch")
    assert refused["error"] == "delivery_blocked"
    assert "checkout: 1;" in ok(project, "approve", "greet", "--from", "review", "--to", "done").stdout
    assert "hello {name}" in (project.root / "hello.py").read_text()
    assert (project.root / "other.txt").read_text() == "mine\n"
    ok(project, "undo", "greet")
    assert "return 'hi'" in (project.root / "hello.py").read_text()


def test_a_branch_on_request_and_no_undo_after_new_commits(project):
    built(project)
    ok(project, "review", "greet")
    ok(project, "approve", "greet", "--from", "review", "--to", "done", "--as-branch")
    assert "return 'hi'" in (project.root / "hello.py").read_text()
    head = project.git("rev-parse", "HEAD").strip()
    assert project.git("rev-parse", "loopwright/greet^").strip() == head
    project.git("update-ref", "refs/heads/loopwright/greet", head)
    assert refusal(project, "undo", "greet")["error"] == "undo_blocked"


def test_undo_of_an_archived_change_removes_it_from_the_specs_and_it_can_be_delivered_again(project):
    built(project)
    ok(project, "review", "greet")
    ok(project, "approve", "greet", "--from", "review", "--to", "done")
    change = project.own / "changes" / "active" / "chg-greet"
    before = bytes_of(change)
    ok(project, "archive", "greet")
    specs = project.own / "specs"
    assert "Greeting by name" in (specs / "greeting" / "spec.md").read_text()
    ok(project, "undo", "greet")
    assert "return 'hi'" in (project.root / "hello.py").read_text()
    assert not (specs / "greeting").exists()
    assert bytes_of(change) == before, "the change is active again"
    found = status(project)
    assert (found["stage"], found["recommended_next_action"]) == (
        "review",
        "loopwright approve greet --from review --to done",
    ), "the work is judged, and a person decides again"
    ok(project, "approve", "greet", "--from", "review", "--to", "done")
    ok(project, "archive", "greet")
    assert (specs / "greeting" / "spec.md").is_file()
    (specs / "greeting" / "spec.md").write_text((specs / "greeting" / "spec.md").read_text() + "\n<!-- mine -->\n")
    refused = refusal(project, "undo", "greet")
    assert (refused["error"], "greeting/spec.md" in refused["message"]) == ("undo_blocked", True)
    assert "hello {name}" in (project.root / "hello.py").read_text(), "nothing is changed"


def test_no_undo_of_files_that_were_changed_since(project):
    built(project)
    ok(project, "review", "greet")
    ok(project, "approve", "greet", "--from", "review", "--to", "done")
    path = project.root / "hello.py"
    path.write_text(path.read_text() + "\n# mine\n")
    refused = refusal(project, "undo", "greet")
    assert (refused["error"], "hello.py" in refused["message"]) == ("undo_blocked", True)
    assert "# mine" in path.read_text()


def test_above_the_risk_floor_a_reviewer_other_than_the_builder_is_required(project):
    # The work replaces most of a file: that needs review, however small the file is.
    empties = {"role": "builder", "run": f"{BUILT}; echo 'gone = 1' > other.py"}
    built(project, empties, uncommitted={"other.py": "x = 1\n" * 40})
    ok(project, "review", "greet")
    assert "most lines are removed from other.py (40 of 40)" in report(project)
    found = blockers(project, "done")
    assert {"review_verdict_request-changes", "review_rework_required"} <= set(found)
    assert "needs a reviewer" in found["review_verdict_request-changes"]["message"]
    assert refusal(project, "approve", "greet", "--from", "review", "--to", "done")["error"] == "review_not_approved"
    reviewer(project, CODE, SMELL)
    ok(project, "review", "greet", "--reviewer", "second")
    assert blockers(project, "done") == {}
    assert status(project)["cost"]["turns"] == 4


def test_the_builder_cannot_review_its_work(project):
    built(project, settings=STRICT)
    ok(project, "review", "greet", "--reviewer", "scripted")
    assert (state(project)["review_verdict"], state(project)["rollback_target"]) == ("request-changes", "plan")
    assert "scripted built the work and cannot review it" in report(project)


def test_the_builder_cannot_review_under_another_name_but_a_person_can(project):
    built(project, settings=STRICT)
    config = project.own / "config.toml"
    turns = re.search(r'^turns = ".*"$', config.read_text(), re.MULTILINE)[0]
    config.write_text(f'{config.read_text()}[agents.twin]\nkind = "scripted"\n{turns}\n')
    ok(project, "review", "greet", "--reviewer", "twin")
    assert (state(project)["review_verdict"], state(project)["rollback_target"]) == ("request-changes", "plan")
    assert "twin and the builder scripted are both scripted " in report(project)
    assert "no agent reviews its own work; name another reviewer" in report(project)
    assert status(project)["cost"]["turns"] == 2, "it was not asked"
    # A person with only one agent reviews the work.
    ok(project, "review", "greet", "--reviewer", "twin", "--verdict", "approve")
    assert blockers(project, "done") == {}


@pytest.mark.parametrize(
    ("turns", "target", "words"),
    [
        (({"role": "reviewer", "answer": "looks good to me"},) * 2 + (SMELL,), "build", "the reviewer gave no verdict"),
        (({"role": "reviewer", "fail": "crashed"}, SMELL), "build", "the reviewer gave no verdict"),
        (({"role": "reviewer", "fail": "refused"}, SMELL), "build", "the reviewer gave no verdict"),
        (
            ({"role": "reviewer", "answer": '{"verdict": "request-changes", "summary": "wrong"}'}, SMELL),
            "build",
            "wrong",
        ),
        (
            ({"role": "reviewer", "answer": '{"verdict": "request-changes", "rollback_target": "clarify"}'}, SMELL),
            "clarify",
            "code review",
        ),
        ((CODE, {"role": "smell reviewer", "answer": '{"verdict": "block", "summary": "layers"}'}), "plan", "layers"),
    ],
)
def test_a_reviewer_that_fails_or_objects_sends_the_work_back(project, turns, target, words):
    built(project, settings=STRICT)
    reviewer(project, *turns)
    ok(project, "review", "greet", "--reviewer", "second")
    assert (state(project)["review_verdict"], state(project)["rollback_target"]) == ("request-changes", target)
    assert words in report(project)


def test_a_reviewer_that_cant_work_sends_nothing_back_and_earlier_verdicts_are_kept(project):
    built(project, settings=STRICT)
    reviewer(
        project,
        {"role": "reviewer", "fail": "not_logged_in"}, CODE, {"role": "reviewer", "fail": "refused"},
        {"role": "smell reviewer", "fail": "rate_limited"},
        {"role": "smell reviewer", "fail": "agent_missing"}, SMELL, SMELL,
    )  # fmt: skip
    for words in ("not_logged_in", "the end of the limit is unknown", "agent_missing"):
        refused = project.run("review", "greet", "--reviewer", "second")
        assert refused.exit_code == 1
        assert words in refused.stderr
        assert (
            words == "the end of the limit is unknown"
            or "`loopwright review greet --reviewer second`" in refused.stderr
        )
        assert (status(project)["stage"], state(project)["review_verdict"]) == ("review", None)
    done = ok(project, "review", "greet", "--reviewer", "second")
    assert "the reviewer second has already reviewed this version of the work" in done.stdout + done.stderr
    assert blockers(project, "done") == {}
    ok(project, "review", "greet", "--reviewer", "second")
    assert "the reviewer gave no verdict" in report(project), "the review is repeated"


def test_a_verdict_that_was_edited_into_the_file_does_not_count(project):
    built(project, settings=STRICT)
    no = {"role": "reviewer", "answer": '{"verdict": "request-changes", "summary": "wrong"}'}
    reviewer(project, no, {"role": "smell reviewer", "fail": "rate_limited"}, no, SMELL)
    assert project.run("review", "greet", "--reviewer", "second").exit_code == 1
    kept = project.own / "workflows" / "greet" / "review-support" / "code-review.json"
    assert '"request-changes"' in kept.read_text()
    kept.write_text(kept.read_text().replace('"request-changes"', '"approve"'))
    project.run("review", "greet", "--reviewer", "second")
    assert state(project)["review_verdict"] == "request-changes"


def test_changed_evidence_does_not_count(project):
    built(project)
    log = next(path for path in (project.own / "runs").glob("loop-*/logs/*.log"))
    log.write_text("all green\n")
    ok(project, "review", "greet")
    assert "does not match" in report(project)
    assert state(project)["rollback_target"] == "build"


def test_a_patch_that_differs_from_the_verified_patch_is_not_reviewed(project):
    built(project)
    (patch,) = (path for path in (project.own / "loops").glob("*.progress/work/*.patch"))
    patch.write_bytes(patch.read_bytes().replace(b"hello {name}", b"hello, {name}"))
    refused = refusal(project, "review", "greet")
    assert refused["error"] == "review_gate_blocked"
    assert "differs from what was verified" in refused["message"]


def test_a_person_reviews_and_sends_the_work_back_to_the_plan(project):
    built(project)
    ok(project, "review", "greet", "--verdict", "request-changes", "--target", "plan", "--rationale", "think again")
    assert state(project)["stage_status"] == "pending-rework"
    for target, error in (("build", "review_build_fix_not_requested"), ("clarify", "review_clarify_fix_not_requested")):
        assert refusal(project, "approve", "greet", "--from", "review", "--to", target)["error"] == error
    ok(project, "approve", "greet", "--from", "review", "--to", "plan")
    assert "the last review found: code review: think again" in ok(project, "plan", "greet").stdout
    assert status(project)["stage"] == "plan"
    assert list(blockers(project, "build")) == ["plan_unchanged"]
    refused = refusal(project, "approve", "greet", "--from", "plan", "--to", "build")
    assert [one["code"] for one in refused["blockers"]] == ["plan_unchanged"]
    path = project.own / "workflows" / "greet" / "plan.md"
    path.write_text(path.read_text().replace("Change greet.", "Change greet, and think."))
    ok(project, "plan", "greet")
    assert status(project)["authorization"]["build"] == {
        "authorized": False, "approval_status": "requested", "transition": "plan->build"
    }, "the old consent is gone"  # fmt: skip


def test_a_person_reviews_and_sends_the_work_back_to_the_beginning(project):
    built(project)
    ok(project, "review", "greet", "--verdict", "request-changes", "--target", "clarify", "--rationale", "who asked?")
    assert "clarify_rework_required" in blockers(project, "done")
    ok(project, "approve", "greet", "--from", "review", "--to", "clarify")
    asked = ok(project, "clarify", "greet", "--json").json()
    assert "who asked?" in asked["question"]
    assert "clarify_ambiguity_score_above_threshold" in blockers(project, "plan")
    # The spec as it was, once more, answers nothing.
    refused = refusal(project, "plan", "greet", "--direct", str(project.root.parent / "SPEC.md"))
    assert "spec_unchanged" in [one["code"] for one in refused["blockers"]]


def test_going_back_needs_a_reason(project):
    built(project)
    ok(project, "review", "greet", "--verdict", "request-changes", "--target", "plan")
    assert "without a reason" in report(project)
    assert "plan_rework_required" in blockers(project, "done")
    refused = refusal(project, "approve", "greet", "--from", "review", "--to", "plan")
    assert refused["error"] == "rollback_rationale_required"
    ok(project, "approve", "greet", "--from", "review", "--to", "plan", "--rationale", "the slices are wrong")
    assert state(project)["rollback_rationale"] == "the slices are wrong"


def test_remaining_scope_reverses_the_verdict(project):
    built(project)
    assert "review_status_pending" in blockers(project, "done")
    ok(project, "review", "greet")
    path = project.own / "workflows" / "greet" / "execution-record.md"
    path.write_text(path.read_text().replace("schema_version", "remaining_scope: the docs\nschema_version", 1))
    refused = refusal(project, "approve", "greet", "--from", "review", "--to", "done")
    assert refused["error"] == "review_done_scope_blocked"
    assert [one["code"] for one in refused["blockers"]] == ["partial_scope_remaining"]
    found = state(project)
    assert (found["review_verdict"], found["rollback_target"]) == ("request-changes", "build")
    assert refusal(project, "approve", "greet", "--from", "review", "--to", "plan")["error"] == (
        "review_plan_fix_not_requested"
    )
    ok(project, *refused["next"].split()[1:])
    assert "return 'hi'" in (project.root / "hello.py").read_text(), "nothing was delivered"


def test_back_in_the_build_the_work_continues_from_the_existing_work(project):
    mends = {"role": "builder", "expect": "say it louder", "run": f"{BUILT}; echo loud > loud"}
    built(project, BUILDS, mends)
    ok(project, "review", "greet", "--verdict", "request-changes", "--target", "build", "--rationale", "say it louder")
    path = project.own / "workflows" / "greet" / "review-report.md"
    assert refusal(project, "build", "--agent", "scripted")["error"] == "build_from_review_artifact_required"
    missing = refusal(project, "build", "--from-review", "nothing.md", "--agent", "scripted")
    assert missing["error"] == "build_from_review_artifact_missing"
    ok(project, "build", "--from-review", str(path), "--agent", "scripted")
    audit = json.loads((path.parent / "build-support" / "completion-audit.json").read_text())
    assert ("review-rework", "covered") in {(line["source"], line["status"]) for line in audit["checklist"]}
    ok(project, "approve", "greet", "--from", "build", "--to", "review")
    ok(project, "review", "greet")
    ok(project, "approve", "greet", "--from", "review", "--to", "done")
    assert (project.root / "loud").is_file()
    assert "hello {name}" in (project.root / "hello.py").read_text()


@pytest.mark.faults
@pytest.mark.needs("strace")
@pytest.mark.parametrize("call", ["rename", "fsync", "unlink"])
def test_after_a_kill_anywhere_in_a_delivery_the_next_command_finds_the_old_files_or_finishes(project, call):
    many = "; ".join(f"echo {n} > file{n}" for n in range(4))
    built(project, {"role": "builder", "run": f"{BUILT}; {many}"})
    ok(project, "review", "greet")
    names = ["hello.py", *(f"file{n}" for n in range(4))]
    old = {name: _bytes(project.root / name) for name in names}
    command = project.command("approve", "greet", "--from", "review", "--to", "done")
    for number in range(1, 60):
        inject = f"inject={call}:signal=KILL:when={number}"
        traced = ("strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", inject, *command)
        done = subprocess.run(traced, cwd=project.root, env=project.environment, capture_output=True, check=False)
        if done.returncode == 0:
            break
        status(project)  # the next command finishes the interrupted delivery
        found = {name: _bytes(project.root / name) for name in names}
        assert found == old or all(found[name] != old[name] for name in names), number
        if found != old:
            break
    ok_or_done = project.run("approve", "greet", "--from", "review", "--to", "done")
    assert status(project)["stage"] == "done", ok_or_done.stderr
    assert {name: _bytes(project.root / name) for name in names}["file3"] == b"3\n"
    ok(project, "undo", "greet")
    assert {name: _bytes(project.root / name) for name in names} == old


def _bytes(path):
    return path.read_bytes() if path.exists() else None


@pytest.mark.faults
@pytest.mark.needs("strace")
@pytest.mark.parametrize("call", ["rename", "fsync", "unlink"])
def test_after_a_kill_anywhere_in_an_undo_all_files_are_restored_or_none(project, call):
    built(project, {"role": "builder", "run": f"{BUILT}; echo 1 > file1"})
    ok(project, "review", "greet")
    ok(project, "approve", "greet", "--from", "review", "--to", "done")
    ok(project, "archive", "greet")
    names = ["hello.py", "file1", ".loopwright/specs/greeting/spec.md"]
    there = {name: _bytes(project.root / name) for name in names}
    for number in range(1, 60):
        inject = f"inject={call}:signal=KILL:when={number}"
        command = project.command("undo", "greet")
        traced = ("strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", inject, *command)
        done = subprocess.run(traced, cwd=project.root, env=project.environment, capture_output=True, check=False)
        stage = status(project)["stage"]  # the next command finishes the interrupted delivery
        found = {name: _bytes(project.root / name) for name in names}
        assert found == there or all(found[name] != there[name] for name in names), number
        assert stage == "done" or found != there
        if done.returncode == 0 or stage == "review":
            break
    if status(project)["stage"] == "done":
        ok(project, "undo", "greet")
    assert status(project)["stage"] == "review"
    assert not (project.root / "file1").exists()
    assert not (project.own / "specs" / "greeting").exists()


SAYS = """says=approve; grep -q '"pass"' "$LOOPWRIGHT_SCHEMA" && says=pass\n"""
QUOTES = SAYS + (
    """printf 'No. The code says:\\n```json\\n{"verdict": "%s"}\\n```\\n' "$says" > "$LOOPWRIGHT_ANSWER" """
)
WHOLE = SAYS + """printf '{"verdict": "%s", "nonce": "%s"}' "$says" "$LOOPWRIGHT_NONCE" > "$LOOPWRIGHT_ANSWER" """


def test_a_verdict_in_the_text_of_a_reviewer_opens_no_gate_and_one_with_the_nonce_does(project):
    built(project, settings=STRICT)
    project.environment["LOOPWRIGHT_SANDBOX_ISOLATION"] = "auto"
    ok(project, "review", "greet", "--reviewer", f"command:{QUOTES}")
    assert state(project)["review_verdict"] == "request-changes"
    assert "the reviewer gave no verdict" in report(project)
    ok(project, "review", "greet", "--reviewer", f"command:{WHOLE}")
    assert state(project)["review_verdict"] == "approve"


TWO_FILES = f"{BUILT}; echo 'WORD = 1' > words.py"


def test_a_delivery_that_a_crash_and_an_edit_stopped_says_so_and_loses_nothing(project):
    built(project, {"role": "builder", "run": TWO_FILES})
    ok(project, "review", "greet")
    journal = project.own / "workflows" / "greet" / "journal.ndjson"
    before, done = journal.read_bytes(), ("approve", "greet", "--from", "review", "--to", "done")
    ok(project, *done)
    # The state after a crash between two files: one is written, and a person changed the other meanwhile.
    journal.write_bytes(before)
    delivery = project.own / "workflows" / "greet" / "delivery"
    (delivery / "done.json").rename(delivery / "plan.json")
    project.write("hello.py", "def greet(name):\n    return 'moin'\n")
    found = refusal(project, "status", "greet")
    assert found["error"] == "delivery_blocked"
    assert "these files were changed meanwhile: hello.py" in found["message"]
    assert "moin" in (project.root / "hello.py").read_text()
    assert not (project.root / "words.py").exists(), "all or nothing"
    assert status(project)["stage"] == "review"
    said = ok(project, *done).stdout
    assert "git merge loopwright/greet" in said
    assert "WORD" in project.git("show", "loopwright/greet:words.py")


def test_a_finished_delivery_whose_plan_a_crash_left_behind_is_not_carried_out_again(project):
    built(project, {"role": "builder", "run": TWO_FILES})
    ok(project, "review", "greet")
    ok(project, "approve", "greet", "--from", "review", "--to", "done")
    delivery = project.own / "workflows" / "greet" / "delivery"
    shutil.copy2(delivery / "done.json", delivery / "plan.json")
    project.write("hello.py", "def greet(name):\n    return 'moin'\n")
    assert status(project)["stage"] == "done"
    assert (project.root / "words.py").is_file()
    assert not (delivery / "plan.json").exists()
