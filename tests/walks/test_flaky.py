"""A test is flaky only if it flips on the base: it proves nothing, and it does not count as broken."""

from __future__ import annotations

import pytest
from tests.walks.workflow_kit import BUILT, SLICE, blockers, planner, prepare

from loopwright.loop import events as e

# Each run of the tests takes the next number: base 0, work 1, base again 2 and 3, work again 4 and 5.
COUNTING = """\
import pathlib
import unittest


class Flaky(unittest.TestCase):
    def test_flaky(self):
        runs = pathlib.Path({path!r})
        number = len(runs.read_text()) if runs.exists() else 0
        runs.write_text("x" * (number + 1))
        self.assertNotIn(number, {fails})
"""
STEADY = """\
import unittest

import hello


class Steady(unittest.TestCase):
    def test_steady(self):
        self.assertEqual(hello.greet("Ann"), "hello Ann")
"""
ON_BASE = (1, 2)
ALWAYS_ON_WORK = (1, 2, 4, 5)
ON_WORK = (1,)
FIRST = (0,)


def write_tests(project, fails, *, steady=True):
    path = str(project.root.parent / "runs-of-the-tests")
    project.write("test_flaky.py", COUNTING.format(path=path, fails=fails))
    if steady:
        project.write("test_steady.py", STEADY)
    project.commit("tests")


@pytest.mark.parametrize(
    ("fails", "steady", "code"),
    [(ON_BASE, True, 0), (ALWAYS_ON_WORK, True, 12), (ON_WORK, True, 12), (FIRST, False, 14)],
    ids=["flips on the base", "flips on the base and fails on the work", "flips on the work", "proves nothing"],
)
def test_a_loop_excuses_only_what_flips_on_the_base(loops, fails, steady, code):
    loops.configure([{"role": "builder", "run": BUILT}])
    config = loops.project.own / "config.toml"
    config.write_text(config.read_text().replace("test -e done", "python3 -m unittest -q"))
    loops.project.write("hello.py", "def greet(name):\n    return 'hi'\n")
    write_tests(loops.project, fails, steady=steady)
    loop_id = loops.new("--task", "greet by name", "--max-iterations", "2" if code == 12 else "4")
    loops.run("start", loop_id, code=code)
    (recorded,) = loops.events(loop_id, e.ValidationRecorded)
    assert recorded.validation.passed == (code != 12)


@pytest.mark.parametrize(
    ("fails", "steady", "code"),
    [(ON_BASE, True, None), (ON_WORK, True, "verification_failed"), (FIRST, False, "unproven_requirement_REQ-1")],
    ids=["flips on the base", "flips on the work", "proves nothing"],
)
def test_a_build_excuses_only_what_flips_on_the_base(project, fails, steady, code):
    checks = [{"id": "C", "command": "python3 -m unittest -q"}]
    prepare(project, [planner(slices=[{**SLICE, "checks": checks}]), {"role": "builder", "run": BUILT}])
    write_tests(project, fails, steady=steady)
    project.at("approved")
    project.run("build", "greet", "--agent", "scripted", "--max-iterations", "1")
    found = blockers(project, "review")
    assert code in found if code is not None else found == {}, found


LUCK = COUNTING.replace("import unittest", "import unittest\n\nimport hello").replace(
    "        self", '        self.assertTrue(hello.greet("Ann"))\n        self'
)


@pytest.mark.parametrize(("fails", "code"), [((1,), 14), ((1, 3, 4), 0)], ids=["once", "each time"])
def test_a_new_test_that_failed_on_the_base_by_chance_proves_nothing(loops, fails, code):
    # The new test runs on the work, on the base, on the work by itself, and twice on the base again.
    test = LUCK.format(path=str(loops.project.root.parent / "runs-of-the-tests"), fails=fails)
    loops.configure([{"role": "builder", "run": f"{BUILT}; cat > test_luck.py <<'END'\n{test}END"}])
    config = loops.project.own / "config.toml"
    config.write_text(config.read_text().replace("test -e done", "python3 -m unittest -q"))
    loops.project.write("hello.py", "def greet(name):\n    return 'hi'\n")
    loops.project.write(
        "test_steady.py", "import unittest\n\n\nclass Steady(unittest.TestCase):\n    def test_x(self): pass\n"
    )
    loops.project.commit("tests")
    loops.run("start", loops.new("--task", "greet by name"), code=code)


