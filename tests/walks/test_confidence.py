"""With reflection on, a builder rates its confidence before, after and as its own opponent, without side effects."""

from __future__ import annotations

import json
import subprocess

import pytest
from tests.walks.workflow_kit import BUILT, build_it, planner, prepare

from loopwright.loop import events as e

ON = {"REFLECTION_MODE": "solo"}


def rates(confidence, surface="none", why="it may be too simple", **more):
    """A builder that is asked, and answers."""
    wrong = {"surface": surface, "description": why}
    said = {"confidence": confidence, "most_likely_wrong": wrong, "known_not_in_diff": None}
    return {"role": "builder", "answer": json.dumps(said), **more}


def captures(project):
    found = [json.loads(path.read_text()) for path in sorted((project.own / "reflections").glob("*.capture.json"))]
    return sorted(found, key=lambda one: one["reflection"]["timestamp"])


def turn_names(project, loop_id):
    asked = (project.own / "loops" / f"{loop_id}.progress" / "turns").glob("*-builder*/prompt.md")
    ordered = sorted(asked, key=lambda one: one.stat().st_mtime_ns)
    return [one.parent.name.partition("-builder")[2].lstrip("-") for one in ordered]


def corpus(project):
    done = project.run("reflect", "export", "--form", "corpus")
    assert done.exit_code == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_with_the_setting_off_no_agent_is_asked_and_nothing_is_charged(loops):
    loops.configure([{"role": "builder", "run": "touch done", "tokens": 10}])
    loop_id = loops.new("--task", "one")
    loops.run("start", loop_id, env={"REFLECTION_MODE": "loud"})
    assert turn_names(loops.project, loop_id) == [""]
    assert (loops.spent(loop_id)["turns"], loops.spent(loop_id)["tokens"]) == (1, 10)
    assert not (loops.project.own / "reflections").exists()


def test_three_answers_become_reflections_that_the_checks_judge_and_their_cost_counts(loops):
    project = loops.project
    # The agent writes files during a question: these files never become part of the work.
    spoils = {"run": "touch spoiled; rm -f done", "tokens": 1}
    loops.configure(
        [
            rates(0.9, **spoils),
            {"role": "builder", "expect": "one", "run": "test ! -e spoiled && touch auth.py", "tokens": 10},
            rates(0.8, "auth", expect="auth.py", **spoils),
            rates(0.3, "auth", "not tried", run="test ! -e spoiled && test -e auth.py", tokens=1),
            {"role": "debugger", "answer": json.dumps({"hypotheses": [CAUSE]})},
            rates(0.6),
            {"role": "builder", "run": "test ! -e spoiled && touch done", "tokens": 10},
            rates(0.95), rates(0.7),
        ]
    )  # fmt: skip
    loop_id = loops.new("--task", "one")
    loops.run("start", loop_id, env=ON)
    found = captures(project)
    assert [(one["point"], one["reflection"]["confidence"]) for one in found] == [
        ("before", 0.9), ("after", 0.8), ("adversarial", 0.3), ("before", 0.6), ("after", 0.95), ("adversarial", 0.7),
    ]  # fmt: skip
    first = [one["reflection"] for one in found[:3]]
    assert [one["files_changed"] for one in first] == [[], ["auth.py"], ["auth.py"]]
    assert {(one["task_ref"], one["agent"]) for one in first} == {(f"{loop_id}/T-1", "scripted")}
    assert len({one["session_id"] for one in first}) == 1
    assert first[2]["most_likely_wrong"] == {"surface": "auth", "description": "not tried"}
    assert first[1]["risk"]["needs_review"] is True
    assert {one["reflection"]["provenance"]["degraded"] for one in found} == {False}
    assert turn_names(project, loop_id)[:4] == ["before", "", "after", "adversarial"]
    spent = loops.spent(loop_id)
    assert (spent["turns"], spent["tokens"]) == (9, 23)
    told = [event.text for event in loops.events(loop_id, e.ProgressNoted)]
    assert told[0] == "the builder, asked before the work how sure it is: 0.9"

    logs = loops.run("logs", loop_id, env={"LANG": "zh_CN.UTF-8"}).stdout
    assert "构建者在工作之前被问到有多大把握：0.9" in logs

    judged = corpus(project)
    assert [(one["confidence"], one["correct"], one["point"]) for one in judged] == [
        (0.9, False, "before"), (0.8, False, "after"), (0.3, False, "adversarial"),
        (0.6, True, "before"), (0.95, True, "after"), (0.7, True, "adversarial"),
    ]  # fmt: skip
    assert {one["surface"] for one in judged[:3]} == {"auth"}
    project.write("corpus.jsonl", "".join(json.dumps(one) + "\n" for one in judged))
    read = project.run("analyze", "calibration", "corpus.jsonl", "--json", "--no-record").json()
    assert read["findings"]["malformed"]["count"] == 0
    assert [(one["series"], one["records"]) for one in read["findings"]["series"] if one["records"]] == [
        ("after", 2), ("before", 2), ("adversarial", 2),
    ]  # fmt: skip


