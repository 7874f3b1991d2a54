"""`loopwright plan`: documents, slices, delta, the control on the base, and every reason why not."""

from __future__ import annotations

import json

import pytest
from tests.walks.workflow_kit import (
    BUILT,
    DELTA,
    SLICE,
    blockers,
    ok,
    plan,
    planner,
    prepare,
    refusal,
    state,
    status,
)

TRUE = {"id": "VS-1-C1", "command": "true"}


def change(project):
    return project.own / "changes" / "active" / "chg-greet"


def slices(project, **changes):
    """The slices with these differences, written by hand."""
    path = change(project) / "slices.json"
    document = json.loads(path.read_text())
    document["slices"][0].update(changes)
    path.write_text(json.dumps(document, indent=2))


def test_one_call_of_an_agent_makes_the_whole_package(project):
    prepare(project, [planner()])
    plan(project)
    assert blockers(project, "build") == {}
    found = status(project)
    assert (found["stage"], found["cost"]["turns"]) == ("plan", 1)
    own = project.own
    for path in ("workflows/greet/plan.md", "workflows/greet/architecture.md", "workflows/greet/development-plan.md",
                 "workflows/greet/test-plan.md", "plans/prd-greet.md", "plans/test-spec-greet.md"):  # fmt: skip
        assert (own / path).read_text().strip(), path
    assert {path.name for path in change(project).iterdir()} == {
        "proposal.md", "design.md", "tasks.md", "spec-delta.md", "slices.json", "artifact-graph.json", "specs"
    }  # fmt: skip
    graph = json.loads((change(project) / "artifact-graph.json").read_text())
    assert graph["nextReady"] == []
    assert {node["status"] for node in graph["nodes"]} == {"done"}
    evidence = project.evidence("greet-control")
    assert (evidence["kind"], evidence["workflow"], evidence["status"]) == ("workflow", "greet", "ERROR")
    assert not (own / "latch.lock").exists()
    assert not (own / "run.latest.yaml").exists(), "a run on the base is not the latest run"
    assert project.run("verify").exit_code == 0
    assert state(project)["requested_transition"] == "plan->build"
    ok(project, "approve", "greet", "--from", "plan", "--to", "build")
    assert status(project)["recommended_next_action"] == "loopwright build greet"


def test_a_check_that_passes_before_the_work_proves_nothing(project):
    prepare(project, [planner(slices=[{**SLICE, "checks": [TRUE]}])])
    plan(project)
    assert list(blockers(project, "build")) == ["vacuous_check_VS-1-C1"]
    refused = refusal(project, "approve", "greet", "--from", "plan", "--to", "build")
    assert refused["error"] == "plan_review_gate_blocked"
    slices(project, checks=[{**TRUE, "regression": True}])
    assert list(blockers(project, "build")) == ["negative_control_missing_VS-1-C1"], (
        "another check needs another control"
    )
    ok(project, "plan", "greet")
    assert blockers(project, "build") == {}


def test_an_approval_ends_when_a_check_a_document_or_a_protected_file_changes(project):
    prepare(project, [planner(slices=[{**SLICE, "checks": [{"id": "C", "command": "bash check.sh"}]}])])
    project.write("check.sh", "grep -q hello hello.py\n")
    project.commit("a check script")
    project.at("approved")
    for path, text in (
        (project.root / "check.sh", "true\n"),
        (project.own / "workflows" / "greet" / "plan.md", "# Plan\n\nSomething else.\n"),
        (project.root / "conftest.py", "\n"),
    ):
        before = path.read_text() if path.exists() else None
        path.write_text(text)
        found = status(project)["authorization"]["build"]
        assert (found["authorized"], found["approval_status"]) == (False, "void"), path
        path.unlink() if before is None else path.write_text(before)
        assert status(project)["authorization"]["build"]["authorized"], path


@pytest.mark.parametrize(
    ("written", "code", "words"),
    [
        ("{", "vertical_slices_invalid", "line 1: not JSON"),
        ('{"schema_version": 1,\n "slices": []}', "vertical_slices_invalid", "line 2: 'slices' must be a list"),
        ('{"schema_version": 9,\n "slices": [{}]}', "vertical_slices_invalid", "schema_version must be 1"),
    ],
)
def test_invalid_slices_are_named_with_their_line(project, written, code, words):
    prepare(project, [planner()])
    plan(project)
    (change(project) / "slices.json").write_text(written)
    assert words in blockers(project, "build")[code]["message"]


