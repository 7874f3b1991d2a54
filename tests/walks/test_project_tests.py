"""A build runs the project's own tests on the base and on the work: newly broken tests block it."""

from __future__ import annotations

import pytest
from tests.walks.workflow_kit import BUILT, PYTEST, blockers, ok, plan, planner, prepare, refusal, status

# A report of the user's own does not count the tests twice.
TESTS = f"{PYTEST} --junitxml=junit.xml"
UNITTEST = "python3 -m unittest -q"
BYE = "printf 'def bye():\\n    return \"bye\"\\n' >> hello.py"
BREAKS = {"role": "builder", "run": BUILT}  # replaces the whole file, and so removes `bye`
# The tests fail with the new settings, too.
WITH_SETTINGS = {"role": "builder", "run": f"{BUILT}; echo '[x]' > setup.cfg"}
FIXES = {"role": "builder", "run": BYE, "expect": "test_bye"}
TEST_BYE = """\
import unittest

import hello


class Bye(unittest.TestCase):
    def test_bye(self):
        self.assertEqual(hello.bye(), "bye")
"""


def approved(project, turns, *, test_command):
    """The sample project, in which something else works, too, and has a test."""
    settings = f'[loop]\ntest_command = "{test_command}"\n' if test_command else ""
    prepare(project, [planner(), *turns], settings=settings)
    project.write("hello.py", "def greet(name):\n    return 'hi'\n\n\ndef bye():\n    return 'bye'\n")
    project.write("test_hello.py", TEST_BYE)
    project.commit("something else, with its test")
    plan(project)
    ok(project, "approve", "greet", "--from", "plan", "--to", "build")


def build(project, *arguments, code=0):
    done = project.run("build", "greet", "--agent", "scripted", *arguments)
    assert done.exit_code == code, done.stdout + done.stderr
    return done


def record(project):
    return (project.own / "workflows" / "greet" / "execution-record.md").read_text()


def test_work_that_breaks_another_test_is_sent_back_and_the_fixed_work_passes(project):
    fixes = {**FIXES, "run": f"rm setup.cfg; {BYE}"}
    approved(project, [WITH_SETTINGS, fixes], test_command=TESTS)
    build(project, "--max-iterations", "1", code=12)
    found = blockers(project, "review")
    assert "test_hello.py::Bye::test_bye" in found["tests_broken_1"]["message"]
    assert found["tests_broken_1"]["message"].startswith("project tests that passed before the work now fail (run ")
    (loop_id,) = (path.name.partition(".")[0] for path in (project.own / "loops").glob("*.tasks.jsonl"))
    shown = " ".join(project.run("loop", "show", loop_id).stdout.split())
    assert "Tests checks passed: 1 of 1; failing tests of the project: test_bye run " in shown
    left_out = "changes to setup.cfg were left out: existing tests and other protected files come from the base"
    assert f"{left_out}; with them the tests fail, too" in shown
    assert found["tests_broken_1"]["next"] == "loopwright build greet"
    assert "verification_failed" not in found, "the slice's own check passes"
    refused = refusal(project, "approve", "greet", "--from", "build", "--to", "review")
    assert "tests_broken_1" in {one["code"] for one in refused["blockers"]}
    assert refusal(project, "review", "greet")["error"] == "approved_transition_required"

    build(project)
    assert blockers(project, "review") == {}
    tasks = [path.read_text() for path in (project.own / "loops").glob("*/turns/*/prompt.md")]
    assert any("test_bye" in text and "passed before your work and does not pass now" in text for text in tasks)
    assert any("your changes to setup.cfg were left out" in " ".join(text.split()) for text in tasks)
    on_base = [path.name for path in (project.own / "runs").iterdir() if "-base-tests" in path.name]
    assert len(on_base) == 3, "the base does not change: it is tested once, and twice more for the broken test"
    said = "the work breaks none of the project's tests"
    assert said in record(project)
    (claim,) = (one for one in status(project)["evidence_chain"] if one["claim"] == "the rest still works")
    assert said in claim["basis"]
    (line,) = status(project)["requirements"]
    assert f"of the tests that `{TESTS[:120]}" in line["proof"]
    assert "` runs, 1 of 1 earlier test still passes" in line["proof"]
    assert project.run("verify").exit_code == 0


def test_a_person_can_sign_for_tests_that_are_meant_to_fail_now(project):
    approved(project, [BREAKS, BREAKS], test_command=UNITTEST)
    build(project, "--max-iterations", "1", code=12)
    assert list(blockers(project, "review")) == ["tests_broken_1", "execution_record_incomplete"]
    ok(project, "sign", "greet", "project-tests", "--note", "bye is gone on purpose")
    assert blockers(project, "review") == {}
    ok(project, "approve", "greet", "--from", "build", "--to", "review")
    ok(project, "review", "greet")
    assert blockers(project, "done") == {}


