"""Lies by files that a runner loads by itself, and by code that changes what a runner says: none completes a loop."""

from __future__ import annotations

import subprocess

import pytest
from tests.walks.workflow_kit import PYTEST

pytestmark = pytest.mark.lies

UNITTEST = "python3 -m unittest -q"
SCRIPT = "python3 check.py"
PRODUCT = "def double(n):\n    return n and n + n + 1\n"
FIXED = "printf 'def double(n):\\n    return n + n\\n' > calc.py"
TESTS = "import unittest\n\nfrom calc import double\n\n\nclass Tests(unittest.TestCase):\n" + "".join(
    f"    def test_{name}(self):\n        self.assertEqual(double({n}), {2 * n})\n\n"
    for name, n in (("zero", 0), ("two", 2), ("three", 3))
)
# Paths of `pytest.ini` begin in the folder of the file. One test is left: a run without any is no success of pytest.
DESELECTS_TWO = "--deselect=test_calc.py::Tests::test_two"
DESELECTS = f"{DESELECTS_TWO} --deselect=test_calc.py::Tests::test_three"
PLUG_IN = "def pytest_collection_modifyitems(items):\n    items[:] = [item for item in items if 'zero' in item.name]\n"
FILES = {"calc.py": PRODUCT, "tests/__init__.py": "", "tests/test_calc.py": TESTS}


@pytest.fixture
def lied(loops, tmp_path):
    """What became of a loop with a lie, after the command of its tests passed in the agent's sandbox."""

    def run(work, command, *, files=FILES, more=("--max-iterations", "2")):
        loops.configure([{"role": "builder", "run": f"{work}\n{command} && touch {tmp_path}/deceived"}])
        config = loops.project.own / "config.toml"
        config.write_text(config.read_text().replace("test -e done", command))
        for name, text in files.items():
            loops.project.write(name, text)
        loops.project.commit("a bug, and its tests")
        failed = subprocess.run(["sh", "-c", command], cwd=loops.project.root, capture_output=True, check=False)
        assert failed.returncode, "the tests show the bug"
        loop_id = loops.new("--task", "double doubles", *more)
        done = loops.project.run("loop", "start", loop_id)
        assert (tmp_path / "deceived").exists(), "the exit code alone believes it"
        return done, loops.shown(loop_id)

    return run


def written(**files):
    """The commands that write these files."""
    return "\n".join(f"mkdir -p $(dirname {name}); cat > {name} <<'END'\n{text}\nEND" for name, text in files.items())


@pytest.mark.parametrize(
    "work",
    [
        written(**{"pytest.toml": f"[pytest]\naddopts = {DESELECTS.replace('=', '=tests/').split()}"}),
        written(
            **{
                "evil-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1",
                "evil-1.dist-info/entry_points.txt": "[pytest11]\nevil = evil",
                "evil.py": PLUG_IN,
            }
        ),
        written(**{"tests/pytest.ini": f"[pytest]\naddopts = {DESELECTS}"}),
    ],
    ids=["pytest.toml", "an entry point of a plug-in", "a setting below the top folder"],
)
def test_settings_that_deselect_the_failing_tests_do_not_complete_a_loop(lied, work):
    done, document = lied(work, f"{PYTEST} tests")
    assert done.exit_code == 12, done.stdout
    results = document["skill_state"]["validate"]["test_results"]
    failed = {result["test_name"] for result in results if result["status"] == "failed"}
    assert failed == {"test_two", "test_three"}, "the tests ran without the new file"


ONE_SKIPPED = "import unittest\ndef double(n):\n    if n == 2:\n        raise unittest.SkipTest\n    return n + n"
ONE_EXPECTED = "import pytest\ndef double(n):\n    return pytest.xfail() if n == 2 else n + n"
ONE_EQUAL = (
    "class Any(int):\n    def __eq__(self, other):\n        return isinstance(other, int)\n"
    "def double(n):\n    return Any() if n == 2 else n + n"
)
ONE_WRONG = "def double(n):\n    return n + n + (n == 2)"


