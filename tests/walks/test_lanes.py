"""The profile `full` in a build, and the stop gate of its agent: none of them opens a gate by its word."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from msgspec.structs import replace
from tests.hooks.conftest import HOOK
from tests.walks.workflow_kit import BUILT, CHECK, SLICE, blockers, ok, planner, prepare, refusal, status

from loopwright.loop.model import Failed, Held, Loop, Running
from loopwright.stages.building.briefing import StopGate
from loopwright.wiring.build import build_context
from loopwright.workflow.slices import Check
from loopwright.workspace.stop_gate import read_gate

FULL = '[workflow]\nprofile = "full"\n'
YES = {"role": "architect", "answer": '{"verdict": "approve", "notes": "fine"}', "usd": 0.25, "tokens": 10}
NO = {"role": "architect", "answer": '{"verdict": "iterate", "notes": "say it politely"}', "usd": 0.25, "tokens": 10}
CRITIC = {"role": "critic", "answer": '{"verdict": "approve"}'}
PROSE = {"role": "architect", "answer": "Looks good to me!"}
LGTM = {"role": "architect", "answer": '{"verdict": "lgtm"}'}
BUILDS = {"role": "builder", "run": BUILT, "usd": 0.5, "tokens": 100}
MENDS = {"role": "builder", "expect": "say it politely", "run": "echo polite > manners"}
TIDIES = {"role": "builder", "expect": "Tidy up your work", "run": "echo '# tidy' >> hello.py"}
BREAKS = {"role": "builder", "expect": "Tidy up your work", "run": "rm hello.py"}


def approved(project, *turns, settings=FULL):
    """Planned, with an architect's and a critic's consent, and approved by a person."""
    prepare(project, [planner(), YES, CRITIC, *turns], settings=settings)
    project.at("approved")


def build(project, *arguments, code=0):
    done = project.run("build", "greet", "--agent", "scripted", *arguments)
    assert done.exit_code == code, done.stdout + done.stderr
    return done


def lanes(project):
    """What the tool recorded of the last iteration."""
    events = [
        event
        for line in (project.own / "workflows" / "greet" / "journal.ndjson").read_text().splitlines()
        for event in json.loads(line)["events"]
        if event["kind"] == "build.lane"
    ]
    start = max(number for number, event in enumerate(events) if event["lane"] == "execution")
    return {event["lane"]: event["status"] for event in events[start:]}


def support(project, name):
    return (project.own / "workflows" / "greet" / "build-support" / name).read_text()


def patch(project):
    return next((project.own / "loops").glob("*.progress/changes.patch")).read_text()


def test_an_objection_is_the_next_task_and_a_tidy_up_that_breaks_checks_is_dropped(project):
    approved(project, NO, YES, BUILDS, MENDS, BREAKS)
    done = build(project)
    assert "the tried changes failed" in done.stdout
    assert lanes(project) == {
        "execution": "completed", "verification": "passed", "evidence": "collected", "architect": "approve",
        "deslop": "dropped", "regression": "passed",
    }  # fmt: skip
    assert blockers(project, "review") == {}
    assert "hello {name}" in patch(project)
    assert "+polite" in patch(project)
    assert "- architect: iterate" in support(project, "iteration-1.md")
    assert "say it politely" in support(project, "iteration-1-architect.md")
    assert "- regression: passed" in support(project, "iteration-2.md")
    roles = status(project)["cost"]["roles"]
    assert (roles["architect"]["turns"], roles["architect"]["usd"], roles["builder"]["turns"]) == (3, 0.75, 3)
    assert roles["builder"]["wall_s"] > 0
    assert "architect: 0.75 USD" in ok(project, "status", "greet").stdout
    assert project.run("verify").exit_code == 0
    assert list(project.sandboxes.iterdir()) == []


def test_the_reviewed_work_was_checked_after_its_last_change(project):
    approved(project, YES, BUILDS, TIDIES)
    build(project)
    assert (lanes(project)["deslop"], lanes(project)["regression"]) == ("done", "passed")
    assert "# tidy" in patch(project)
    runs = [project.evidence(path.name) for path in (project.own / "runs").iterdir()]
    trees = [run["base"]["tree"] for run in runs if run.get("loop_id")]
    assert len(set(trees)) == 2, "before and after"
    audit = json.loads(support(project, "completion-audit.json"))
    assert audit["checklist"][0]["evidence"][0].split()[-1] in {tree[:12] for tree in trees}
    assert blockers(project, "review") == {}


def test_a_disabled_tidy_up_does_not_run_and_is_recorded_as_skipped(project):
    approved(project, YES, BUILDS)
    build(project, "--no-deslop")
    assert (lanes(project)["deslop"], lanes(project)["regression"]) == ("skipped", "skipped")
    assert blockers(project, "review") == {}


@pytest.mark.parametrize(
    ("turns", "code", "words"),
    [
        ((PROSE, LGTM, BUILDS), "architect_invalid_answer", "lgtm"),
        (({"role": "architect", "fail": "crashed"}, BUILDS), "architect_crashed", "as written"),
        ((YES, BUILDS, {"role": "builder", "fail": "refused"}), "deslop_refused", "as written"),
    ],
)
def test_an_agent_that_fails_in_a_lane_has_approved_nothing(project, turns, code, words):
    approved(project, *turns, YES, TIDIES)
    done = build(project, code=11)
    assert words in done.stdout
    found = blockers(project, "review")
    assert code in found
    assert "lane_incomplete_regression" in found
    assert refusal(project, "approve", "greet", "--from", "build", "--to", "review")["error"] == (
        "build_review_gate_blocked"
    )
    assert found[code]["next"] == "loopwright build greet"
    build(project)
    assert blockers(project, "review") == {}, "the same command again repeats the lane, and no more than that"


def test_an_architect_with_an_invalid_answer_is_asked_once_more(project):
    approved(project, PROSE, YES, BUILDS, TIDIES)
    build(project)
    assert lanes(project)["architect"] == "approve"
    assert blockers(project, "review") == {}
    assert status(project)["cost"]["roles"]["architect"]["turns"] == 3, "one looked at the plan"


def test_a_builder_that_only_refuses_is_limited_and_a_hung_builder_is_not_asked_again(project):
    approved(project, *[{"role": "builder", "fail": "refused"}] * 40, settings="")
    build(project, code=11)
    assert status(project)["cost"]["roles"]["builder"]["turns"] == 3
    turns = (project.own / "turns.yaml").read_text()
    (project.own / "turns.yaml").write_text(turns.replace("fail: refused", "fail: hung"))
    before = status(project)["cost"]["turns"]
    done = build(project, code=11)
    assert "the lane execution is not complete: the agent scripted: hung" in done.stdout
    assert status(project)["cost"]["turns"] == before + 1
    (project.own / "turns.yaml").write_text(turns.replace("fail: refused", f"run: {json.dumps(BUILT)}"))
    build(project)
    assert blockers(project, "review") == {}, "what failed is tried again by who types it again"


def test_an_open_objection_of_the_architect_keeps_the_gate_closed(project):
    approved(project, *[NO] * 9, BUILDS, *[{"role": "builder", "run": "true"}] * 9)
    build(project, code=11)
    assert "architect_iterate" in blockers(project, "review")


def test_a_used_budget_holds_a_lane_and_a_larger_budget_continues_it(project):
    approved(project, YES, BUILDS, TIDIES, settings=FULL + "[budget]\nturns = 2\n")
    build(project, code=11)
    assert lanes(project).get("architect") == "approve"
    assert {"lane_incomplete_deslop", "lane_incomplete_regression"} <= set(blockers(project, "review"))
    loop_id = next(path.name.removesuffix(".json") for path in (project.own / "loops").glob("loop-*.json"))
    assert project.run("loop", "resume", loop_id, "--turns", "5").exit_code == 0
    assert blockers(project, "review") == {}


def test_a_lean_build_continues_after_a_change_of_the_profile(project):
    approved(project, YES, BUILDS, TIDIES, settings="")
    build(project)
    assert blockers(project, "review") == {}
    assert status(project)["cost"]["roles"].keys() == {"planner", "builder"}, "lean: one call for an iteration"
    project.write(".loopwright/config.toml", (project.own / "config.toml").read_text() + FULL)
    found = blockers(project, "review")
    assert [name for name in found if name.startswith("lane_incomplete_")] == [
        "lane_incomplete_architect", "lane_incomplete_deslop", "lane_incomplete_regression"
    ]  # fmt: skip
    build(project)
    assert blockers(project, "review") == {}


def in_background(project):
    return subprocess.Popen(
        [sys.executable, "-m", "loopwright", "build", "greet", "--agent", "scripted"],
        cwd=project.root, env={**os.environ, **project.environment}, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip


def test_a_broken_tidy_up_blocks_until_the_earlier_work_is_checked_again(project, tmp_path):
    pid, journal = tmp_path / "pid", project.own / "workflows" / "greet" / "journal.ndjson"
    dies = f"grep -q '\"dropped\"' {journal} && kill -9 $(cat {pid}) 2>/dev/null; {CHECK}"
    prepare(
        project,
        [planner(slices=[{**SLICE, "checks": [{"id": "C", "command": dies}]}]), YES, CRITIC, YES, BUILDS, BREAKS],
        settings=FULL,
    )
    project.at("approved")
    worker = in_background(project)
    pid.write_text(str(worker.pid))
    assert worker.wait() == -signal.SIGKILL
    found = blockers(project, "review")
    assert {"regression_failed", "verification_failed"} <= set(found)
    pid.write_text("none")
    build(project)
    assert (lanes(project)["deslop"], lanes(project)["regression"]) == ("dropped", "passed")
    assert blockers(project, "review") == {}


def test_a_kill_in_a_lane_repeats_that_lane_and_loses_nothing(project, tmp_path):
    there, go = tmp_path / "there", tmp_path / "go"
    waits = f"touch {there}; test -e {go} || sleep 60"
    looks = {**YES, "run": waits, "usage": '{"usd": 0.125}\n'}
    approved(project, looks, BUILDS, TIDIES)
    worker = in_background(project)
    while not there.exists():
        assert worker.poll() is None
        time.sleep(0.02)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    go.touch()
    build(project)
    assert blockers(project, "review") == {}
    roles = status(project)["cost"]["roles"]
    assert roles["builder"]["turns"] == 2, "what was built is not built again"
    assert (roles["architect"]["turns"], roles["architect"]["usd"]) == (3, 0.625), "the turn that died is paid for"


PAYLOAD = '{"session_id": "s1", "hook_event_name": "Stop", "stop_hook_active": false}'
ENDS = f"echo '{PAYLOAD}' | {sys.executable} -I -S {HOOK} gate >> "


def said(text):
    return [json.loads(line) for line in text.splitlines()]


def test_an_agent_that_ends_its_turn_is_asked_once_to_check_again(project, tmp_path):
    out = tmp_path / "said"
    works = {"role": "builder", "run": f"{ENDS}{out}; {BUILT}; {ENDS}{out}"}
    approved(project, works, settings="")
    build(project)
    (one,) = said(out.read_text())
    assert (one["decision"], CHECK in one["reason"]) == ("block", True)
    assert blockers(project, "review") == {}


@pytest.mark.parametrize("settings", ["[workflow]\ngate_blocks = 0\n", ""])
def test_the_stop_gate_is_silent_if_disabled_or_if_the_agent_asks_a_person(project, tmp_path, settings):
    out = tmp_path / "said"
    asks = 'echo \'{"question": "formal?"}\' > $LOOPWRIGHT_DECISIONS/one.json; '
    approved(project, {"role": "builder", "run": f"{'' if settings else asks}{BUILT}; {ENDS}{out}"}, settings=settings)
    build(project, code=0 if settings else 11)
    assert said(out.read_text()) == []


def test_a_pause_opens_the_stop_gate_and_a_resume_closes_it_again(project, tmp_path):
    context = build_context(project.root, {}, environment={**os.environ, **project.environment})
    gate = StopGate(context, "greet")
    running = Loop(
        loop_id="l", title="t", description="d", max_iterations=3, created_at="", updated_at="", phase=Running(),
        revision=1,
    )  # fmt: skip
    gate.shut(running, tmp_path, (Check(id="C", command="make test"),))
    phases = []
    for phase in (Held(holds=()), Running(), Failed(at="", code="stopped", reason="by ann")):
        gate.follow(replace(running, phase=phase))
        phases.append(read_gate((tmp_path / "gate.json").read_bytes()).phase)
    assert phases == ["blocked", "executing", "blocked"]
