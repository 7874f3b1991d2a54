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
