"""Results of the base are used again while nothing that they depend on changed, and while their evidence verifies."""

from __future__ import annotations

import json

from tests.walks.workflow_kit import BUILT, CHECK, SLICE, blockers, ok, plan, planner, prepare, status

UNITTEST = "python3 -m unittest -q"
TEST = """\
import unittest

from calc import double


class Tests(unittest.TestCase):
    def test_double(self):
        self.assertEqual(double(2), 4)
"""
FIXED = "printf 'def double(n):\\n    return n + n\\n' > calc.py"


def runs(project, kind):
    """The runs of this kind, oldest first."""
    entries = map(json.loads, (project.own / "runs.journal.ndjson").read_text().splitlines())
    return [
        entry["data"]["run_id"]
        for entry in entries
        if entry["kind"] == "run.recorded" and entry["data"]["run_id"].endswith(f"-{kind}" if kind else "")
    ]


def controls(project):
    """The runs of checks on the base."""
    return [run for run in runs(project, "") if "-control" in run]


def fixed(loops):
    """A new loop that fixes the bug; the record of its run on the work."""
    loop_id = loops.new("--task", "double doubles")
    loops.run("start", loop_id)
    assert loops.shown(loop_id)["status"] == "completed"
    run_id = runs(loops.project, "validate")[-1]
    return json.loads((loops.project.own / "runs" / run_id / "evidence.json").read_text())


def test_loops_share_the_results_of_their_base_until_something_changes(loops):
    project = loops.project
    loops.configure([{"role": "builder", "run": FIXED}] * 5)
    config = project.own / "config.toml"
    config.write_text(config.read_text().replace("test -e done", UNITTEST))
    project.write("calc.py", "def double(n):\n    return 0\n")
    project.write("test_calc.py", TEST)
    project.commit("a bug, and a test")

    first, second = fixed(loops), fixed(loops)
    (base,) = runs(project, "base-tests")
    assert first["base_run"] == second["base_run"] == base, "the evidence names the run on the base"
    needed = project.run("gc", "--keep", "0", "--json").json()["needed"]
    assert {base, second["run_id"]} <= needed.keys(), "gc keeps what a kept run was compared with"
    assert project.run("verify").exit_code == 0

    with (project.own / "runs" / base / "evidence.json").open("a") as file:
        file.write("\n")
    assert fixed(loops)["base_run"] == runs(project, "base-tests")[1] != base, "its evidence does not verify"

    project.environment["LANG"] = "en_GB.UTF-8"
    assert fixed(loops)["base_run"] == runs(project, "base-tests")[2], "the tests see another variable"

    project.write("README", "another base\n")
    project.commit("more")
    assert fixed(loops)["base_run"] == runs(project, "base-tests")[3]


def test_a_build_runs_a_command_once_on_the_base_if_check_and_project_share_it(project):
    settings = f"[loop]\ntest_command = {json.dumps(CHECK)}\n"
    prepare(project, [planner(), {"role": "builder", "run": BUILT}], settings=settings)
    plan(project)
    ok(project, "approve", "greet", "--from", "plan", "--to", "build")
    ok(project, "build", "greet", "--agent", "scripted")
    assert runs(project, "base-tests") == [], "the control of the check says it already"
    assert len(runs(project, "validate")) == 1, "the check says it already of the work, too"
    evidence = json.loads((project.own / "runs" / runs(project, "validate")[0] / "evidence.json").read_text())
    assert evidence["base_run"] in controls(project)
    altered = [record for name in runs(project, "") if (record := project.evidence(name)).get("control")]
    assert altered
    assert {record["base_run"] for record in altered} == {evidence["base_run"]}
    assert all(record["scope"] == evidence["scope"] for record in altered), "they are runs on the work, too"
    before = controls(project)
    ok(project, "build", "greet", "--agent", "scripted")
    assert controls(project) == before, "nothing changed since"
    assert status(project)["stage"]
    assert project.run("verify").exit_code == 0


NEW_TEST = """\
import unittest

from hello import greet


class Greets(unittest.TestCase):
    def test_greet(self):
        self.assertEqual(greet("Ann"), "hello Ann")
"""
OLD_TESTS = f"""\
{NEW_TEST}
    def test_twice(self):
        self.assertEqual(greet("Ann"), greet("Ann"))
"""


