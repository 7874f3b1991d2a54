"""A build by hand: a person works in the given sandbox, hands in, and is judged like any builder."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.walks.mcp_talk import talking
from tests.walks.workflow_kit import BUILT, CHECK, ONLY_HELLO, SLICE, blockers, ok, plan, planner, prepare, refusal


@pytest.fixture(autouse=True)
def _nobody_stays(project):
    """Stop all loops after each test."""
    yield
    for one in project.run("loop", "list", "--json").json()["loops"]:
        project.run("loop", "stop", one["loop_id"])


def start(project):
    """Plan, approve and start a build by hand; returns the loop."""
    project.at("approved")
    return ok(project, "build", "greet", "--agent", "interactive", "--detach", "--json").json()["loop_id"]


@pytest.fixture
def loop_id(project):
    prepare(project, [planner()])
    return start(project)


def opened(project, name="greet"):
    return ok(project, "loop", "turn", name, "--wait", "--json").json()


def work(turn, script=BUILT):
    subprocess.run(["sh", "-c", script], cwd=turn["folder"], check=True)


def until(found):
    """Wait for a condition; returns its value."""
    while not (value := found()):
        time.sleep(0.05)
    return value


def shown(project, loop_id):
    return project.ask("loop", "show", loop_id)


def standing(project, loop_id, wanted):
    return until(lambda: (found := shown(project, loop_id))["status"] == wanted and found)


def passes(project, loop_id):
    """Whether the loop is done and its review has no blockers; the worker records that last."""
    standing(project, loop_id, "completed")
    return until(lambda: blockers(project, "review") == {})


def turns_of(project, loop_id):
    return project.own / "loops" / f"{loop_id}.progress" / "turns"


@pytest.mark.parametrize("isolation", ["none", pytest.param("auto", marks=pytest.mark.needs("bwrap"))])
def test_a_build_by_hand_is_judged_by_our_own_run(project, isolation):
    prepare(project, [planner()])
    project.environment["LOOPWRIGHT_SANDBOX_ISOLATION"] = isolation
    loop_id = start(project)
    turn = opened(project)
    assert (turn["role"], turn["loop_id"], turn["workflow"], turn["task_id"]) == ("builder", loop_id, "greet", "VS-1")
    assert turn["may_write"]
    assert turn["schema"] is None
    assert [check["id"] for check in turn["checks"]] == ["VS-1-C1"]
    assert turn["opened_at"] < turn["until"]
    assert turn["next"] == f"loopwright loop turn {loop_id} --done"
    assert "$LOOPWRIGHT" not in turn["prompt_text"], "a shell that we did not start has none of our variables"
    assert turn["context"] in turn["prompt_text"]
    assert f'"The current folder" means {turn["folder"]}:' in turn["prompt_text"]
    assert turn["context"].startswith(turn["mailbox"])
    said = ok(project, "loop", "turn", loop_id).stdout
    for fact in (turn["folder"], turn["prompt"], turn["self_report"], turn["decisions"], turn["until"], turn["next"]):
        assert fact in said
    assert f"loopwright loop turn {loop_id}" in ok(project, "loop", "show", loop_id).stdout
    work(turn)
    report = project.write("../report.json", '{"confidence": 0.7}')
    done = ok(project, "loop", "turn", "greet", "--done", "--answer", "-", "--report", str(report), "--json").json()
    assert done == {
        "loop_id": loop_id, "state": "handed_in", "held": False, "next": f"loopwright loop turn {loop_id} --wait",
    }  # fmt: skip
    assert passes(project, loop_id)
    (path,) = turns_of(project, loop_id).glob("*/turn.json")
    kept = json.loads(path.read_bytes())
    assert kept["agent"] == "interactive"
    assert kept["isolation"].startswith("none: done by hand")
    assert (kept["network"], kept["stop_reason"]) == ("open", "handed in")
    assert json.loads(next(turns_of(project, loop_id).glob("*/self-report.json")).read_bytes())["confidence"] == 0.7
    assert "handed in by " in ok(project, "loop", "logs", loop_id).stdout
    assert not Path(turn["folder"]).exists()
    over = refusal(project, "loop", "turn", "greet", "--wait")
    assert "all tasks are worked on" in over["message"]


def test_unfinished_work_fails_and_sealed_files_are_protected(project):
    """Nothing done comes back as the next task; a check whose script was made to say yes waits for a person."""
    check = {"id": "VS-1-C1", "command": "sh check.sh"}
    prepare(project, [planner(slices=[{**SLICE, "checks": [check]}])], settings=ONLY_HELLO)
    project.write("check.sh", CHECK)
    project.commit("its judge")
    loop_id = start(project)
    first = opened(project)
    subprocess.run(["sh", "-c", BUILT], cwd=project.root, check=True)  # in the checkout, where it counts for nothing
    ok(project, "loop", "turn", "greet", "--done", "--answer", str(project.write("../all.txt", "all is done")))
    again = opened(project)
    assert again["task_id"] != first["task_id"], "what the tool found is the next task"
    assert "VS-1-C1" in again["prompt_text"]
    said = [one["message"] for one in shown(project, loop_id)["skill_state"]["errors"]]
    assert any("your checkout changed" in one and "hello.py" in one for one in said), said
    work(again, "echo true > check.sh")
    ok(project, "loop", "turn", "greet", "--done")
    standing(project, loop_id, "paused")
    assert "sealed_file_changed_check.sh" in blockers(project, "review")


def test_giving_up_needs_a_reason_and_counts_as_a_try(project, loop_id):
    turn = opened(project)
    assert "needs a reason" in project.run("loop", "turn", "greet", "--give-up", " ").stderr
    both = project.run("loop", "turn", "greet", "--give-up", "x", "--done")
    assert (both.exit_code, "not both" in both.stderr) == (2, True)
    assert "need --done" in project.run("loop", "turn", "greet", "--answer", "-").stderr
    assert "more than 4000 characters" in project.run("loop", "turn", "greet", "--give-up", "x" * 5000).stderr
    work(turn)
    ok(project, "loop", "turn", "greet", "--give-up", "the API is not there")
    again = opened(project)
    assert not Path(turn["folder"]).exists() or again["folder"] == turn["folder"]
    assert "hello" not in (Path(again["folder"]) / "hello.py").read_text(), "half of a failed try is no work"
    assert again["kept"] == []
    errors = shown(project, loop_id)["skill_state"]["errors"]
    assert "refused: the API is not there" in errors[-1]["message"]


def test_a_refused_submission_is_reported_and_the_turn_stays_open(project, loop_id):
    turn = opened(project)
    file = project.root.parent / "said"
    for option, data, problem in (
        ("--answer", b"\xff\xfe", "is not UTF-8"),
        ("--answer", b"x" * (8 << 20), "more than 8,388,608 bytes"),
        ("--report", b'"' + b"x" * (1 << 20) + b'"', "more than 1,048,576 bytes"),
        ("--report", b"{", "is not JSON"),
    ):
        file.write_bytes(data)
        refused = project.run("loop", "turn", "greet", "--done", option, str(file))
        assert (refused.exit_code, problem in refused.stderr) == (2, True), refused.stderr
    bell = Path(turn["mailbox"]) / "bell"
    hidden = bell.rename(bell.with_name("away"))
    lost = project.run("loop", "turn", "greet", "--done")
    assert (lost.exit_code, "nothing was handed in" in lost.stderr) == (1, True)
    hidden.rename(bell)
    work(turn)
    ok(project, "loop", "turn", "greet", "--done")
    assert passes(project, loop_id)


def test_a_workflow_name_is_never_read_as_part_of_a_loop_id(project, loop_id):
    """A workflow may be called as ids begin."""
    opened(project)
    ok(project, "plan", "loop", "--direct", str(project.root.parent / "SPEC.md"), "--agent", "")
    found = refusal(project, "loop", "turn", "loop", "--give-up", "not this one")
    assert "loop has no build yet" in found["message"]
    assert opened(project)["loop_id"] == loop_id


def test_the_interactive_agent_cannot_review_and_sends_nothing_back(project):
    prepare(project, [planner(), {"role": "builder", "run": BUILT}], settings="[risk]\nthreshold = 0.0\n")
    project.at("in review")
    refused = project.run("review", "greet", "--reviewer", "interactive")
    assert (refused.exit_code, "the role reviewer needs another agent" in refused.stderr) == (1, True)
    assert project.ask("status", "greet")["stage"] == "review"
    assert "request-changes" not in (project.own / "workflows" / "greet" / "journal.ndjson").read_text()


def test_without_an_open_turn_the_reason_and_the_next_command_are_shown(project):
    prepare(project, [planner(), {"role": "builder", "run": BUILT}])
    loop_id = ok(project, "loop", "new", "a goal", "--task", "x", "--agent", "interactive", "--json").json()["loop_id"]
    found = refusal(project, "loop", "turn", loop_id, "--done")
    assert "is created" in found["message"]
    assert f"loopwright loop start {loop_id}" in found["next"]
    plan(project)
    found = refusal(project, "loop", "turn", "greet")
    assert "has no build yet" in found["message"]
    assert "loopwright build greet --agent interactive --detach" in found["next"]
    assert project.run("loop", "turn", "nothing-like-it").exit_code == 1
    # A person who works by hand has no way to find turns to plan, review or replan.
    said = project.run("loop", "turn", loop_id, env={"LANG": "zh_CN.UTF-8"}).stderr
    assert "没有开放的回合；循环的状态是 created" in said
    asked = project.run("plan", "other", "--direct", str(project.root.parent / "SPEC.md"), "--agent", "interactive")
    assert asked.exit_code != 0
    assert "only loops and builds support" in asked.stderr


def test_reports_by_mcp_reach_the_open_turn_of_the_session(project, loop_id):
    """A question holds the loop, and the turn stays open until it is answered."""
    turn = opened(project)
    with talking(project) as talk:
        said = talk.call("self_report", confidence=0.4, most_likely_wrong="empty names", surface="ui")
        assert said["path"] == turn["self_report"]
        talk.call("progress", text="half of it works")
        assert talk.call("request_decision", slug="greet", question="formal?")["status"] == "open"
        until(lambda: "held by decision" in ok(project, "loop", "turn", "greet").stdout)
        work(turn)
        # Work that is handed in during a hold counts once a person lifts the hold.
        assert "continues when the hold" in ok(project, "loop", "turn", "greet", "--done").stdout
        assert "is paused" in refusal(project, "loop", "turn", "greet", "--wait")["message"]
        ok(project, "loop", "answer", loop_id, "D-1", "no")
    ok(project, "loop", "resume", loop_id)
    assert passes(project, loop_id)
    assert json.loads(next(turns_of(project, loop_id).glob("*/self-report.json")).read_bytes())["confidence"] == 0.4
    assert "half of it works" in ok(project, "loop", "logs", loop_id).stdout


def test_a_structured_answer_is_requested_and_validated_like_any_agents_answer(project):
    prepare(project, [planner()])
    project.environment["REFLECTION_MODE"] = "solo"
    loop_id = start(project)
    before = opened(project)
    assert (before["role"], before["may_write"], before["task_id"]) == ("builder", False, "VS-1")
    assert json.loads(Path(before["schema"]).read_bytes())["properties"]["confidence"]
    assert before["next"].endswith("--done --answer FILE")
    missing = project.run("loop", "turn", "greet", "--done")
    assert (missing.exit_code, "is not JSON" in missing.stderr, before["schema"] in missing.stderr) == (2, True, True)
    ok(project, "loop", "turn", "greet", "--done", "--answer", str(project.write("../no.json", '{"confidence": "?"}')))
    again = opened(project)
    assert "confidence" in again["prompt_text"].removeprefix(before["prompt_text"]), "what was wrong is said"
    rating = {"confidence": 0.9, "most_likely_wrong": None, "known_not_in_diff": None}
    ok(project, "loop", "turn", "greet", "--done", "--answer", str(project.write("../yes.json", json.dumps(rating))))
    assert opened(project)["may_write"]
    points = [json.loads(path.read_text()) for path in (project.own / "reflections").glob("*.capture.json")]
    assert [(one["point"], one["reflection"]["confidence"]) for one in points] == [("before", 0.9)]
    assert loop_id in ok(project, "loop", "turn", "greet").stdout


def kept_work(project, turn):
    """Check that no clean-up removes the work of the turn; returns its folder."""
    folder = Path(turn["folder"])
    assert "hello {name}" in (folder / "hello.py").read_text()
    project.run("doctor", "--fix")
    ok(project, "gc")
    assert "hello {name}" in (folder / "hello.py").read_text()
    return str(folder)


def test_a_killed_worker_loses_no_work_by_hand(project, loop_id):
    turn = opened(project)
    work(turn)
    editor = subprocess.Popen(["sleep", "1000"], cwd=turn["folder"])
    said = ok(project, "loop", "show", loop_id).stdout
    os.kill(int(re.search(r"driven by process (\d+)", said)[1]), signal.SIGKILL)
    until(lambda: "no process drives" in project.run("loop", "turn", "greet").stderr)
    found = refusal(project, "loop", "turn", "greet", "--done")
    assert found["message"].endswith(f"earlier work is kept in {turn['folder']}")
    assert found["next"] == f"`loopwright loop start {loop_id} --detach` opens the next turn"
    assert turn["folder"] in ok(project, "doctor").stdout
    ok(project, "build", "greet", "--agent", "interactive", "--detach")
    again = opened(project)
    assert again["folder"] != turn["folder"]
    assert editor.poll() is None, "we never end a person's process"
    editor.kill()
    editor.wait()
    assert again["kept"] == [kept_work(project, turn)]
    assert turn["folder"] in shown(project, loop_id)["skill_state"]["errors"][-1]["message"]
    work(again, f"cp {turn['folder']}/hello.py hello.py")
    ok(project, "loop", "turn", "greet", "--done")
    assert passes(project, loop_id)
    ok(project, "gc")
    assert not Path(turn["folder"]).exists(), "its loop is done, and a person asked to clean up"


def test_a_pause_leaves_the_turn_open_and_a_stop_leaves_the_work(project):
    prepare(project, [planner()], settings="[loop]\nfreeze_s = 0\n")
    loop_id = start(project)
    turn = opened(project)
    work(turn)
    ok(project, "loop", "pause", loop_id)
    held = until(lambda: (found := ok(project, "loop", "turn", loop_id, "--json").json())["state"] == "held" and found)
    assert held["folder"] == turn["folder"]
    assert "held by operator" in held["holds"][0]
    assert "held by operator" in ok(project, "loop", "turn", loop_id).stdout
    ok(project, "loop", "resume", loop_id)
    assert opened(project)["state"] == "open"
    ok(project, "loop", "stop", loop_id)
    found = until(lambda: turn["folder"] in (done := project.run("loop", "turn", "greet")).stderr and done)
    assert "is failed" in found.stderr
    kept_work(project, turn)
    assert turn["folder"] in shown(project, loop_id)["skill_state"]["errors"][-1]["message"]


def test_work_that_contains_a_secret_stays_in_its_folder(project, loop_id):
    turn = opened(project)
    work(turn, f"{BUILT}; echo 'token = \"ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\"' > settings.py")
    ok(project, "loop", "turn", "greet", "--done")
    held = standing(project, loop_id, "paused")
    assert held["loopwright"]["holds"][0]["code"] == "secret_leak"
    assert f"work is kept in {kept_work(project, turn)}" in until(
        lambda: (said := project.run("loop", "turn", "greet").stderr) and "kept" in said and said
    )


def test_a_turn_that_is_not_taken_ends_at_its_limit_and_leaves_nothing(project):
    prepare(project, [planner()], settings='[agents.me]\nkind = "interactive"\ntimeout_s = 1\n')
    project.at("approved")
    held = project.run("build", "greet", "--agent", "me")
    assert held.exit_code == 11, held.stdout + held.stderr
    assert "the turn was not handed in within 1 s" in held.stdout
    assert [path for path in project.sandboxes.iterdir() if not path.name.startswith(".")] == []


def test_during_a_build_status_does_not_ask_to_build(project, loop_id):
    """Every command that is named can be typed: a second build would be refused."""
    opened(project)
    assert project.ask("status", "greet")["recommended_next_action"] == f"loopwright loop turn {loop_id}"
    watch = f"loopwright loop watch {loop_id}"
    assert f"→ {watch}" in ok(project, "status").stdout
    assert f"→ {watch}" in ok(project, "next").stdout
    ok(project, *watch.split()[1:], "--no-follow")
    ok(project, "loop", "pause", loop_id)
    for said in (ok(project, "next").stdout, ok(project, "status", "greet").stdout):
        assert f"→ loopwright loop resume {loop_id}" in said
    ok(project, "loop", "resume", loop_id)
    assert f"→ {watch}" in ok(project, "next").stdout
