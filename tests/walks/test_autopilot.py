"""`loopwright autopilot`: as far as the policy goes, stamped as its own, and no step further."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from tests.walks.workflow_kit import BUILT, ok, planner, prepare, refusal, state, status

from loopwright.stages.person import AGENT_MARK

BUILDS = {"role": "builder", "run": BUILT}


def begun(project, *turns, settings=""):
    """A new workflow with a person's spec."""
    prepare(project, [planner(), *(turns or (BUILDS,))], settings=settings)
    ok(project, "plan", "greet", "--direct", str(project.root.parent / "SPEC.md"), "--agent", "")


def test_autopilot_stops_at_the_end_of_its_policy_and_waits_for_a_person(project):
    begun(project)
    stopped = refusal(project, "autopilot", "greet", "--agent", "scripted")
    assert (stopped["error"], "may_approve lacks 'complete'" in stopped["message"]) == (
        "autopilot_phase_blocked", True
    )  # fmt: skip
    found = state(project)
    assert found["current_stage"] == "review"
    assert {found["approval"][key]["by"] for key in ("build", "review")} == {"autopilot"}
    ok(project, "approve", "greet", "--from", "review", "--to", "done")
    assert "hello {name}" in (project.root / "hello.py").read_text()


def test_autopilot_finishes_the_workflow_if_the_policy_covers_every_stage(project):
    begun(project, settings='[autopilot]\nmay_approve = ["plan", "build", "review", "complete"]\n')
    ok(project, "autopilot", "greet", "--agent", "scripted")
    assert status(project)["stage"] == "done"
    assert state(project)["approval"]["complete"]["by"] == "autopilot"
    assert "hello {name}" in (project.root / "hello.py").read_text()


def test_autopilot_does_not_approve_code_that_could_deceive_a_check(project):
    begun(project, {**BUILDS, "run": f"{BUILT}; echo 'LIMIT = eval(\"1\")' >> hello.py"})
    stopped = refusal(project, "autopilot", "greet", "--agent", "scripted")
    assert [one["code"] for one in stopped["blockers"]] == ["flagged"]
    assert "hello.py, line" in stopped["blockers"][0]["message"]
    assert status(project)["stage"] == "build"
    ok(project, "approve", "greet", "--from", "build", "--to", "review")


def test_autopilot_does_not_answer_for_a_person(project):
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
        ((BUILDS,), "[risk]\nthreshold = 0.0\n", "autopilot_review_failed", "changes requested by"),
        ((BUILDS,), '[autopilot]\nmay_approve = ["plan"]\n', "autopilot_phase_blocked", "'build'"),
    ],
)
def test_autopilot_stops_at_the_first_thing_that_needs_a_person(project, turns, settings, error, words):
    begun(project, *turns, settings=settings)
    stopped = refusal(project, "autopilot", "greet", "--agent", "scripted")
    assert (stopped["error"], words in stopped["message"]) == (error, True), stopped
    assert "return 'hi'" in (project.root / "hello.py").read_text()


def test_an_agent_cannot_start_autopilot_for_itself(project):
    begun(project)
    done = project.run("autopilot", "greet", "--agent", "scripted", env={AGENT_MARK: "1"})
    assert (done.exit_code, "is for people only" in done.stderr) == (1, True)


CLAIMS = {"role": "builder", "run": "true", "usd": 0.75, "tokens": 50}
DEAR = {**planner(), "usd": 0.75, "tokens": 50}
FIX_IT = {**BUILDS, "usd": 0.75, "tokens": 50}
ALL = '[autopilot]\nmay_approve = ["plan", "build", "review", "complete"]\n'


def begun_with(project, *turns, settings=ALL):
    prepare(project, turns, settings=settings)
    ok(project, "plan", "greet", "--direct", str(project.root.parent / "SPEC.md"), "--agent", "")


def autopilot(project, *arguments):
    return refusal(project, "autopilot", "greet", "--agent", "scripted", *arguments)


def control_events(project):
    lines = (project.own / "workflows" / "greet" / "journal.ndjson").read_text().splitlines()
    events = [event for line in lines for event in json.loads(line)["events"]]
    return [(one["kind"], one.get("phase") or one.get("reason")) for one in events if "autopilot" in one["kind"]]