def test_tests_that_all_fail_on_the_base_decide_nothing(project):
    approved(project, [BREAKS], test_command="python3 -m unittest no_such_module")
    said = "the project's tests already fail on the base, so they prove nothing"
    assert said in build(project).stdout
    assert said in record(project)
    assert blockers(project, "review") == {}


# `bye` works on the base, and the work removes it. The command fails on both trees.
SILENT = "python3 -c 'import hello; print(hello.bye()); hello.missing()'"


@pytest.mark.parametrize(
    "commands", [f'"{SILENT}"', f'[{{command = "{SILENT}"}}, {{command = "{UNITTEST} test_old"}}]']
)
def test_a_command_without_a_report_that_fails_before_and_now_needs_a_person(project, commands):
    prepare(project, [planner(), BREAKS], settings=f'[project]\nsource = ["hello.py"]\ntest_command = {commands}\n')
    project.write("hello.py", "def greet(name):\n    return 'hi'\n\n\ndef bye():\n    return 'bye'\n")
    project.write("test_old.py", TEST_BYE.replace("hello.bye()", "'bye'"))
    project.commit("something else, and tests without a report that fail")
    plan(project)
    ok(project, "approve", "greet", "--from", "plan", "--to", "build")
    said = "no report tells which"
    assert said in build(project).stdout
    assert said in record(project)
    found = blockers(project, "review")
    assert list(found) == ["tests_unread"]
    ways = [choice["command"] for choice in found["tests_unread"]["choices"]]
    assert (ways[0], ways[-1]) == ("loopwright build greet", "loopwright sign greet project-tests")
    assert "tests_unread" in {
        one["code"] for one in refusal(project, "autopilot", "greet", "--agent", "scripted")["blockers"]
    }
    ok(project, "sign", "greet", "project-tests", "--note", "bye is gone on purpose, and the rest failed before")
    assert blockers(project, "review") == {}


def test_a_finished_build_is_judged_again_by_a_corrected_test_command(project):
    approved(project, [{"role": "builder", "run": f"{BUILT}; {BYE}"}], test_command="exit 1")
    build(project)
    assert list(blockers(project, "review")) == ["tests_unread"]
    config = project.own / "config.toml"
    config.write_text(config.read_text().replace("exit 1", UNITTEST))
    build(project)
    assert blockers(project, "review") == {}
    assert "the work breaks none of the project's tests" in record(project)
    changed = f"project.test_command changed after the plan was approved: it was `exit 1`, and is `{UNITTEST}` now"
    assert changed in ok(project, "approve", "greet", "--from", "build", "--to", "review").stdout
    assert changed in ok(project, "review", "greet").stdout
    assert changed in (project.own / "workflows" / "greet" / "review-report.md").read_text()


def test_without_a_test_command_the_reports_say_that_nothing_checks_the_rest(project):
    approved(project, [BREAKS], test_command="")
    said = "nothing checks the rest of the project"
    assert said in build(project).stdout
    assert said in record(project)
    assert blockers(project, "review") == {}
    assert said in ok(project, "approve", "greet", "--from", "build", "--to", "review").stdout
    assert said in ok(project, "review", "greet").stdout
    assert said in (project.own / "workflows" / "greet" / "review-report.md").read_text()
    assert said in ok(project, "status", "greet").stdout
    approve = ok(project, "approve", "greet", "--from", "review", "--to", "done").stdout
    assert approve.count(said) == 1


def test_with_a_test_command_no_report_says_that_nothing_checks_the_rest(project):
    approved(project, [{"role": "builder", "run": f"{BUILT}; {BYE}"}], test_command=UNITTEST)
    said = "nothing checks the rest of the project"
    outputs = [build(project).stdout, ok(project, "approve", "greet", "--from", "build", "--to", "review").stdout]
    outputs += [ok(project, "review", "greet").stdout, ok(project, "status", "greet").stdout]
    assert not any(said in output for output in outputs)


def test_a_failed_test_of_one_command_does_not_hide_the_failure_of_another(project):
    commands = f'[{{command = "sh all.sh"}}, {{command = "{UNITTEST}"}}]'
    settings = f'[project]\nsource = ["**"]\ntest_command = {commands}\n'
    prepare(project, [planner(), BREAKS, BREAKS], settings=settings)
    project.write("hello.py", "def greet(name):\n    return 'hi'\n\n\ndef bye():\n    return 'bye'\n")
    project.write("all.sh", "exec python3 -c 'import hello; hello.bye()'\n")
    project.write("test_hello.py", TEST_BYE.replace("hello.bye()", "hello.missing()"))
    project.commit("something else, with a test that fails")
    plan(project)
    ok(project, "approve", "greet", "--from", "plan", "--to", "build")
    build(project, "--max-iterations", "1", code=12)
    assert "sh all.sh" in blockers(project, "review")["tests_broken_1"]["message"]
