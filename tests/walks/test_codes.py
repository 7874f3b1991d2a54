"""Reasons why not that no other walk meets on its way: each provoked as a person would, by the command line."""

from __future__ import annotations

import json
import shutil

import pytest
from tests.walks.workflow_kit import (
    BUILT,
    blockers,
    build_it,
    ok,
    plan,
    planner,
    prepare,
    refusal,
    status,
)

from loopwright.kernel.digest import sha256

SPEC = "workflows/greet/spec.md"
CHANGE = "changes/active/chg-greet"
FULL = '[workflow]\nprofile = "full"\n'


def emptied(project, name):
    """A document of which nothing but headings is left."""
    path = project.own / name
    lines = path.read_text().splitlines()
    path.write_text("\n".join(line for line in lines if line.startswith(("#", "---", "composed", "slug"))) + "\n")


def without(project, section):
    """The spec with a section that says nothing."""
    path = project.own / SPEC
    before, after = (path.read_text() + "\n## End\n").split(f"## {section}\n", 1)
    path.write_text(f"{before}## {section}\n\n{after[after.index('## ') :]}")


def gone_for_good(project, *names):
    """Documents that are gone with every version that was kept of them."""
    objects = project.own / "workflows" / "greet" / "objects"
    for name in names:
        path = project.own / name
        for file in [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]:
            (objects / sha256(file.read_bytes())).unlink(missing_ok=True)
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


@pytest.mark.parametrize(
    ("damage", "codes"),
    [
        (lambda project: without(project, "Testable Acceptance Criteria"), {"acceptance_criteria_unresolved"}),
        (lambda project: without(project, "Execution Inputs"), {"execution_inputs_unresolved"}),
        (
            lambda project: emptied(project, "workflows/greet/test-plan.md"),
            {"verification_steps_unresolved", "missing_plan_artifact_test_plan", "plan_package_incomplete"},
        ),
        (lambda project: emptied(project, "plans/prd-greet.md"), {"missing_prd"}),
        (lambda project: emptied(project, "plans/test-spec-greet.md"), {"missing_test_spec"}),
        (lambda project: gone_for_good(project, f"{CHANGE}/slices.json"), {"vertical_slices_missing"}),
        (lambda project: gone_for_good(project, CHANGE), {"missing_change_artifacts", "vertical_slices_missing"}),
        (lambda project: gone_for_good(project, f"{CHANGE}/specs"), {"spec_delta_empty"}),
    ],
    ids=["criteria", "inputs", "steps", "prd", "test-spec", "slices", "change", "delta"],
)
def test_an_incomplete_plan_names_its_missing_parts(project, damage, codes):
    prepare(project, [planner()])
    plan(project)
    damage(project)
    found = blockers(project, "build")
    assert codes <= set(found)
    assert all(one["message"] and one["next"] for one in found.values())
    refused = refusal(project, "approve", "greet", "--from", "plan", "--to", "build")
    assert refused["error"] in {"plan_package_incomplete", "plan_review_gate_blocked"}


def test_a_round_that_no_agent_could_take_is_still_required(project):
    prepare(project, [{"role": "clarifier", "answer": "no JSON"}, {"role": "clarifier", "answer": "again none"}])
    refused = project.run("clarify", "greet", "--idea", "an idea", "--agent", "scripted", "--json")
    assert refused.exit_code == 1
    assert "clarify_current_round_required" in blockers(project, "plan")


def test_rounds_are_limited_and_a_deeper_profile_has_more_rounds(project):
    asks = {"role": "clarifier", "answer": json.dumps({"question": "what else?", "ambiguity": 0.9})}
    prepare(project, [asks] * 17)
    answers = "".join(f"this and {3 * chr(97 + n)} {3 * chr(98 + n)}\n" for n in range(20)).encode()
    done = project.run("clarify", "greet", "--idea", "i", "--agent", "scripted", "--interactive", stdin=answers)
    assert done.exit_code == 1
    assert "the limit of 15 rounds of the profile standard is reached" in done.stderr
    found = blockers(project, "plan")
    assert next(iter(found)) == "clarify_max_rounds_exceeded"
    assert (
        ok(project, "clarify", "greet", "--profile", "deep", "--agent", "scripted", "--json").json()["item"] == "A-16"
    )


def test_a_switch_to_the_full_profile_names_its_missing_parts(project):
    prepare(project, [planner(), {"role": "builder", "run": BUILT}])
    build_it(project)
    config = project.own / "config.toml"
    config.write_text(config.read_text() + FULL)
    assert {"lane_incomplete_architect", "lane_incomplete_deslop", "lane_incomplete_regression"} <= set(
        blockers(project, "review")
    )
    assert {"architect_review_incomplete", "critic_verdict_missing"} <= set(blockers(project, "build"))


def test_a_build_without_a_plan_or_with_a_missing_agent_is_refused(project):
    prepare(project, [{"role": "planner", "answer": "no JSON"}, {"role": "planner", "answer": "none"}])
    done = project.run("plan", "greet", "--direct", str(project.root.parent / "SPEC.md"), "--agent", "scripted")
    assert done.exit_code == 1
    refused = refusal(project, "build", "greet", "--agent", "scripted")
    assert refused["error"] == "build_requires_workflow_plan_artifacts"
    assert "plan_package_missing" in {one["code"] for one in refused["blockers"]}
    project.write(
        ".loopwright/turns.yaml",
        json.dumps({"turns": [planner(), planner(), planner(), {"role": "builder", "fail": "agent_missing"}]}),
    )
    ok(project, "plan", "greet", "--agent", "scripted")
    ok(project, "approve", "greet", "--from", "plan", "--to", "build")
    assert project.run("build", "greet", "--agent", "scripted").exit_code != 0
    assert status(project)["stage"] == "build"
    assert {"lane_incomplete_execution", "lane_incomplete_verification", "completion_audit_not_run"} <= set(
        blockers(project, "review")
    )