@pytest.mark.parametrize(
    ("limit", "code", "turns"),
    [
        # The budget covers the plan and the first try of the build; the second try does not begin.
        (("--usd", "1"), "budget_usd", 2),
        (("--tokens", "75"), "budget_tokens", 2),
        # The plan alone used it up.
        (("--turns", "1"), "budget_turns", 1),
        (("--usd", "0.5"), "budget_usd", 1),
    ],
)
def test_one_budget_covers_all_stages(project, limit, code, turns):
    begun_with(project, DEAR, CLAIMS, FIX_IT)
    stopped = autopilot(project, *limit)
    assert (stopped["error"], stopped["blockers"][0]["code"]) == ("autopilot_phase_blocked", code), stopped
    found = status(project)["autopilot"]
    assert (found["status"], found["phase"], found["reason"]) == ("stopped", "build", "autopilot_phase_blocked")
    assert found["limits"][code.removeprefix("budget_")] == float(limit[1])
    assert found["used"]["turns"] == turns
    assert autopilot(project, *limit)["blockers"][0]["code"] == code, "typed again it has no other purse"
    assert status(project)["autopilot"]["used"]["turns"] == turns
    ok(project, "autopilot", "greet", "--agent", "scripted", limit[0], "5000")
    found = status(project)["autopilot"]
    assert (found["status"], found["used"]["turns"], found["used"]["usd"]) == ("done", 3, 2.25)
    assert "autopilot: done at" in ok(project, "status", "greet").stdout
    kinds = control_events(project)
    assert [kind for kind, _ in kinds].count("autopilot.begun") == 3
    assert kinds[-1] == ("autopilot.ended", "done")
    assert ("autopilot.phase", "build") in kinds
    assert ("autopilot.phase", "review") in kinds


def test_a_call_that_exceeds_the_budget_is_ended_while_it_runs(project):
    spends = "echo '{\"usd\": 2.0}' >> $LOOPWRIGHT_USAGE; sleep 100"
    begun_with(project, {**planner(), "run": spends}, planner(), BUILDS)
    stopped = autopilot(project, "--usd", "1")
    assert stopped["blockers"][0]["code"] == "budget_usd"
    found = status(project)
    assert (found["stage"], found["autopilot"]["phase"], found["cost"]["usd"]) == ("plan", "plan", 2.0)
    assert found["cost"]["roles"]["planner"]["usd"] == 2.0, "what a turn said while it worked is paid for"


def test_the_iterations_of_a_build_are_limited_in_total(project):
    begun_with(project, planner(), *[{"role": "builder", "run": "date +%N > noise"}] * 4, BUILDS)
    for _ in range(2):
        assert autopilot(project, "--max-iterations", "1")["blockers"][0]["code"] == "budget_iterations"
    ok(project, "autopilot", "greet", "--agent", "scripted", "--max-iterations", "9")
    assert status(project)["stage"] == "done"


def test_clarifying_counts_against_the_same_budget(project):
    asks = {"role": "clarifier", "answer": '{"question": null}', "usd": 2.0}
    prepare(project, [asks, asks])
    ok(project, "clarify", "greet", "--idea", "greet people", "--agent", "")
    ok(project, "answer", "greet", "A-1", "politely")
    stopped = refusal(project, "autopilot", "greet", "--agent", "scripted", "--usd", "1")
    assert stopped["error"] == "autopilot_requires_resolved_spec"
    ok(project, "answer", "greet", "A-2", "the greeting")
    stopped = refusal(project, "autopilot", "greet", "--agent", "scripted", "--usd", "1")
    assert (stopped["error"], stopped["blockers"][0]["code"]) == ("autopilot_phase_blocked", "budget_usd")
    assert status(project)["cost"]["turns"] == 1


def test_a_second_autopilot_waits_and_a_dead_autopilot_is_reported_and_continued(project, tmp_path):
    there, go = tmp_path / "there", tmp_path / "go"
    waits = {**BUILDS, "run": f"touch {there}; test -e {go} || sleep 100; {BUILT}"}
    begun_with(project, planner(), waits)
    first = subprocess.Popen(
        [sys.executable, "-m", "loopwright", "autopilot", "greet", "--agent", "scripted"], cwd=project.root,
        env={**os.environ, **project.environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    while not there.exists():
        assert first.poll() is None
        time.sleep(0.02)
    assert status(project)["autopilot"]["status"] == "flying"
    assert "another autopilot" in autopilot(project)["message"]
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert status(project)["autopilot"]["status"] == "interrupted"
    go.touch()
    ok(project, "autopilot", "greet", "--agent", "scripted")
    found = status(project)
    assert (found["stage"], found["autopilot"]["status"]) == ("done", "done")


def test_a_question_of_an_agent_stops_autopilot_and_the_answer_continues_it(project):
    asks = 'echo \'{"question": "formal?"}\' > $LOOPWRIGHT_DECISIONS/one.json'
    begun_with(project, planner(), {"role": "builder", "run": asks}, BUILDS)
    for _ in range(2):
        stopped = autopilot(project)
        assert stopped["error"] == "autopilot_phase_blocked"
        assert stopped["next"] == 'loopwright answer greet D-1 "…"'
    ok(project, "answer", "greet", "D-1", "no")
    ok(project, "autopilot", "greet", "--agent", "scripted")
    assert status(project)["stage"] == "done"
