"""A quick loop that takes every action, and its invariants after any fault."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
import yaml

from loopwright.kernel.process import MARK_VARIABLE
from loopwright.loop import events as e
from loopwright.loop import log
from loopwright.loop.model import Completed, Created, Held
from loopwright.loop.projection import document_of
from loopwright.testing.project import Project

# Every turn writes its start and its end to a file outside the sandbox. It waits if a test wants to meet it.
AGENT = """\
echo "begin $1" >> {trace}
if [ -e {trace}.do-$1 ]; then mv {trace}.do-$1 {trace}.did-$1; . {trace}.did-$1; fi
if [ -e {trace}.meet-$1 ]; then mv {trace}.meet-$1 {trace}.met-$1 && exec sleep 1000; fi
case $1 in
  builder) if [ -e work ]; then echo good > work; else echo bad > work; fi ;;
  tests) ;;
esac
echo "end $1" >> {trace}
"""
# Its expectation can be changed, so it proves the work. No control knows the program that it starts.
TEST = """\
import os, pathlib, unittest


class Tests(unittest.TestCase):
    def test_work(self):
        os.system(pathlib.Path("command.txt").read_text())
        self.assertEqual(pathlib.Path("work").read_text(), "good\\n")
"""
BAD = {
    "description": "it is bad", "testable_condition": "sh {agent} probe; grep -q bad work && echo BAD || echo fine",
    "evidence_criteria": {"confirm": "BAD", "reject": "fine"}, "fix": "make it good", "likelihood": 1,
}  # fmt: skip
# Killed tests fail too, although the work is right.
KILLED = {**BAD, "description": "it was killed", "testable_condition": "echo BAD", "likelihood": 2, "fix": "try again"}
ANSWERS = {
    "planner": json.dumps({"tasks": [{"description": "write it"}]}),
    "builder": "done",
    "debugger": json.dumps({"hypotheses": [BAD, KILLED]}),
}
# Which action a role's process belongs to.
ACTIONS = {"planner": "init", "builder": "develop", "debugger": "debug", "probe": "debug", "tests": "validate"}
_MOST_TURNS = 40


class Scene:
    """A project, its loop, and the processes that belong to both."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.project = project = Project(folder)
        self.trace = folder / "trace"
        self.trace.touch()
        (folder / "agent.sh").write_text(AGENT.format(trace=self.trace))
        # What runs these tests may be in a home folder, which confinement hides.
        project.environment["LOOPWRIGHT_SANDBOX_ISOLATION"] = "none"
        project.write(".gitignore", ".loopwright/\n__pycache__/\n")
        project.write("test_work.py", TEST)
        project.write("command.txt", f"sh {folder}/agent.sh tests")
        project.commit("a start")
        turns = [
            {
                "role": role, "run": f"sh {folder}/agent.sh {role}", "usd": 0.25, "tokens": 10,
                "answer": answer.replace("{agent}", f"{folder}/agent.sh"),
            }
            for role, answer in ANSWERS.items()
            for _ in range(_MOST_TURNS)
        ]  # fmt: skip
        project.write(".loopwright/turns.yaml", yaml.safe_dump({"turns": turns}))
        project.write(
            ".loopwright/config.toml",
            '[project]\nsource = ["**"]\ntest_command = "python3 -m unittest -q"\n'
            '[loop]\nno_progress = 1000\nside_by_side = "never"\n'
            "[run]\nmax_retries = 1000\n"
            '[agents]\ndefault = "scripted"\n[agents.scripted]\nturns = ".loopwright/turns.yaml"\n',
        )
        self.loop_id = ""
        self.new_loop()

    def new_loop(self):
        """Another loop in the same project; the paper is blank again."""
        made = self.run("loop", "new", "g", "--description", "d", "--max-iterations", "1000", "--json")
        self.loop_id = made.json()["loop_id"]
        self.trace.write_text("")

    def run(self, *arguments, **options):
        """A command, which never ends in a traceback."""
        done = self.project.run(*arguments, **options)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def start(self, *before):
        """A worker in the background; `before` is the command that starts it."""
        verb = "resume" if isinstance(self.replayed().phase, Held) else "start"
        return subprocess.Popen(
            [*before, *self.project.command("loop", verb, self.loop_id)], cwd=self.project.root,
            env=self.project.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip

    def finish(self):
        """Resume until the loop is done; answer each hold as a person."""
        for _ in range(10):
            if isinstance(self.replayed().phase, Completed):
                # Killed after its last line: there is nothing to resume, and doctor restores the files.
                assert self.run("doctor", "--fix").exit_code == 0
                return
            verb = "start" if isinstance(self.replayed().phase, Created) else "resume"
            done = self.run("loop", verb, self.loop_id)
            if done.exit_code == 14:  # a test proves only one of several tasks
                done = self.run("loop", "accept", self.loop_id, "--reason", "looked at it")
            if done.exit_code != 11:
                break
        assert done.exit_code == 0, done.stdout + done.stderr

    @property
    def files(self):
        folder = self.project.own / "loops"
        return {
            "state": folder / f"{self.loop_id}.json",
            "tasks": folder / f"{self.loop_id}.tasks.jsonl",
            "events": folder / f"{self.loop_id}.events.ndjson",
            "head": folder / f".{self.loop_id}.head.json",
        }

    def replayed(self):
        """The loop, replayed from the first line of its log."""
        found = log.replay(self.files["events"])
        assert found.damage is None or found.is_torn, found.damage
        return found.state

    def events(self):
        return [event for _, line in log.lines(self.files["events"]) for event in line.events]

    def moment(self):
        """What the loop is at, by its log."""
        loop = self.replayed()
        return "between actions" if loop.under_way is None else loop.under_way.action.value

    def meet(self, role):
        """From now on the next turn of this role waits until it is killed."""
        Path(f"{self.trace}.meet-{role}").touch()

    def let(self, role, script):
        """The next turn of this role does this first."""
        Path(f"{self.trace}.do-{role}").write_text(script + "\n")

    def wait_to_meet(self, role, worker):
        met = Path(f"{self.trace}.met-{role}")
        while not met.exists():
            assert worker.poll() is None, worker.communicate()
            time.sleep(0.005)

    def processes(self):
        """All processes of this scene, found by their environment."""
        mark = os.fsencode(self.folder)
        return [pid for pid, data in _environments() if mark in data and pid != os.getpid()]

    def at_work(self):
        """Those of them that a worker started in a sandbox: agents and tests."""
        mark, ours = MARK_VARIABLE.encode() + b"=", os.fsencode(self.folder)
        return [pid for pid, data in _environments() if mark in data and ours in data]

    def kill(self, pids):
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def check_the_end(self, kills):
        """It is done, once; nothing is lost and nothing is left. `kills` says how many hit each action."""
        self.check_the_loop(kills)
        shown = self.run("loop", "show", self.loop_id, "--json").json()
        del shown["progress"]
        assert shown == self.document()
        self.check_the_project()

    def check_the_loop(self, kills):
        """Check the invariants of one finished loop; quick."""
        loop = self.replayed()
        assert isinstance(loop.phase, Completed)
        assert json.loads(self.files["state"].read_bytes()) == self.document()
        events = self.events()
        done = [event for event in events if isinstance(event, e.ActionDone)]
        assert len({event.action_id for event in done}) == len(done)
        completed = [one.task_id for one in events if isinstance(one, e.TaskFinished) and one.status == "completed"]
        assert sorted(completed) == sorted({task.id for task in loop.tasks}), "each task is done, and once"
        trace = self.trace.read_text().splitlines()
        for role in ("planner", "builder", "debugger", "tests"):
            action = ACTIONS[role]
            ended, begun = sum(event.action == action for event in done), trace.count(f"begin {role}")
            # The tests run on the base and with probes, too, in the validation that passes.
            others = (self.project.own / "runs").glob(f"{self.loop_id}-*-tests*")
            ended += len(list(others)) if role == "tests" else 0
            # A killed turn is repeated; a turn that was killed at once has an end without a start.
            hit = kills.get(action, 0) + kills.get("at random", 0)
            assert abs(begun - ended) <= hit, f"{role}: {begun} begun, {ended} done, {kills}"
        assert list(self.project.sandboxes.glob("[!.]*")) == []
        assert list(self.project.own.rglob(".*.tmp")) == []
        assert self.processes() == []

    def check_the_project(self):
        """Check the invariants of the whole workspace with the commands of a person."""
        checked = self.run("loop", "check", "--json").json()
        assert checked["ok"]
        assert [one for one in checked["loops"] if one["problems"] or one["notes"]] == []
        assert self.run("doctor").exit_code == 0, "nothing is left for a doctor to find"
        assert self.run("verify").exit_code == 0
        assert list(self.project.sandboxes.iterdir()) == []

    def document(self):
        """The state file that results from the log."""
        return json.loads(json.dumps(document_of(self.replayed())))


def _environments():
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X"):
                yield int(folder.name), (folder / "environ").read_bytes()
        except OSError:
            continue


@pytest.fixture
def scene(tmp_path):
    made = Scene(tmp_path)
    yield made
    made.kill(made.processes())


@pytest.fixture
def count(record_property):
    """Count the faults of a test; the summary of the test run shows the numbers."""
    return lambda **numbers: record_property("faults", json.dumps(numbers))