CAUSE = {
    "description": "it is missing", "testable_condition": "test -e done || echo MISSING",
    "evidence_criteria": {"confirm": "MISSING", "reject": "found"}, "fix": "make it",
}  # fmt: skip


def test_a_question_that_fails_is_unknown_and_fails_nothing(loops):
    loops.configure(
        [
            {"role": "builder", "fail": "crashed"},
            {"role": "builder", "run": "touch done"},
            {"role": "builder", "answer": "quite sure"},
            rates(0.5, expect="was unusable"),
            {"role": "builder", "answer": "no"},
            {"role": "builder", "answer": '{"confidence": 7}'},
        ]
    )
    loop_id = loops.new("--task", "one")
    loops.run("start", loop_id, env={"LOOPWRIGHT_REFLECTION_MODE": "orchestrated"})
    found = captures(loops.project)
    assert [(one["point"], one["reflection"]["confidence"]) for one in found] == [
        ("before", None), ("after", 0.5), ("adversarial", None),
    ]  # fmt: skip
    assert [one["reflection"]["provenance"]["degraded"] for one in found] == [True, False, True]
    assert {one["reflection"]["provenance"]["reflection_mode"] for one in found} == {"orchestrated"}
    told = [event.text for event in loops.events(loop_id, e.ProgressNoted)]
    assert told[0] == "the builder, asked before the work how sure it is: unknown, crashed: as written"
    assert told[2].startswith("the builder, asked as its own opponent how sure it is: unknown, invalid_answer")
    assert [one["point"] for one in corpus(loops.project)] == ["after"]


def test_a_watcher_sees_that_the_builder_is_asked_for_its_confidence(loops):
    waits = f"until [ -e {loops.project.root}/go ]; do sleep 0.05; done"
    loops.configure([rates(0.9), {"role": "builder", "run": "touch done"}, rates(0.8, run=waits), rates(0.7)])
    loop_id = loops.new("--task", "one")
    loops.project.environment |= ON
    with loops.started(loop_id) as worker:
        command = loops.project.command("loop", "logs", loop_id, "--follow")
        with subprocess.Popen(
            command, cwd=loops.project.root, env=loops.project.environment, stdout=subprocess.PIPE, text=True
        ) as seen:
            assert any("develop is done" in line for line in seen.stdout)
            assert any("scripted is asked how sure it is" in line for line in seen.stdout)
            assert "Now\n  scripted is asked how sure it is" in loops.run("show", loop_id).stdout
            chinese = loops.run("show", loop_id, env={"LANG": "zh_CN.UTF-8"}).stdout
            assert "正在询问 scripted 有多大把握" in chinese
            loops.project.write("go", "")
            seen.stdout.read()
        assert worker.wait() == 0


def test_a_budget_has_room_for_the_work_first_and_a_question_without_room_is_unknown(loops):
    builds = {"role": "builder", "run": "touch done"}
    for turns, written, said in ((2, [rates(0.9), builds], [0.9, None, None]), (1, [builds], [None, None, None])):
        loops.configure(written)
        loop_id = loops.new("--task", "one", "--turns", str(turns))
        loops.run("start", loop_id, env=ON)
        assert [one["reflection"]["confidence"] for one in captures(loops.project)][-3:] == said
        assert loops.spent(loop_id)["turns"] == turns


def test_a_build_asks_by_slice_and_its_own_checks_judge(project):
    turns = [planner(), rates(0.7), {"role": "builder", "run": BUILT}, rates(0.9), rates(0.6, expect="hello.py")]
    prepare(project, turns)
    project.environment["REFLECTION_MODE"] = "solo"
    build_it(project)
    assert [(one["point"], one["task_ref"], one["correct"]) for one in corpus(project)] == [
        (point, "greet/VS-1", True) for point in ("before", "after", "adversarial")
    ]