def test_a_build_with_a_new_test_runs_a_shared_command_once_with_it_and_once_without_it(project):
    slices = [{**SLICE, "checks": [{"id": "C", "command": UNITTEST}]}]
    adds = f"cat > tests/test_new.py <<'END'\n{NEW_TEST}END\n"
    turns = [{"role": "builder", "run": adds}, {"role": "builder", "run": BUILT}]
    settings = f'[project]\nsource = ["hello.py"]\ntests = ["tests/**"]\ntest_command = "{UNITTEST}"\n'
    prepare(project, [planner(slices=slices), *turns], settings=settings)
    project.write("tests/__init__.py", "")
    project.write("tests/test_old.py", OLD_TESTS)
    project.commit("two tests; one fails")
    plan(project)
    ok(project, "approve", "greet", "--from", "plan", "--to", "build")
    assert project.run("build", "greet", "--agent", "scripted", "--max-iterations", "1").exit_code == 12
    refused = [run for run in runs(project, "") if "-control" not in run]
    assert [run.endswith("-validate") for run in refused] == [True], "the new test fails: no other run matters"

    ok(project, "build", "greet", "--agent", "scripted")
    accepted = [run for run in runs(project, "") if "-control" not in run and run not in refused]
    kinds = ("validate", "earlier-tests", "new-tests-on-base", "broken-judges", "probed-tests")
    # Earlier tests are inverted without the new test, and the new test with the others: far from what they expect, and
    # near. Then each assertion of the earlier tests of the project is tried, on both trees.
    ran = (*kinds[:3], *(4 * ["broken-judges"]), "probed-tests", "probed-tests")
    assert [[kind for kind in kinds if kind in run] for run in accepted] == [[kind] for kind in ran]
    assert blockers(project, "review") == {}
    (claim,) = (one for one in status(project)["evidence_chain"] if one["claim"] == "the rest still works")
    assert "the work breaks none of the project's tests" in claim["basis"]
    assert project.run("verify").exit_code == 0


# Waits for a second run of itself, then needs what only one of the two can have.
MEETS = """\
touch {shared}/in-$$
until [ $(ls {shared} | grep -c in-) -ge 2 ]; do sleep 0.02; done
mkdir {shared}/port 2> /dev/null || {{ touch {shared}/busy; exit 1; }}
until [ -e {shared}/busy ]; do sleep 0.02; done
rmdir {shared}/port
python3 -m unittest -q
"""


def test_base_and_work_run_side_by_side_and_a_run_that_the_other_disturbed_runs_again(loops):
    project = loops.project
    shared = project.root.parent / "shared"
    shared.mkdir()
    project.environment["LOOPWRIGHT_LOOP_SIDE_BY_SIDE"] = "always"
    loops.configure([{"role": "builder", "run": FIXED}])
    config = project.own / "config.toml"
    config.write_text(config.read_text().replace("test -e done", "timeout 100 sh check.sh"))
    project.write("check.sh", MEETS.format(shared=shared))
    project.write("calc.py", "def double(n):\n    return 2 * n\n")
    project.write("test_calc.py", TEST)
    project.commit("nothing is wrong")
    loop_id = loops.new("--task", "another way to double")
    loops.run("start", loop_id, code=14)
    assert loops.holds(loop_id) == [("proof", "unproven")], "the disturbed run does not count"
    assert len(runs(project, "")) > 2


def test_a_test_that_failed_next_to_another_run_still_proves_the_work(loops):
    project = loops.project
    project.environment["LOOPWRIGHT_LOOP_SIDE_BY_SIDE"] = "always"
    loops.configure([{"role": "builder", "run": FIXED}])
    config = project.own / "config.toml"
    config.write_text(config.read_text().replace("test -e done", "python3 -m unittest -q"))
    project.write("calc.py", "def double(n):\n    return n\n")
    project.write("test_calc.py", f"{TEST}\n    def test_none(self):\n        self.assertEqual(double(0), 0)\n")
    project.commit("one of two tests of a file fails")
    loop_id = loops.new("--task", "double doubles")
    loops.run("start", loop_id)
    assert loops.shown(loop_id)["loopwright"]["proofs"]["T-1"]["grade"] == "proven"