def test_every_problem_of_the_slices_is_reported_at_once(project):
    prepare(project, [planner()])
    plan(project)
    slices(project, type="ROBOT", blocked_by=["VS-9"], chekcs=[], verification_signal="")
    said = blockers(project, "build")["vertical_slices_invalid"]["message"]
    for words in (
        "'ROBOT' is not a type",
        "VS-9, which does not exist",
        "did you mean 'checks'",
        "'verification_signal' must",
    ):
        assert words in said


def test_a_slice_for_an_agent_needs_a_check_and_a_person_signs_a_slice_without_checks(project):
    prepare(project, [planner(slices=[{**SLICE, "checks": []}])])
    plan(project)
    assert list(blockers(project, "build")) == ["slice_without_check_VS-1"]
    slices(project, type="HITL")
    assert blockers(project, "build") == {}


def test_without_an_agent_a_person_fills_in_skeletons(project):
    prepare(project)
    plan(project, agent="")
    found = blockers(project, "build")
    assert {
        "plan_package_incomplete", "missing_plan_artifact_plan", "missing_plan_artifact_architecture",
        "missing_change_artifact_proposal", "missing_change_artifact_design", "change_artifacts_incomplete",
        "spec_delta_missing_requirements", "slice_without_check_VS-1",
    } <= set(found)  # fmt: skip
    refused = refusal(project, "approve", "greet", "--from", "plan", "--to", "build")
    assert refused["error"] == "plan_package_incomplete"
    folder = project.own / "workflows" / "greet"
    for path in (folder / "plan.md", folder / "architecture.md", change(project) / "design.md"):
        path.write_text(path.read_text() + "\nWe do it.\n")
    proposal = change(project) / "proposal.md"
    proposal.write_text(proposal.read_text().replace("<!-- write here -->", "Because."))
    (change(project) / "specs" / "greeting" / "spec.md").write_text(DELTA)
    slices(project, checks=["test -e made"])
    ok(project, "plan", "greet")
    assert blockers(project, "build") == {}
    assert "VS-1-C1: `test -e made`" in (project.own / "plans" / "test-spec-greet.md").read_text()
    assert "We do it." in (folder / "plan.md").read_text(), "what a person wrote stays"


def test_a_secret_in_a_given_spec_is_masked(project):
    prepare(project)
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    spec = project.root.parent / "SPEC.md"
    spec.write_text(spec.read_text().replace("- greeting", f"- greeting\n\n<!-- {token} -->"))
    ok(project, "plan", "greet", "--direct", str(spec), "--agent", "")
    kept = [path for path in project.own.rglob("*") if path.is_file() and token.encode() in path.read_bytes()]
    assert kept == []
    assert "REDACTED" in (project.own / "workflows" / "greet" / "spec.md").read_text()


@pytest.mark.parametrize("chosen", ["[agents]\ndefault", "[agents.roles]\nplanner"])
@pytest.mark.parametrize("profile", ["lean", "full"])
def test_an_agent_does_not_overwrite_a_plan_that_a_person_started_unless_named(project, chosen, profile):
    review = [{"role": role, "answer": '{"verdict": "approve"}'} for role in ("architect", "critic")]
    settings = f'{chosen} = "scripted"\n[workflow]\nprofile = "{profile}"\n'
    prepare(project, [planner(), *(review if profile == "full" else [])], settings=settings)
    plan(project, agent="")
    slices(project, title="Mine", checks=["test -e made"])
    assert "To plan again, use --agent NAME" in ok(project, "plan", "greet").stdout
    assert '"Mine"' in (change(project) / "slices.json").read_text()
    assert status(project)["cost"]["turns"] == 0
    assert "test -e made" in (project.own / "plans" / "test-spec-greet.md").read_text(), "it is composed"
    done = ok(project, "plan", "greet", "--agent", "scripted")
    assert "note: the planner overwrites the edits in" in done.stdout
    assert '"Mine"' not in (change(project) / "slices.json").read_text()