def test_stopping_a_question_loses_the_answer_but_no_work(loops, wait_until):
    project = loops.project
    loops.configure([rates(0.9), {"role": "builder", "run": "touch made"}, rates(0.8, run="sleep 600"), rates(0.7)])
    project.environment |= ON
    loop_id = loops.new("--task", "one")
    with loops.started(loop_id) as worker:
        wait_until(lambda: "after" in turn_names(project, loop_id))
        loops.run("stop", loop_id)
        worker.wait()
    assert [one["reflection"]["confidence"] for one in captures(project)] == [0.9, None, None]
    (task,) = loops.shown(loop_id)["skill_state"]["develop"]["tasks"]
    assert (task["status"], task["files_changed"]) == ("in_progress", ["made"])
    assert task["loopwright"]["worked_on_at"], "a retry does not repeat it"


def test_the_work_continues_if_no_reflection_can_be_written(loops):
    project = loops.project
    project.write(".loopwright/reflections", "in the way\n")
    loops.configure([rates(0.9), {"role": "builder", "run": "touch done"}, rates(0.8), rates(0.7)])
    loop_id = loops.new("--task", "one")
    loops.run("start", loop_id, env=ON)
    told = [event.text for event in loops.events(loop_id, e.ProgressNoted)]
    assert [text.partition(";")[2][:29] for text in told] == [" not kept as a reflection: Fi"] * 3


def test_an_agent_with_a_full_spelling_is_recorded_by_its_kind(loops):
    """Any command can be asked: it finds the schema in the prompt's folder, and answers with a file."""
    loops.configure(isolation="auto")
    loops.project.write("agent.sh", AGENT)
    loops.project.commit("an agent")
    loop_id = loops.new("--task", "one", "--agent", "command:sh agent.sh")
    loops.run("start", loop_id, env=ON)
    found = [one["reflection"] for one in captures(loops.project)]
    assert {(one["agent"], one["confidence"]) for one in found} == {("command", 0.5)}
    assert all(one["session_id"].endswith("-command") for one in found)
    assert [one["correct"] for one in corpus(loops.project)] == [True, True, True]


AGENT = """
if grep -q '<work>' "$LOOPWRIGHT_PROMPT"; then
    echo '{"confidence": 0.5, "most_likely_wrong": null, "known_not_in_diff": null}' > "$LOOPWRIGHT_ANSWER"
else
    touch done; echo built > "$LOOPWRIGHT_ANSWER"
fi
"""


@pytest.mark.parametrize(
    ("point", "end"), [("before", "kill"), ("before", "terminate"), ("after", "kill"), ("adversarial", "kill")]
)
def test_no_build_continues_in_the_session_of_an_interrupted_question(loops, wait_until, point, end):
    project = loops.project
    reached, seen = project.root / "reached", project.root / "seen"
    hangs = f'echo \'{{"session": "of-the-question"}}\' >> $LOOPWRIGHT_USAGE; touch {reached}; sleep 600'
    questions = {name: rates(0.8, **({"run": hangs} if name == point else {})) for name in ("after", "adversarial")}
    builds = {"role": "builder", "run": f'echo "[$LOOPWRIGHT_SESSION]" >> {seen}; touch done'}
    first = [rates(0.9, run=hangs)] if point == "before" else [rates(0.9)]
    project.environment |= ON
    loops.configure([*first, builds, *questions.values()])
    loop_id = loops.new("--task", "one")
    with loops.started(loop_id) as worker:
        wait_until(lambda: reached.exists() and list(project.own.rglob(f"*-builder-{point}/usage.json")))
        getattr(worker, end)()
        worker.wait()
    # A stopped question counts as asked; a question whose worker died is repeated.
    again = [rates(0.9)] if end == "kill" or point != "before" else [rates(0.9), rates(0.9)]
    loops.configure([*again, builds, rates(0.8), rates(0.8)])
    loops.run("resume", loop_id)
    assert loops.shown(loop_id)["status"] == "completed"
    assert seen.read_text() == "[]\n"
    records = [json.loads(one.read_text()) for one in project.own.rglob("*-builder/turn.json")]
    assert [one["resumed"] for one in records] == [None]


def test_a_worker_that_dies_at_a_question_has_its_work_on_record(loops, wait_until):
    project = loops.project
    asked = rates(0.8, run="echo '{\"tokens\": 5}' >> $LOOPWRIGHT_USAGE; sleep 600")
    loops.configure([rates(0.9), {"role": "builder", "run": "touch done"}, asked])
    project.environment |= ON
    loop_id = loops.new("--task", "one")
    with loops.started(loop_id) as worker:
        wait_until(lambda: list(project.own.rglob("*-after/usage.json")))
        worker.kill()
        worker.wait()
    loops.run("start", loop_id)
    assert turn_names(project, loop_id) == ["before", "", "after"], "the build and the first question are not repeated"
    assert loops.shown(loop_id)["status"] == "completed"
    assert (loops.spent(loop_id)["turns"], loops.spent(loop_id)["tokens"]) == (3, 5)
