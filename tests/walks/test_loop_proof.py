"""Only work that changed something, and won by no lost or weakened test, completes a loop; else a person decides."""

from __future__ import annotations

import sys

import pytest

from loopwright.agents.port import AGENT_MARK

# The same tests with a report and without a report.
PYTEST = f"{sys.executable} -m pytest -q -p no:cacheprovider --junitxml=junit.xml"
UNITTEST = "python3 -m unittest -q"
TEST = """\
import unittest

from calc import double


class Tests(unittest.TestCase):
    def test_{name}(self):
        self.assertEqual(double({n}), {result})
"""
FIXED = "printf 'def double(n):\\n    return n + n\\n' > calc.py"
DELETED = "rm test_double.py"
WEAKENED = "sed -i 's/double(2), 4/double(2), 5/' test_double.py"
ALSO_TESTED = f"{FIXED}; printf '    def test_two(self):\\n        self.assertEqual(double(1), 2)\\n' >> test_double.py"


@pytest.fixture
def calc(loops):
    """A project with a bug, a test that shows it, and another test that passes."""

    def make(*runs, test_command=PYTEST):
        loops.configure([{"role": "builder", "run": run} for run in runs])
        config = loops.project.own / "config.toml"
        config.write_text(config.read_text().replace("test -e done", test_command))
        loops.project.write("calc.py", "def double(n):\n    return n and n + n + 1\n")
        loops.project.write("test_double.py", TEST.format(name="double", n=2, result=4))
        loops.project.write("test_zero.py", TEST.format(name="zero", n=0, result=0))
        loops.project.commit("a bug, and tests")
        return loops.new("--task", "double doubles")

    return make


def held(loops, loop_id):
    """The hold of the loop, as another tool reads it."""
    document = loops.shown(loop_id)
    assert document["status"] == "paused"
    assert [task["status"] for task in document["skill_state"]["develop"]["tasks"]] == ["in_progress"]
    assert "action-complete" not in document["skill_state"]["completed_actions"]
    (hold,) = document["loopwright"]["holds"]
    assert hold["holder"] == "proof"
    return hold


def patch_of(loops, loop_id):
    return loops.project.own / "loops" / f"{loop_id}.progress" / "changes.patch"


def test_a_loop_without_changes_is_completed_only_by_a_person(loops):
    loops.configure([{"role": "builder", "run": "echo 'all done'"}] * 2)
    loops.project.write("done", "")
    loops.project.commit("the tests pass")
    loop_id = loops.new("--task", "make it better")
    done = loops.run("start", loop_id, code=14)
    assert f"loopwright loop accept {loop_id}" in done.stdout
    assert held(loops, loop_id)["code"] == "nothing_changed"
    assert not patch_of(loops, loop_id).exists(), "an empty patch is never offered"
    loops.run("watch", loop_id, "--no-follow", code=14)
    assert "completed" not in loops.run("resume", loop_id, code=14).stdout, "the agent may go on, and changes nothing"

    loops.project.environment[AGENT_MARK] = "1"
    assert "INSIDE_AGENT" in loops.run("accept", loop_id, code=1).stderr
    del loops.project.environment[AGENT_MARK]
    loops.run("accept", loop_id, "--reason", "it was good already")
    document = loops.shown(loop_id)
    assert document["status"] == "completed"
    assert document["loopwright"]["forced"] == "it was good already"
    assert document["loopwright"]["accepted_by"]
    assert [task["status"] for task in document["skill_state"]["develop"]["tasks"]] == ["completed"]
    assert "accepted by" in loops.run("logs", loop_id).stdout


@pytest.mark.parametrize(
    ("lie", "test_command", "code", "named"),
    [
        (DELETED, PYTEST, "tests_lost", "test_double.Tests::test_double"),
        (DELETED, UNITTEST, "tests_changed", "test_double.py"),
        (WEAKENED, UNITTEST, "tests_changed", "test_double.py"),
    ],
    ids=["deleted", "deleted without a report", "weakened"],
)
def test_a_loop_cannot_pass_by_changing_its_tests(loops, calc, lie, test_command, code, named):
    loop_id = calc(lie, test_command=test_command)
    done = loops.run("start", loop_id, code=14)
    hold = held(loops, loop_id)
    assert hold["code"] == code
    assert named in hold["message"]
    assert str(patch_of(loops, loop_id)) in done.stdout
    assert "test_double.py" in patch_of(loops, loop_id).read_text()


def test_a_resumed_agent_is_told_which_tests_were_lost_and_an_honest_fix_completes_the_loop(loops, calc):
    loop_id = calc(DELETED, f"git checkout -q test_double.py; {ALSO_TESTED}")
    loops.run("start", loop_id, code=14)
    kept = loops.project.run("gc", "--keep", "0", "--json").json()
    assert kept["runs"] == [], "a hold names its runs"
    assert set(kept["needed"].values()) == {loop_id}
    loops.run("resume", loop_id)
    assert loops.shown(loop_id)["status"] == "completed", "the old test passes, and so does a new test"
    (proof,) = loops.project.run("gc", "--keep", "0", "--json").json()["needed"]
    assert loops.project.run("verify", proof).exit_code == 0
    prompts = [path.read_text() for path in patch_of(loops, loop_id).parent.glob("turns/*/prompt.md")]
    assert any("are missing or skipped" in text and "test_double" in text for text in prompts)
    loops.project.git("apply", str(patch_of(loops, loop_id)))
    assert "return n + n\n" in (loops.project.root / "calc.py").read_text()


def test_a_loop_that_only_analyses_has_nothing_to_change(loops):
    loops.configure()
    loops.project.write("done", "")
    loops.project.commit("the tests pass")
    loop_id = loops.new()
    loops.run("task", "add", loop_id, "ls", "--tool", "bash", "--mode", "analysis")
    loops.run("start", loop_id)
    assert loops.shown(loop_id)["status"] == "completed"