def test_a_generated_file_that_a_person_edited_is_left_alone(project):
    prepare(project, [planner()])
    plan(project)
    mine = project.own / "plans" / "prd-greet.md"
    lines = [line for line in mine.read_text().splitlines() if not line.startswith("composed:")]
    mine.write_text("\n".join([*lines, "", "Mine."]) + "\n")
    ok(project, "plan", "greet")
    assert "Mine." in mine.read_text()


def test_in_the_full_profile_architect_and_critic_must_agree(project):
    prepare(
        project,
        [
            planner(), {**planner(plan="Better."), "expect": "The architect: think\nThe critic: C1 is weak"},
            {"role": "architect", "answer": '{"verdict": "iterate", "notes": "think"}'},
            {"role": "architect", "answer": '{"verdict": "approve"}'},
            {"role": "critic", "answer": '{"verdict": "iterate", "notes": "C1 is weak"}'},
            {"role": "critic", "answer": '{"verdict": "approve"}'},
        ],
        settings='[workflow]\nprofile = "full"\n',
    )  # fmt: skip
    plan(project, "--max-iterations", "1")
    assert list(blockers(project, "build")) == ["critic_verdict_iterate"]
    ok(project, "plan", "greet", "--agent", "scripted")
    assert blockers(project, "build") == {}
    reviews = project.own / "workflows" / "greet" / "plan-reviews"
    assert "C1 is weak" in (reviews / "round-1-critic.md").read_text()
    assert status(project)["cost"]["turns"] == 6


def test_in_the_full_profile_an_approval_counts_only_for_the_shown_plan(project):
    yes = '{"verdict": "approve"}'
    prepare(
        project,
        [planner(), *({"role": role, "answer": yes} for role in ("architect", "critic") * 2)],
        settings='[workflow]\nprofile = "full"\n',
    )
    plan(project)
    assert blockers(project, "build") == {}
    page = project.own / "workflows" / "greet" / "plan.md"
    page.write_text(page.read_text() + "\nAnd by their first name.\n")
    assert list(blockers(project, "build")) == ["architect_review_incomplete", "critic_verdict_missing"]
    done = ok(project, "plan", "greet", "--agent", "scripted")
    assert "but this version is not reviewed" in done.stdout + done.stderr
    assert blockers(project, "build") == {}
    assert "And by their first name." in page.read_text(), "a person's text is reviewed, not planned again"
    turns = sorted(path.name for path in (project.own / "turns").iterdir())
    assert "And by their first name." in (project.own / "turns" / "greet-critic-2" / "prompt.md").read_text()
    assert "greet-planner-2" not in turns
    assert "Testable Acceptance Criteria" in (project.own / "turns" / "greet-critic-2" / "prompt.md").read_text()


@pytest.mark.parametrize(("profile", "options"), [("full", ()), ("lean", ("--deliberate",))])
def test_a_reviewer_at_its_limit_does_not_repeat_other_turns(project, profile, options):
    yes = '{"verdict": "approve", "notes": "first the name"}'
    prepare(
        project,
        [
            planner(),
            {"role": "architect", "fail": "rate_limited"}, {"role": "architect", "answer": yes},
            {"role": "critic", "fail": "rate_limited"},
            {"role": "critic", "expect": "first the name", "answer": '{"verdict": "approve"}'},
        ],
        settings=f'[workflow]\nprofile = "{profile}"\n',
    )  # fmt: skip
    direct = ("--direct", str(project.root.parent / "SPEC.md"))
    for more in (direct, ()):
        done = project.run("plan", "greet", *more, "--agent", "scripted", *options)
        assert "the same command again" in done.stderr, done.stderr
    ok(project, "plan", "greet", "--agent", "scripted", *options)
    assert blockers(project, "build") == {}
    turns = sorted(path.name for path in (project.own / "turns").iterdir())
    assert turns == ["greet-architect-1", "greet-architect-2", "greet-critic-1", "greet-critic-2", "greet-planner-1"]
    reviews = project.own / "workflows" / "greet" / "plan-reviews"
    assert sorted(path.name for path in reviews.iterdir()) == ["round-1-architect.md", "round-1-critic.md"]


