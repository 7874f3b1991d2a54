"""What other tools read of a loop: a task is `completed` only if Loopwright proved it or a person took it."""

from __future__ import annotations

import json

import pytest
from tests.walks.workflow_kit import BUILT, ONLY_HELLO, SLICE, ok, planner, prepare

NOTHING_FAILED = [{**SLICE, "checks": [{"id": "V", "command": "true", "regression": True}]}]


def words(project, loop_id):
    """The word for the loop, for each task in its file and in the task list, and how many are done."""
    folder = project.own / "loops"
    document = json.loads((folder / f"{loop_id}.json").read_text())
    lines = [json.loads(line) for line in (folder / f"{loop_id}.tasks.jsonl").read_text().splitlines()]
    develop = document["skill_state"]["develop"]
    assert [task["status"] for task in develop["tasks"]] == [line["status"] for line in lines]
    assert all(bool(line["completed_at"]) == (line["status"] == "completed") for line in lines)
    listed = {line["loop_id"]: line["status"] for line in project.ask("loop", "list")["loops"]}
    assert listed[loop_id] == document["status"] == project.ask("loop", "show", loop_id)["status"]
    return document["status"], [line["status"] for line in lines], develop["completed"]


@pytest.mark.parametrize(
    ("turns", "loop", "more", "code", "status"),
    [
        ([{"role": "builder", "run": "true"}], {}, ("--max-iterations", "2"), 12, "failed"),
        ([{"role": "builder", "run": "echo x > other"}], {}, (), 11, "paused"),
    ],
)
def test_an_agents_word_completes_no_task(loops, turns, loop, more, code, status):
    loops.configure(turns, loop=loop)
    loop_id = loops.new("--task", "make it done", *more)
    loops.run("start", loop_id, code=code)
    assert words(loops.project, loop_id) == (status, ["in_progress"], 0)
    assert loops.shown(loop_id)["progress"] == {"develop": 0.0, "overall": 0.0}
    loops.run("check", loop_id)


def test_a_restored_loop_does_not_repeat_work_and_another_tools_note_changes_no_task(loops):
    loops.configure([{"role": "builder", "run": "echo x > other"}])
    loop_id = loops.new("--task", "make it done")
    loops.run("start", loop_id, code=11)
    folder = loops.project.own / "loops"
    state = folder / f"{loop_id}.json"
    document = json.loads(state.read_text())
    document["skill_state"]["errors"].append({"action": "theirs", "message": "a note", "timestamp": "now"})
    state.write_text(json.dumps(document))
    assert "a note" in loops.errors(loop_id)
    assert words(loops.project, loop_id)[1] == ["in_progress"]
    assert "worked on, the tests fail" in loops.run("show", loop_id).stdout
    for name in (f"{loop_id}.events.ndjson", f".{loop_id}.head.json"):
        (folder / name).unlink()
    loops.run("check", loop_id, "--fix")
    assert words(loops.project, loop_id)[1] == ["in_progress"]
    loops.run("resume", loop_id, code=11)
    assert "T-1 begins" not in "".join(loops.run("logs", loop_id).stdout.splitlines()[-8:])
    assert "worked on, the tests fail" in loops.run("show", loop_id).stdout


def test_a_build_that_nothing_proves_is_not_completed_until_a_person_signs(project):
    prepare(project, [planner(slices=NOTHING_FAILED), {"role": "builder", "run": BUILT}], settings=ONLY_HELLO)
    project.at("approved")
    built = ok(project, "build", "greet", "--agent", "scripted").stdout
    (loop_id,) = (path.stem for path in (project.own / "loops").glob("loop-*[!.][!h]*.json"))
    assert words(project, loop_id) == ("paused", ["in_progress"], 0)
    proofs = project.ask("loop", "show", loop_id)["loopwright"]["proofs"]
    assert (proofs["VS-1"]["grade"], "status greet" in proofs["VS-1"]["reason"]) == ("changed", True)
    assert f"{loop_id}: paused" in built
    assert "completed" not in built
    assert project.ask("next")["loops"] == []
    waiting = project.ask("status")["waiting"]
    assert [line["next"] for line in waiting] == ["loopwright status greet"]

    ok(project, "sign", "greet", "REQ-1", "--note", "seen")
    assert words(project, loop_id) == ("completed", ["completed"], 1)
    assert project.ask("status")["waiting"] == []