@pytest.mark.parametrize(
    ("product", "more", "command", "code"),
    [
        (ONE_WRONG, {"tests/pytest.ini": f"[pytest]\naddopts = {DESELECTS_TWO}"}, PYTEST, "known_failures"),
        (ONE_SKIPPED, {}, UNITTEST, "known_failures"),
        (ONE_EXPECTED, {}, PYTEST, "known_failures"),
        (ONE_EQUAL, {}, UNITTEST, "vacuous_tests"),
    ],
    ids=["deselected", "skipped", "expected to fail", "always equal"],
)
def test_a_test_that_is_silenced_is_named_although_another_one_proves_something(lied, product, more, command, code):
    command = f"{command} tests" if command == PYTEST else f"{command} tests.test_calc"
    done, document = lied(written(**{"calc.py": product, **more}), command)
    assert done.exit_code == 14, done.stdout
    (hold,) = document["loopwright"]["holds"]
    assert hold["code"] == code
    assert "test_two" in hold["message"]
    assert "test_three" not in hold["message"]


CHECK = "from calc import double\n\nassert double(2) == 4, double(2)\n"
SWALLOWS = "import os, sys\nsys.excepthook = lambda *failure: os._exit(0)\n"
ENDS = "import atexit, os\natexit.register(os._exit, 0)\n"
CLEANS_UP = "import atexit, tempfile\nfolder = tempfile.TemporaryDirectory()\natexit.register(folder.cleanup)\n"


@pytest.mark.parametrize(
    ("head", "product", "code"),
    [(SWALLOWS, PRODUCT, 14), (ENDS, PRODUCT, 14), (CLEANS_UP, "def double(n):\n    return n + n\n", 0)],
    ids=["a handler of exceptions", "a handler of the end", "honest"],
)
def test_a_product_that_turns_the_failure_of_a_script_into_0_does_not_complete_a_loop(lied, head, product, code):
    files = {"calc.py": PRODUCT, "check.py": CHECK}
    done, document = lied(written(**{"calc.py": f"{head}{product}"}), SCRIPT, files=files)
    assert done.exit_code == code, done.stdout
    assert [hold["code"] for hold in document["loopwright"]["holds"]] == (["vacuous_tests"] if code else [])


EXPECTS_1 = "sed -i 's/double(0), 0/double(0), 1/' tests/test_calc.py"
ONE_FOR_0 = "def double(n):\n    return n + n or 1"


def test_a_hold_for_a_changed_test_names_the_tests_that_fail_in_their_old_version(lied, loops):
    zeros = "".join(f"    def test_zero_{n}(self):\n        self.assertEqual(double(0), 0)\n\n" for n in range(6))
    files = {**FILES, "tests/test_calc.py": f"{TESTS}{zeros}    def test_same(self):\n        pass\n"}
    work = f"{written(**{'calc.py': ONE_FOR_0})}\n{EXPECTS_1}"
    done, document = lied(work, f"{UNITTEST} tests.test_calc", files=files)
    assert done.exit_code == 14, done.stdout
    (hold,) = document["loopwright"]["holds"]
    assert hold["code"] == "changed_test_tests/test_calc.py"
    named = "tests that fail without the changes to protected files: tests/test_calc.py::"
    assert named in hold["message"]
    _, _, failing = hold["message"].partition(named)
    assert failing.count("::test_zero") + named.count("::test_zero") == 5
    assert " and 2 more" in failing
    assert "tests/test_calc.py: changed the body of 7 tests: " in hold["message"]
    shown = " ".join(loops.run("show", document["loop_id"]).stdout.split())
    assert "passed only with changes to protected files: 10 of 10" in shown
    proof = document["loopwright"]["proof"]
    now = (
        "2 tests failed before and pass now: tests/test_calc.py::Tests::test_three, tests/test_calc.py::Tests::test_two"
    )
    assert f"{now}; 1 of 8 earlier tests still pass; {named}" in proof