def test_a_wrong_answer_is_requested_again_with_every_reason(project):
    bad = planner(slices=[{**SLICE, "type": "X"}], deltas={"other": "nothing"})
    prepare(project, [bad, planner()])
    plan(project)
    assert blockers(project, "build") == {}
    assert status(project)["cost"]["turns"] == 2, "both are paid for"
    again = (project.own / "turns" / "greet-planner-1-repair" / "prompt.md").read_text()
    assert "'X' is not a type" in again
    assert "the domain greeting has no delta" in again


@pytest.mark.parametrize("domain", ["../up", "/abs", "a//b", "x" * 300, "a/../b"])
def test_a_domain_that_leaves_its_folder_is_refused(project, domain):
    prepare(project, [planner(deltas={domain: DELTA}), planner(deltas={domain: DELTA})])
    done = project.run("plan", "greet", "--direct", str(project.root.parent / "SPEC.md"), "--agent", "scripted")
    assert done.exit_code == 1
    assert "AGENT_FAILED" in done.stderr
    assert not (project.root.parent / "up").exists()


def test_documents_must_be_in_the_configured_language(project):
    prepare(project, [planner()], settings='[workspace]\ndocument_language = "zh"\n')
    plan(project)
    assert "plan_artifact_language_plan" in blockers(project, "build")
    path = project.own / "workflows" / "greet" / "plan.md"
    path.write_text("# 计划\n\n" + "我们按照名字来问候每一个人并且保持简单" * 3 + "\n")
    assert "plan_artifact_language_plan" not in blockers(project, "build")


def test_the_approved_spec_may_not_change_during_planning(project):
    prepare(project, [planner()])
    plan(project)
    spec = project.own / "workflows" / "greet" / "spec.md"
    spec.write_text(spec.read_text().replace("- no dependency", "- no dependency at all"))
    found = blockers(project, "build")
    assert "spec.md: Constraints" in found["approval_void_plan"]["message"]
    ok(project, "approve", "greet", "--from", "clarify", "--to", "plan")
    assert blockers(project, "build") == {}


def test_planning_needs_an_approval_and_its_stage(project):
    prepare(project)
    ok(project, "clarify", "other", "--idea", "x")
    refused = refusal(project, "plan", "other")
    assert refused["error"] == "approved_transition_required"
    assert refused["blockers"][0]["code"] == "approval_missing_plan"
    assert refusal(project, "sign", "other", "VS-1")["error"] == "nothing_to_sign"


def test_a_check_that_passes_on_a_new_base_proves_nothing(project):
    prepare(project, [planner(), {"role": "builder", "run": BUILT}])
    project.at("approved")
    before = (project.root / "hello.py").read_text()
    project.write("hello.py", "def greet(name):\n    return f'hello {name}'\n")
    project.commit("another person did it meanwhile")
    refused = refusal(project, "build", "greet", "--agent", "scripted")
    assert refused["error"] == "plan_review_gate_blocked"
    assert [one["code"] for one in refused["blockers"]] == ["vacuous_check_VS-1-C1"]
    project.write("hello.py", before)  # not committed: a part of the base all the same
    done = ok(project, "build", "greet", "--agent", "scripted")
    assert "checks to run on the base: 1" in done.stdout
    assert blockers(project, "review") == {}


def test_in_interactive_mode_a_person_says_what_the_next_round_should_change(project):
    better = {**planner(plan="Shorter."), "expect": "A person says: make it shorter"}
    prepare(project, [planner(), better, planner(plan="Never asked for.")])
    direct = ("plan", "greet", "--direct", str(project.root.parent / "SPEC.md"), "--agent", "scripted")
    done = project.run(*direct, "--interactive", stdin=b"make it shorter\n\n")
    assert done.exit_code == 0, done.stderr
    assert "round 1 finished" in done.stdout
    assert "plan.md" in done.stdout
    assert "Shorter." in (project.own / "workflows" / "greet" / "plan.md").read_text()
    assert status(project)["cost"]["turns"] == 2
    again = project.run("plan", "greet", "--agent", "scripted", "--interactive", stdin=b"")
    assert again.exit_code == 0, "at the end of input the plan stays unchanged"
    assert project.run("plan", "greet", "--agent", "scripted", "--interactive", "--json").exit_code == 2
    assert project.run("plan", "greet", "--agent", "", "--interactive").exit_code == 2
