"""`loopwright autopilot`: as far as the policy goes, stamped as its own, and no step further."""

from __future__ import annotations

import pytest
from tests.walks.workflow_kit import BUILT, ok, planner, prepare, refusal, state, status

from loopwright.verbs.person import AGENT_MARK

BUILDS = {"role": "builder", "run": BUILT}


def begun(project, *turns, settings=""):
    """A workflow whose spec a person brought, at the very beginning."""
    prepare(project, [planner(), *(turns or (BUILDS,))], settings=settings)
    ok(project, "plan", "greet", "--direct", str(project.root.parent / "SPEC.md"), "--agent", "")


def test_to_the_end_of_what_the_policy_allows_then_a_person(project):
    begun(project)
    stopped = refusal(project, "autopilot", "greet", "--agent", "scripted")
    assert (stopped["error"], "may_approve does not cover 'complete'" in stopped["message"]) == (
        "autopilot_phase_blocked", True
    )  # fmt: skip
    found = state(project)
    assert found["current_stage"] == "review"
    assert {found["approval"][key]["by"] for key in ("build", "review")} == {"autopilot"}
    ok(project, "approve", "greet", "--from", "review", "--to", "done")
    assert "hello {name}" in (project.root / "hello.py").read_text()


def test_all_the_way_when_the_policy_covers_it(project):
    begun(project, settings='[autopilot]\nmay_approve = ["plan", "build", "review", "complete"]\n')
    ok(project, "autopilot", "greet", "--agent", "scripted")
    assert status(project)["stage"] == "done"
    assert state(project)["approval"]["complete"]["by"] == "autopilot"
    assert "hello {name}" in (project.root / "hello.py").read_text()


def test_it_does_not_answer_for_a_person(project):
    prepare(project, [planner(), BUILDS])
    ok(project, "clarify", "greet", "--idea", "greet people")
    stopped = refusal(project, "autopilot", "greet", "--agent", "")
    assert stopped["error"] == "agent_missing"
    stopped = refusal(project, "autopilot", "greet", "--agent", "scripted")
    assert stopped["error"] == "autopilot_requires_resolved_spec"
    assert stopped["blockers"][0]["code"] == "unresolved_ambiguity"


@pytest.mark.parametrize(
    ("turns", "settings", "error", "words"),
    [
        (({"role": "builder", "run": "true"},) * 9, "", "autopilot_phase_blocked", "the build stopped"),
        ((BUILDS,), "[risk]\nthreshold = 0.0\n", "autopilot_review_failed", "asks for changes"),
        ((BUILDS,), '[autopilot]\nmay_approve = ["plan"]\n', "autopilot_phase_blocked", "'build'"),
    ],
)
def test_it_stops_at_the_first_thing_that_needs_a_person(project, turns, settings, error, words):
    begun(project, *turns, settings=settings)
    stopped = refusal(project, "autopilot", "greet", "--agent", "scripted")
    assert (stopped["error"], words in stopped["message"]) == (error, True), stopped
    assert "return 'hi'" in (project.root / "hello.py").read_text()


def test_an_agent_can_not_start_it_for_itself(project):
    begun(project)
    done = project.run("autopilot", "greet", "--agent", "scripted", env={AGENT_MARK: "1"})
    assert (done.exit_code, "a person's decision" in done.stderr) == (1, True)