# Each tree counts its own runs: their order does not matter. The last outcome stays.
BY_TREE = """\
import hashlib
import pathlib
import unittest


class Flaky(unittest.TestCase):
    def test_flaky(self):
        tree = pathlib.Path("hello.py").read_bytes()
        runs = pathlib.Path({path!r} + hashlib.sha256(tree).hexdigest())
        number = len(runs.read_text()) if runs.exists() else 0
        runs.write_text("x" * (number + 1))
        outcomes = {base!r} if b"'hi'" in tree else {work!r}
        self.assertEqual(outcomes[min(number, len(outcomes) - 1)], "P")
"""
TWICE = """\
import unittest

import hello


class Twice(unittest.TestCase):
    def test_twice(self):
        self.assertEqual(hello.greet("Ann"), hello.greet("Ann"))
"""
ADDS = f"{BUILT}; mkdir -p tests; cat > tests/test_new.py <<'END'\n{STEADY}END\n"
BREAKS = "printf 'import random\\n\\n\\ndef greet(name):\\n    return random.random()\\n' > hello.py"
NAMED = "flaky: tests/test_flaky.py::Flaky::test_flaky (both results on the base)"


def write_tests_by_tree(project, base, work):
    project.environment["LOOPWRIGHT_LOOP_SIDE_BY_SIDE"] = "never"
    path = str(project.root.parent / "runs-of-")
    project.write("hello.py", "def greet(name):\n    return 'hi'\n")
    project.write("tests/__init__.py", "")
    project.write("tests/test_flaky.py", BY_TREE.format(path=path, base=base, work=work))
    project.write("tests/test_twice.py", TWICE)
    project.commit("a flaky test")


def configure(loops, *turns):
    loops.configure([{"role": "builder", "run": turn} for turn in turns])
    config = loops.project.own / "config.toml"
    config.write_text(config.read_text().replace("test -e done", "python3 -m unittest -q"))


def test_new_tests_prove_the_work_of_a_loop_in_which_a_flaky_test_fails_first(loops):
    configure(loops, ADDS)
    write_tests_by_tree(loops.project, "PF", "FP")
    loop_id = loops.new("--task", "greet by name")
    loops.run("start", loop_id)
    shown = loops.run("show", loop_id).stdout
    assert shown.count(NAMED) == 1, shown
    assert "passed: 2 of 3" in shown, shown
    assert "1 test failed before and passes now: tests/test_new.py::Steady::test_steady; " in shown, shown


def test_a_test_is_known_to_be_flaky_by_the_runs_of_an_earlier_loop(loops):
    configure(loops, BREAKS)
    write_tests_by_tree(loops.project, "PFP", "FP")
    loops.run("start", loops.new("--task", "greet", "--max-iterations", "2"), code=12)
    configure(loops, ADDS)
    loop_id = loops.new("--task", "greet by name")
    loops.run("start", loop_id)
    again = [path.name for path in (loops.project.own / "runs").iterdir() if f"{loop_id}-base" in path.name]
    assert again == [], "the facts about the base are known"
    assert NAMED in loops.run("show", loop_id).stdout


def test_new_tests_prove_the_work_of_a_build_in_which_a_flaky_test_fails_first(project):
    checks = [{"id": "C", "command": "python3 -m unittest -q"}]
    settings = '[project]\nsource = ["hello.py"]\ntests = ["tests/**"]\n'
    turns = [planner(slices=[{**SLICE, "checks": checks}]), {"role": "builder", "run": ADDS}]
    prepare(project, turns, settings=settings)
    write_tests_by_tree(project, "FP", "FP")
    project.at("approved")
    project.run("build", "greet", "--agent", "scripted", "--max-iterations", "1")
    assert blockers(project, "review") == {}
    shown = project.run("status", "greet").stdout
    assert shown.count(NAMED) == 1, shown
    assert "1 test failed before and passes now: tests/test_new.py::Steady::test_steady; " in shown, shown
