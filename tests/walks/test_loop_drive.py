"""A loop that drives itself, by the real command line, with the scripted agent: to its end, and through faults."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import pytest
import yaml
from tests.walks.workflow_kit import PYTEST

from loopwright.loop import events as e
from loopwright.loop import log
from loopwright.redaction.examples import expand

TESTS = f"{PYTEST} --junitxml=junit.xml"
# The same verdict and report in a twentieth of the time; one walk uses pytest itself.
CHECK = """\
import sys
try:
    from calc import double
    problem = "" if double(2) == 4 else "double(2) is not 4"
except ImportError as error:
    problem = str(error)
case = f'<failure message="{problem}"/>' if problem else ""
with open("junit.xml", "w") as report:
    report.write(f'<testsuite><testcase classname="test_calc" name="test_double">{case}</testcase></testsuite>')
print(problem or "1 passed")
sys.exit(bool(problem))
"""
QUICK_TESTS = f"{sys.executable} -S check.py"
BUGGY = "printf 'def double(n):\\n    return n + n + 1\\n' > calc.py"
FIXED = "printf 'def double(n):\\n    return n + n\\n' > calc.py"
CAUSE = {
    "description": "one is added",
    "testable_condition": "grep -q 'n + 1' calc.py && echo ADDS_ONE || echo fine",
    "evidence_criteria": {"confirm": "ADDS_ONE", "reject": "fine"},
    "fix": "do not add one",
}
OTHER = {**CAUSE, "description": "a typo", "testable_condition": "echo fine", "likelihood": 1}
PLANNED = {"role": "planner", "answer": json.dumps({"tasks": [{"description": "write double"}]})}
STORY = [
    PLANNED,
    {"role": "builder", "run": BUGGY, "tokens": 100, "usd": 0.5},
    {"role": "debugger", "answer": json.dumps({"hypotheses": [OTHER, {**CAUSE, "likelihood": 2}]})},
    {"role": "builder", "expect": "H2", "run": FIXED, "tokens": 100, "usd": 0.5},
]


@pytest.fixture
def ready(project):
    """A project with a failing test, and a scripted agent."""

    def make(turns, *, tests=QUICK_TESTS, **loop_settings):
        # The interpreter that runs these tests may be in a home folder, which confinement hides.
        project.environment["LOOPWRIGHT_SANDBOX_ISOLATION"] = "none"
        project.write("test_calc.py", "from calc import double\n\n\ndef test_double():\n    assert double(2) == 4\n")
        project.write("check.py", CHECK)
        project.write(".gitignore", ".loopwright/\n")
        project.commit("a test")
        project.write(".loopwright/turns.yaml", yaml.safe_dump({"turns": turns}))
        lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in loop_settings.items())
        project.write(
            ".loopwright/config.toml",
            f'[project]\nsource = ["**"]\ntest_command = "{tests}"\n'
            f'[loop]\n{lines}[agents]\ndefault = "scripted"\n'
            '[agents.scripted]\nturns = ".loopwright/turns.yaml"\n',
        )
        return project

    return make


def new(project, *arguments):
    return project.run("loop", "new", "double it", *arguments, "--json").json()["loop_id"]


def start(project, loop_id, code=0):
    done = project.run("loop", "start", loop_id)
    assert done.exit_code == code, done.stdout + done.stderr
    return done


def shown(project, loop_id):
    return project.ask("loop", "show", loop_id)


def events_of(project, loop_id):
    path = project.own / "loops" / f"{loop_id}.events.ndjson"
    return [event for _, line in log.lines(path) for event in line.events]


def test_from_a_description_over_a_bug_to_done(ready):
    project = ready(STORY, tests=TESTS)
    project.write("mine.txt", "not committed\n")
    loop_id = new(project, "--description", "a function that doubles")
    done = start(project, loop_id)
    assert "validate begins" in done.stdout
    document = shown(project, loop_id)
    assert (document["status"], document["current_iteration"]) == ("completed", 5)
    skill = document["skill_state"]
    assert skill["completed_actions"] == [
        "action-init", "action-develop-with-file", "action-validate-with-file", "action-debug-with-file",
        "action-develop-with-file", "action-validate-with-file", "action-complete",
    ]  # fmt: skip
    assert [(one["id"], one["status"]) for one in skill["debug"]["hypotheses"]] == [
        ("H1", "rejected"),
        ("H2", "confirmed"),
    ]
    assert skill["debug"]["confirmed_hypothesis"] == "H2"
    assert [(task["id"], task["status"], task["files_changed"]) for task in skill["develop"]["tasks"]] == [
        ("T-1", "completed", ["calc.py"]), ("F-1", "completed", ["calc.py"])
    ]  # fmt: skip
    assert (skill["validate"]["pass_rate"], skill["validate"]["passed"]) == (100.0, True)
    assert [result["test_name"] for result in skill["validate"]["test_results"]] == ["test_double"]
    assert document["loopwright"]["spent"]["usd"] == 1.0
    progress = project.own / "loops" / f"{loop_id}.progress"
    assert {path.name for path in progress.iterdir()} >= {
        "develop.md", "debug.md", "validate.md", "changes.log", "debug.log", "summary.md", "changes.patch"
    }  # fmt: skip
    assert not (project.root / "calc.py").exists(), "the user's checkout is theirs"
    project.git("apply", str(progress / "changes.patch"))  # refused, if a file that is there were in it
    assert "return n + n\n" in (project.root / "calc.py").read_text()
    assert project.run("verify").exit_code == 0
    runs = [project.evidence(name) for name in sorted(os.listdir(project.own / "runs"))]
    assert {(run["kind"], run["loop_id"]) for run in runs} == {("loop", loop_id)}
    assert not (project.own / "latch.lock").exists(), "only `loopwright run` latches"
    assert list(project.sandboxes.iterdir()) == []


def test_a_validation_run_can_be_rerun(ready):
    project = ready(STORY, tests=TESTS)
    config = project.own / "config.toml"  # a report has times in it, which no second run repeats
    config.write_text(config.read_text().replace(" --junitxml=junit.xml", ""))
    start(project, new(project, "--description", "d"))
    last = max(os.listdir(project.own / "runs"))
    assert project.run("rerun", last).exit_code == 0


def test_a_loop_that_was_created_without_an_agent_uses_the_current_default_agent(ready):
    project = ready(STORY)
    config = project.own / "config.toml"
    text = config.read_text()
    config.write_text(text.replace('default = "scripted"\n', ""))
    loop_id = new(project, "--description", "d")
    start(project, loop_id, code=11)
    config.write_text(text)
    assert project.run("loop", "resume", loop_id).exit_code == 0
    tasks = shown(project, loop_id)["skill_state"]["develop"]["tasks"]
    assert [task["tool"] for task in tasks] == ["scripted", "scripted"]


def test_tasks_by_bash_need_no_agent(ready):
    project = ready([])
    loop_id = new(project, "--task", "placeholder")
    project.run("loop", "task", "edit", loop_id, "T-1", "--description", FIXED, "--tool", "bash")
    start(project, loop_id)
    assert shown(project, loop_id)["status"] == "completed"
    assert shown(project, loop_id)["loopwright"]["spent"]["turns"] == 0


def test_a_loop_fails_at_its_iteration_limit_and_the_limit_can_be_raised(ready):
    project = ready([{"role": "builder", "run": FIXED}])
    loop_id = new(project, "--task", "t", "--max-iterations", "1")
    start(project, loop_id, code=12)
    assert shown(project, loop_id)["failure_reason"] == "all iterations are used (limit: 1)"
    assert project.run("loop", "retry", loop_id, "--max-iterations", "5").exit_code == 0
    start(project, loop_id)
    document = shown(project, loop_id)
    assert (document["status"], document["loopwright"]["attempt"]) == ("completed", 2)
    started = [event for event in events_of(project, loop_id) if isinstance(event, e.ActionStarted)]
    assert sum(event.task_id == "T-1" for event in started) == 1, "what was done is not done again"


def test_a_loop_without_progress_is_held_and_a_resume_tries_again(ready):
    same = {"role": "debugger", "answer": json.dumps({"hypotheses": [OTHER]})}
    project = ready([{"role": "builder", "run": BUGGY}, *[same] * 20], no_progress=3)
    loop_id = new(project, "--task", "t", "--max-iterations", "30")
    start(project, loop_id, code=11)
    document = shown(project, loop_id)
    assert [hold["code"] for hold in document["loopwright"]["holds"]] == ["no_progress"]
    before = document["current_iteration"]
    assert project.run("loop", "resume", loop_id, "--no-start").exit_code == 0
    start(project, loop_id, code=11)
    assert shown(project, loop_id)["current_iteration"] == before + 1


@pytest.mark.parametrize(
    ("flag", "amount", "code"),
    [("--usd", "0.4", "budget_usd"), ("--tokens", "50", "budget_tokens"), ("--turns", "1", "budget_turns")],
)
def test_a_used_budget_holds_the_loop_and_a_larger_budget_continues_it(ready, flag, amount, code):
    project = ready(STORY[1:])
    loop_id = new(project, "--task", "t", flag, amount)
    start(project, loop_id, code=11)
    assert [hold["code"] for hold in shown(project, loop_id)["loopwright"]["holds"]] == [code]
    refused = project.run("loop", "resume", loop_id)
    assert refused.exit_code == 1
    assert "give it more" in refused.stderr
    assert project.run("loop", "resume", loop_id, flag, "1000", "--no-start").exit_code == 0
    start(project, loop_id)
    assert shown(project, loop_id)["status"] == "completed"


@pytest.mark.parametrize(
    ("fail", "holder"),
    [
        ("rate_limited", "quota"), ("not_logged_in", "blocker"), ("agent_missing", "blocker"),
        ("agent_too_old", "blocker"), ("crashed", "blocker"), ("hung", "blocker"),
    ],
)  # fmt: skip
def test_an_agent_that_cannot_work_stops_the_iterations_and_a_resume_loses_nothing(ready, fail, holder):
    project = ready([{"role": "builder", "fail": fail}, {"role": "builder", "run": FIXED}])
    project.environment["LOOPWRIGHT_AGENTS_QUOTA"] = "stop"
    loop_id = new(project, "--task", "t")
    done = start(project, loop_id, code=11)
    assert f"loopwright loop resume {loop_id}" in done.stdout
    document = shown(project, loop_id)
    (hold,) = document["loopwright"]["holds"]
    assert (hold["holder"], hold["code"], hold["until"]) == (holder, fail, None)
    assert (document["loopwright"]["spent"]["turns"], document["skill_state"]["errors"]) == (1, []), "it is no try"
    assert document["skill_state"]["develop"]["tasks"][0]["status"] in ("pending", "in_progress")
    assert project.run("loop", "resume", loop_id, "--no-start").exit_code == 0
    start(project, loop_id)


def test_a_limit_without_an_end_is_tried_again_by_itself_later_each_time(ready):
    untold = {"role": "builder", "fail": "rate_limited"}
    project = ready([untold, untold, {"role": "builder", "run": FIXED}])
    project.environment |= {"LOOPWRIGHT_AGENTS_QUOTA_WAIT_S": "1", "LOOPWRIGHT_AGENTS_QUOTA_LONGEST_S": "2"}
    loop_id = new(project, "--task", "t")
    done = start(project, loop_id)
    assert "the end of the limit is unknown, so the agent is asked again later (until 2" in done.stdout
    lines = log.lines(project.own / "loops" / f"{loop_id}.events.ndjson")
    placed = [event.hold for _, line in lines for event in line.events if isinstance(event, e.HoldPlaced)]
    waits = [datetime.fromisoformat(one.until) - datetime.fromisoformat(one.since) for one in placed]
    assert [round(wait.total_seconds()) for wait in waits] in ([1, 2], [2, 3], [1, 3], [2, 2]), "whole seconds"


def test_an_answer_that_cant_be_used_is_asked_for_once_more_and_then_stops_the_iterations(ready):
    project = ready([])
    project.environment["LOOPWRIGHT_SANDBOX_ISOLATION"] = "auto"
    project.write(
        ".loopwright/config.toml",
        '[project]\nsource = ["**"]\ntest_command = "true"\n'
        '[agents]\ndefault = "mute"\n[agents.mute]\nkind = "command"\n'
        'command = "grep could.not.be.used $LOOPWRIGHT_PROMPT > asked-again; echo x > work"\n',
    )
    loop_id = new(project, "--task", "t")
    done = start(project, loop_id, code=11)
    assert "without writing its answer file" in done.stdout
    document = shown(project, loop_id)
    assert [one["code"] for one in document["loopwright"]["holds"]] == ["invalid_answer"]
    assert document["loopwright"]["spent"]["turns"] == 2


def test_a_task_that_fails_is_tried_again_and_then_waits_for_a_person(ready):
    project = ready([{"role": "builder", "fail": "refused"}] * 3, no_progress=10)
    loop_id = new(project, "--task", "t", "--max-iterations", "20")
    project.write("calc.py", "def double(n):\n    return 2 * n\n")
    project.commit("it was done by hand meanwhile")
    start(project, loop_id, code=11)
    document = shown(project, loop_id)
    assert [hold["code"] for hold in document["loopwright"]["holds"]] == ["task_failed"]
    assert document["skill_state"]["develop"]["tasks"][0]["status"] == "failed"
    assert sum("refused" in error["message"] for error in document["skill_state"]["errors"]) == 3


def test_a_loop_with_an_unknown_tool_loads_and_fails_when_it_runs(ready):
    project = ready([])
    loop_id = new(project, "--task", "t")
    project.run("loop", "task", "edit", loop_id, "T-1", "--tool", "qwen")
    done = start(project, loop_id, code=11)
    assert "qwen" in done.stdout


@pytest.mark.parametrize(
    "writes",
    [
        "printf 'key = \"%s%s\"' ghp_ {rest} > key.py",
        'python3 -c \'import zipfile; zipfile.ZipFile("keys.zip", "w").writestr("key", "ghp_" + "{rest}")\'',
    ],
    ids=["source", "an archive without compression"],
)
def test_a_secret_in_the_work_is_never_kept(ready, writes):
    token = expand("ghp_<alnum:36>", 5)
    project = ready([{"role": "builder", "run": f"{FIXED}; {writes.format(rest=token[4:])}"}])
    loop_id = new(project, "--task", "t")
    start(project, loop_id, code=11)
    assert [hold["code"] for hold in shown(project, loop_id)["loopwright"]["holds"]] == ["secret_leak"]
    kept = [path for path in (project.own / "loops").rglob("*") if path.is_file()]
    assert not any(token.encode() in path.read_bytes() for path in kept)
    assert not any(path.suffix == ".patch" for path in kept), "a patch compresses a binary file"


def test_a_test_run_that_leaks_a_secret_never_passes_with_any_exit_code(ready):
    token = expand("ghp_<alnum:36>", 6)
    project = ready([{"role": "builder", "run": FIXED}])
    project.write("leak.sh", f"printf '%s%s\\n' ghp_ {token[4:]}\n")
    project.commit("prints a secret")
    config = project.own / "config.toml"
    config.write_text(config.read_text().replace(QUICK_TESTS, "sh leak.sh"))
    loop_id = new(project, "--task", "t")
    start(project, loop_id, code=11)
    document = shown(project, loop_id)
    assert [hold["code"] for hold in document["loopwright"]["holds"]] == ["secret_leak"]
    assert not document["skill_state"]["validate"]["passed"]
    config.write_text(config.read_text().replace("sh leak.sh", QUICK_TESTS))
    assert project.run("loop", "resume", loop_id).exit_code == 0
    assert shown(project, loop_id)["status"] == "completed"


def test_a_report_of_an_earlier_run_does_not_count(ready):
    project = ready([{"role": "builder", "run": BUGGY}], test_command_is="")
    project.write("junit.xml", '<testsuite><testcase classname="old" name="old" time="0"/></testsuite>')
    config = (
        (project.own / "config.toml")
        .read_text()
        .replace(QUICK_TESTS, "test -e calc.py")
        .replace('test_command_is = ""\n', "")
    )
    (project.own / "config.toml").write_text(config)
    project.commit("a committed report")
    loop_id = new(project, "--task", "t")
    start(project, loop_id, code=14)  # the command looks at no function of the work
    (result,) = shown(project, loop_id)["skill_state"]["validate"]["test_results"]
    assert result["test_name"] == "the test command"


def test_a_second_worker_is_refused(ready, tmp_path):
    mark = tmp_path / "mark"
    project = ready([{"role": "builder", "run": f"touch {mark}; sleep 60"}])
    loop_id = new(project, "--task", "t")
    with Started(project, loop_id) as child:
        wait_until(mark.exists)
        second = project.run("loop", "start", loop_id)
        assert second.exit_code == 1
        assert f"driven by process {child.pid} on " in second.stderr
        assert project.run("loop", "list", "--json").json()["loops"][0]["has_worker"]
        child.send_signal(signal.SIGTERM)
        assert child.wait() == 143
    document = shown(project, loop_id)
    assert document["status"] == "running"
    assert document["skill_state"]["current_action"] == "develop"


class Started:
    """`loop start` in the background; killed with all that it started at the end."""

    def __init__(self, project, loop_id):
        self._argv = project.command("loop", "start", loop_id)
        self._project = project

    def __enter__(self):
        self._child = subprocess.Popen(
            self._argv, cwd=self._project.root, env=self._project.environment, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True, text=True,
        )  # fmt: skip
        return self._child

    def __exit__(self, *problem):
        if self._child.poll() is None:
            self._child.kill()
        self._child.communicate()


def wait_until(condition):
    while not condition():
        time.sleep(0.01)


def alive(text):
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if text.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def number_in(path):
    """The current count of a script, which empties the file before it writes the next number."""
    text = path.read_text().strip()
    return int(text) if text else 0


def size_is_still(path):
    """Whether a file stays unchanged while another process counts to a hundred."""
    before = path.read_text()
    subprocess.run(["sh", "-c", "i=0; while [ $i -lt 50 ]; do i=$((i+1)); sleep 0.01; done"], check=True)
    return path.read_text() == before


@pytest.mark.parametrize("isolation", ["none", pytest.param("auto", marks=pytest.mark.needs("bwrap"))])
def test_a_pause_freezes_the_running_action_and_a_resume_continues_it(ready, isolation):
    project = ready([])
    project.environment["LOOPWRIGHT_SANDBOX_ISOLATION"] = isolation
    loop_id = new(project, "--task", "t")
    script = (
        "i=0; while [ ! -e stop ] && [ $i -lt 3000 ]; do i=$((i+1)); echo $i > next; mv next count; sleep 0.01; done; "
        + FIXED
    )
    project.run("loop", "task", "edit", loop_id, "T-1", "--tool", "bash", "--description", script)
    with Started(project, loop_id) as child:
        wait_until(lambda: list(project.sandboxes.glob("*/repo/count")))
        (count,) = project.sandboxes.glob("*/repo/count")
        wait_until(lambda: number_in(count) > 20)
        assert project.run("loop", "pause", loop_id).exit_code == 0
        wait_until(lambda: size_is_still(count))
        before = number_in(count)
        assert shown(project, loop_id)["skill_state"]["current_action"] == "paused"
        assert child.poll() is None
        assert project.run("loop", "resume", loop_id).exit_code == 0
        wait_until(lambda: number_in(count) > before + 20)
        (count.parent / "stop").write_text("")
        child.communicate(timeout=500)
    document = shown(project, loop_id)
    assert document["current_iteration"] >= 1
    assert "calc.py" in document["skill_state"]["develop"]["tasks"][0]["files_changed"], "the script came to its end"


def test_a_long_pause_ends_the_turn_and_a_resume_repeats_it(ready):
    project = ready([], freeze_s=0)
    loop_id = new(project, "--task", "t")
    mark = f"98765.{secrets.randbelow(10**12):012d}"
    script = f"if [ -e {project.root}/go ]; then {FIXED}; else touch {project.root}/reached; sleep {mark}; fi"
    project.run("loop", "task", "edit", loop_id, "T-1", "--tool", "bash", "--description", script)
    with Started(project, loop_id) as child:
        wait_until((project.root / "reached").exists)
        assert project.run("loop", "pause", loop_id).exit_code == 0
        assert child.wait() == 0, "a pause is no failure"
    assert alive(mark) == []
    document = shown(project, loop_id)
    assert (document["status"], document["skill_state"]["current_action"]) == ("paused", "paused")
    assert project.run("loop", "start", loop_id).exit_code == 1, "it is paused"
    project.write("go", "")
    assert project.run("loop", "resume", loop_id).exit_code == 0, "it goes on, and to the end"
    assert shown(project, loop_id)["status"] == "completed"
    started = [event for event in events_of(project, loop_id) if isinstance(event, e.ActionStarted)]
    assert sum(event.task_id == "T-1" for event in started) == 1, "the same action, resumed"


@pytest.mark.parametrize("how", ["stop", "outside"])
def test_a_stop_ends_every_child_at_once(ready, how):
    project = ready([])
    loop_id = new(project, "--task", "t")
    mark = f"98765.{secrets.randbelow(10**12):012d}"
    script = f"setsid sleep {mark} & touch {project.root}/reached; sleep {mark}"
    project.run("loop", "task", "edit", loop_id, "T-1", "--tool", "bash", "--description", script)
    with Started(project, loop_id) as child:
        wait_until((project.root / "reached").exists)
        if how == "stop":
            assert project.run("loop", "stop", loop_id).exit_code == 0
        else:
            path = project.own / "loops" / f"{loop_id}.json"
            document = json.loads(path.read_text())
            path.write_text(json.dumps({**document, "status": "failed", "failure_reason": "enough"}))
        assert child.wait() == 12
    assert alive(mark) == []
    document = shown(project, loop_id)
    assert document["status"] == "failed"
    assert document["failure_reason"].startswith("stopped by ")
    assert list(project.sandboxes.iterdir()) == []


def test_a_stop_ends_the_leftover_processes_of_a_dead_worker(ready):
    project = ready([])
    loop_id = new(project, "--task", "t")
    mark = f"98765.{secrets.randbelow(10**12):012d}"
    script = f"setsid sleep {mark} & touch {project.root}/reached; sleep {mark}"
    project.run("loop", "task", "edit", loop_id, "T-1", "--tool", "bash", "--description", script)
    with Started(project, loop_id) as child:
        wait_until((project.root / "reached").exists)
        child.kill()
        child.wait()
    assert alive(mark)
    assert project.run("loop", "stop", loop_id).exit_code == 0
    assert alive(mark) == []
    assert list(project.sandboxes.iterdir()) == []


def test_a_second_worker_in_the_background_is_refused(ready):
    project = ready([])
    loop_id = new(project, "--task", "t")
    project.run("loop", "task", "edit", loop_id, "T-1", "--tool", "bash", "--description", "sleep 1000")
    first = json.loads(project.run("loop", "start", loop_id, "--detach", "--json").stdout)
    refused = project.run("loop", "start", loop_id, "--detach")
    assert refused.exit_code == 1
    assert f"driven by process {first['pid']}" in refused.stderr
    project.run("loop", "stop", loop_id)


def test_a_worker_in_the_background_that_cant_begin_tells_why(ready, tmp_path):
    project = ready([])
    loop_id = new(project, "--task", "t")
    refused = project.run("loop", "start", loop_id, "--detach", env={"PATH": str(tmp_path)})
    assert refused.exit_code == 1
    assert "the worker ended at once: TOOL_MISSING: neither bash nor sh is on PATH" in refused.stderr


def test_a_resume_while_its_worker_leaves_is_not_lost(ready, monkeypatch):
    """A resume finds that the loop has a worker, and starts no other."""
    from loopwright.kernel.process import Cancellation
    from loopwright.loop.driver import drive
    from loopwright.loop.model import Budget
    from loopwright.stages import loop_worker as starting
    from loopwright.verbs.loop.control import resume
    from loopwright.wiring.build import build_context

    project = ready([{"role": "builder", "run": "true"}, {"role": "builder", "run": FIXED}])
    loop_id = new(project, "--task", "t", "--task", "u", "--turns", "1")
    context = build_context(
        project.root, {("sandbox", "isolation"): "none", ("sandbox", "root"): str(project.sandboxes)}
    )
    held = []

    def drive_and_resume(loop_id, *rest):
        after = drive(loop_id, *rest)
        if not held:
            held.extend(after.phase.holds)
            resume(context, loop_id, budget=Budget(turns=9))
        return after

    monkeypatch.setattr(starting, "drive", drive_and_resume)
    after = starting.start(context, loop_id, Cancellation())
    assert [hold.code for hold in held] == ["budget_turns"]
    assert [hold.holder for hold in after.holds] == ["proof"], "both tasks were worked on, and one changed nothing"
    assert shown(project, loop_id)["status"] == "paused"


def test_a_worker_in_the_background_outlives_its_terminal_and_can_be_watched(ready):
    project = ready(STORY)
    loop_id = new(project, "--description", "d")
    detached = json.loads(project.run("loop", "start", loop_id, "--detach", "--json").stdout)
    watched = project.run("loop", "watch", loop_id, "--json")
    assert watched.exit_code == 0
    lines = [json.loads(line) for line in watched.stdout.splitlines()]
    kinds = [event["kind"] for line in lines if line["type"] == "events" for event in line["events"]]
    assert kinds[0] == "loop.created"
    assert "loop.completed" in kinds
    assert shown(project, loop_id)["status"] == "completed"
    assert "validate begins" in Path(detached["log"]).read_text()
    refused = project.run("loop", "start", loop_id, "--detach")
    assert refused.exit_code == 1
    assert "is completed" in refused.stderr


def test_doctor_finds_a_loop_with_a_dead_worker_and_a_resume_continues_it(ready, tmp_path):
    project = ready([])
    loop_id = new(project, "--task", "t")
    mark = tmp_path / "mark"
    script = f"if [ -e {mark} ]; then {FIXED}; else touch {mark}; sleep 1000; fi"
    project.run("loop", "task", "edit", loop_id, "T-1", "--tool", "bash", "--description", script)
    with Started(project, loop_id) as child:
        wait_until(mark.exists)
        child.kill()
        child.wait()
    assert "no process drives it" in project.run("doctor").stdout
    assert project.run("loop", "resume", loop_id).exit_code == 0
    assert shown(project, loop_id)["status"] == "completed"
