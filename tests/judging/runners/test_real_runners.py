"""Real test runners, asked for results per test by variables alone, and read as in a run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from loopwright.judging.reports.find import find_test_reports
from loopwright.judging.reports.read import read_test_reports
from loopwright.judging.runners.sessions import read_report
from loopwright.judging.runners.support_files import install_support
from loopwright.judging.runners.table import FALLBACKS, SELECTION, reporting_variables

PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
MODULES = Path(__file__).resolve().parents[3] / ".cache" / "agents" / "node_modules"


class Runs:
    """A project, and the reports of the commands that ran in it."""

    def __init__(self, folder):
        self.project, self.support, self.reports = folder / "project", folder / "support", folder / "reports"
        for part in (self.project, self.reports):
            part.mkdir()
        install_support(self.support)

    def write(self, **files):
        for name, text in files.items():
            path = self.project / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def run(self, *command, without=FALLBACKS, **variables):
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        environment = {**kept, "PYTHONDONTWRITEBYTECODE": "1", **variables}
        environment |= reporting_variables(self.support, self.reports, environment, without)
        done = subprocess.run(command, cwd=self.project, env=environment, capture_output=True, check=False, text=True)
        return done.returncode, done.stdout + done.stderr

    def report(self):
        own, junit = read_report(self.reports, (self.project,)), find_test_reports(self.project, "", 0)
        return read_test_reports(junit, own) if junit.paths else own

    def statuses(self):
        report = self.report()
        assert not report.gaps
        return {result.id: result.status for result in report.results}


@pytest.fixture
def runs(tmp_path):
    return Runs(tmp_path)


PYTHON_TESTS = """
import subprocess, sys, unittest, pytest

def test_passes(): pass
def test_fails(): assert 1 == 2
@pytest.mark.skip(reason="not today")
def test_skipped(): pass
@pytest.mark.xfail
def test_expected(): assert False
@pytest.mark.xfail
def test_unexpected(): pass
@pytest.mark.xfail(strict=True)
def test_strict(): pass
@pytest.fixture
def broken():
    yield
    raise RuntimeError("in the teardown")
def test_teardown(broken): pass
class TestGroup:
    @pytest.mark.parametrize("value", ["a b", "x::y[1]"])
    def test_parameters(self, value): pass
class Case(unittest.TestCase):
    def test_parts(self):
        for number in range(3):
            with self.subTest(number=number): self.assertNotEqual(number, 1)
def test_runners_in_a_test_are_part_of_the_test(tmp_path):
    (tmp_path / "test_inner.py").write_text("def test_inner(): assert 0")
    assert subprocess.run([sys.executable, "-m", "pytest", str(tmp_path)]).returncode == 1
    assert pytest.main([str(tmp_path)]) == 1
    inner = type("Inner", (unittest.TestCase,), {"test_inner": lambda self: self.fail()})
    unittest.defaultTestLoader.loadTestsFromTestCase(inner)(unittest.TestResult())
"""
PYTHON_STATUSES = {
    "tests/test_broken.py": "failed",
    "tests/test_it.py::test_passes": "passed",
    "tests/test_it.py::test_fails": "failed",
    "tests/test_it.py::test_skipped": "skipped",
    "tests/test_it.py::test_expected": "xfailed",
    "tests/test_it.py::test_unexpected": "xpassed",
    "tests/test_it.py::test_strict": "failed",
    "tests/test_it.py::test_teardown": "failed",
    "tests/test_it.py::TestGroup::test_parameters[a b]": "passed",
    "tests/test_it.py::TestGroup::test_parameters[x::y[1]]": "passed",
    "tests/test_it.py::Case::test_parts": "failed",
    "tests/test_it.py::test_runners_in_a_test_are_part_of_the_test": "passed",
}


@pytest.mark.parametrize(
    ("options", "variables"),
    [
        (("-p", "no:junitxml", "-W", "error"), {}),
        (("-n", "2", "--junitxml=junit.xml"), {}),
        ((), {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-p no:terminal"}),
    ],
    ids=["without JUnit", "xdist and a report of its own", "without plugins"],
)
def test_pytest_reports_each_test_in_spite_of_a_file_that_cannot_be_imported(runs, options, variables):
    runs.write(**{"tests__test_it.py": PYTHON_TESTS, "tests__test_broken.py": "import nothing_here"})
    code, output = runs.run(*PYTEST, *options, **variables)
    assert code == 1, output
    assert runs.statuses() == PYTHON_STATUSES
    assert runs.report().runners == (f"pytest {pytest.__version__}",)
    failed = next(result for result in runs.report().results if result.test_name == "test_fails")
    assert failed.error_message == "assert 1 == 2"
    assert "def test_fails()" in failed.stack_trace


def test_two_calls_of_pytest_below_two_folders_are_one_report(runs):
    runs.write(**{"a__test_it.py": "def test_it(): pass", "b__test_it.py": "def test_it(): assert 0"})
    runs.write(**{"a__pytest.ini": "[pytest]", "b__pytest.ini": "[pytest]"})
    runs.run("sh", "-c", 'for each in a b; do (cd $each && "$@"); done', "-", *PYTEST)
    assert runs.statuses() == {"a/test_it.py::test_it": "passed", "b/test_it.py::test_it": "failed"}


@pytest.mark.parametrize(
    ("test", "gap"),
    [
        ("import os; os._exit(0)", "pytest ended before its report was complete"),
        ("import pytest; pytest.exit('enough', returncode=0)", "pytest ended early: interrupted: "),
    ],
    ids=["process ended", "session ended"],
)
def test_a_run_of_pytest_that_ends_early_is_not_complete(runs, test, gap):
    runs.write(**{"test_it.py": f"def test_first(): pass\ndef test_it(): {test}\ndef test_later(): pass"})
    runs.run(*PYTEST)
    report = runs.report()
    assert "test_it.py::test_first" in {result.id for result in report.results}
    (found,) = report.gaps
    assert found.startswith(gap)
    assert not report.is_complete


@pytest.mark.parametrize("without", [FALLBACKS, frozenset()], ids=["plugin", "JUnit as fallback"])
def test_a_python_that_ignores_its_path_runs_as_usual(runs, without):
    runs.write(**{"test_it.py": "def test_it(): pass"})
    isolated = (sys.executable, "-I", *PYTEST[1:])
    code, output = runs.run(*isolated, without=without)
    assert code == 0, output
    assert [result.test_name for result in runs.report().results] == ([] if without else ["test_it"])


UNITTESTS = """
import unittest

class Results(unittest.TestCase):
    def test_passes(self): pass
    def test_fails(self): self.assertEqual(1, 2)
    @unittest.skip("later")
    def test_skipped(self): pass
    @unittest.expectedFailure
    def test_expected(self): self.fail()
    @unittest.expectedFailure
    def test_unexpected(self): pass
    def test_parts(self):
        for number in range(3):
            with self.subTest(number=number): self.assertNotEqual(number, 1)

class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise RuntimeError("no")
    def test_never(self): pass

class Quiet(unittest.TextTestResult):
    def addSuccess(self, test): pass

if __name__ == "__main__":
    unittest.main(testRunner=unittest.TextTestRunner(resultclass=Quiet))
"""
UNITTEST_STATUSES = {
    "tests/test_it.py::Results::test_passes": "passed",
    "tests/test_it.py::Results::test_fails": "failed",
    "tests/test_it.py::Results::test_skipped": "skipped",
    "tests/test_it.py::Results::test_expected": "xfailed",
    "tests/test_it.py::Results::test_unexpected": "failed",
    "tests/test_it.py::Results::test_parts": "failed",
}


@pytest.mark.parametrize(
    ("command", "others"),
    [
        (("-m", "unittest", "discover", "-s", "tests"), {"setUpClass (test_it.Broken)", "test_nope"}),
        (("tests/test_it.py",), {"setUpClass (__main__.Broken)"}),
    ],
    ids=["discover", "script with its own result class"],
)
def test_unittest(runs, command, others):
    runs.write(**{"tests__test_it.py": UNITTESTS, "tests__test_nope.py": "import nothing_here"})
    code, output = runs.run(sys.executable, *command)
    assert code == 1, output
    assert runs.statuses() == UNITTEST_STATUSES | dict.fromkeys(others, "failed")


@pytest.mark.parametrize("command", [(*PYTEST, "-x"), (sys.executable, "-m", "unittest", "--failfast")])
def test_the_first_failure_does_not_end_a_run(runs, command):
    runs.write(**{"test_it.py": UNITTESTS})
    runs.run(*command)
    report = runs.report()
    assert report.gaps == ()
    assert len(report.results) > 5


def test_a_unittest_run_that_ends_early_is_not_complete(runs):
    runs.write(**{"test_it.py": UNITTESTS.replace("self.assertEqual(1, 2)", "__import__('os')._exit(0)")})
    runs.run(sys.executable, "-m", "unittest")
    assert runs.report().gaps == ("unittest ended before its report was complete",)


def test_the_user_s_own_sitecustomize_and_path_are_kept(runs):
    runs.write(**{"own__sitecustomize.py": "import sys; sys.marked = 'yes'", "own__helper.py": ""})
    runs.write(**{"test_it.py": "import sys, helper\ndef test_it(): assert sys.marked == 'yes'"})
    code, output = runs.run(*PYTEST, PYTHONPATH=str(runs.project / "own"))
    assert code == 0, output
    assert runs.statuses() == {"test_it.py::test_it": "passed"}


NODE_TESTS = """
const { test, describe, it } = require('node:test');
test('top', () => {});
describe('outer', () => {
  describe('deep', () => {
    it('fails', () => { throw new Error('\\u001b[31mred\\u001b[0m'); });
    it.skip('later', () => {});
    it.todo('planned', () => { throw new Error('not yet'); });
  });
});
"""


@pytest.mark.needs("node")
def test_node_s_own_runner_reports_files_and_prints_as_usual(runs):
    runs.write(**{"test__a.test.js": NODE_TESTS, "test__b.test.js": "require('node:test').test('top', () => {});"})
    runs.write(**{"test__c.test.js": "throw new Error('can not be loaded')"})
    code, output = runs.run("node", "--test", "test/")
    _, usual = runs.run("node", "--test", "test/", without=FALLBACKS | {"node-test", "node"})
    assert code == 1, output
    assert {line for line in usual.splitlines() if line.startswith("# ")} - set(output.splitlines()) <= {
        line for line in usual.splitlines() if line.startswith("# duration")
    }
    assert runs.statuses() == {
        "test/a.test.js::top": "passed",
        "test/a.test.js::outer > deep::fails": "failed",
        "test/a.test.js::outer > deep::later": "skipped",
        "test/a.test.js::outer > deep::planned": "xfailed",
        "test/b.test.js::top": "passed",
        "test/c.test.js": "failed",
    }
    failed = next(result for result in runs.report().results if result.test_name == "fails")
    assert failed.error_message == "red"


@pytest.mark.needs("node")
def test_a_reporter_of_the_user_s_own_is_what_the_drop_rule_is_for(runs):
    runs.write(**{"a.test.js": "require('node:test').test('top', () => {});"})
    command = ("node", "--test", "--test-reporter=tap", "a.test.js")
    assert runs.run(*command)[0] != 0
    assert runs.run(*command, without=FALLBACKS | {"node-test"})[0] == 0


JEST_LIKE = """
describe('outer', () => {
  test('passes', () => {});
  test('fails', () => { expect(1).toBe(2); });
  test.skip('later', () => {});
  test.todo('planned');
});
"""
OUTER = {"outer::passes": "passed", "outer::fails": "failed", "outer::later": "skipped", "outer::planned": "skipped"}


@pytest.fixture
def modules(runs):
    if shutil.which("node") is None or not (MODULES / ".bin" / "vitest").exists():
        pytest.skip("needs mocha, jest and vitest (scripts/agents installs them)")
    (runs.project / "node_modules").symlink_to(MODULES)
    return MODULES / ".bin"


def test_jest(runs, modules):
    runs.write(**{"package.json": '{"jest": {"reporters": ["<rootDir>/own.js"]}}'})
    runs.write(**{"own.js": "module.exports = class { onRunComplete() { console.log('own reporter'); } };"})
    runs.write(**{"a.test.js": JEST_LIKE, "b.test.js": "throw new Error('can not be loaded')"})
    code, output = runs.run(str(modules / "jest"), "--bail")
    assert (code, "own reporter" in output) == (1, True), output
    expected = {f"a.test.js::{name}": status for name, status in OUTER.items()}
    assert runs.statuses() == expected | {"b.test.js": "failed"}
    assert runs.report().runners[0].startswith("jest ")


@pytest.mark.needs("node")
def test_a_module_that_looks_like_a_runner_is_loaded_as_it_is(runs):
    # jest 29 has such a module; it has no prototype.
    runs.write(**{"runner.js": "module.exports = async () => 1", "main.js": "console.log(typeof require('./runner'))"})
    assert runs.run("node", "main.js") == (0, "function\n")


def test_vitest(runs, modules):
    names = "import { describe, expect, test } from 'vitest';"
    runs.write(**{"a.test.mjs": names + JEST_LIKE, "b.test.mjs": "throw new Error('can not be loaded')"})
    code, output = runs.run(str(modules / "vitest"), "run", "--bail=1")
    assert (code, "1 passed" in output) == (1, True), output
    expected = {f"a.test.mjs::{name}": status for name, status in OUTER.items()}
    assert runs.statuses() == expected | {"b.test.mjs": "failed"}
    assert runs.report().runners[0].startswith("vitest ")


def test_mocha_with_the_reporter_that_the_command_names(runs, modules):
    tests = JEST_LIKE.replace("test.todo('planned')", "it('planned')").replace("test", "it")
    runs.write(**{"test__a.js": tests.replace("expect(1).toBe(2)", "throw new Error('not equal')")})
    code, output = runs.run(str(modules / "mocha"), "--reporter", "dot", "--bail")
    assert (code, "1 passing" in output) == (1, True), output
    assert runs.statuses() == {f"test/a.js::{name}": status for name, status in OUTER.items()}
    assert runs.report().runners[0].startswith("mocha ")


TWO_FILES = {
    "tests__test_one.py": "import unittest\nclass One(unittest.TestCase):\n    def test_one(self): pass\n",
    "tests__test_two.py": (
        "import unittest\nclass Two(unittest.TestCase):\n"
        "    @classmethod\n    def setUpClass(cls): raise RuntimeError('of another file')\n"
        "    def test_two(self): self.fail()\n"
    ),
}


@pytest.mark.parametrize(
    "command",
    [
        PYTEST,
        (*PYTEST, "-n", "2"),
        (*PYTEST, "tests/test_two.py", "tests/test_one.py"),
        ("python3", "-m", "unittest", "discover", "tests"),
    ],
    ids=["pytest", "xdist", "named files", "unittest"],
)
def test_selected_files_run_by_themselves(runs, command):
    runs.write(**TWO_FILES)
    (runs.reports / SELECTION).write_text(json.dumps(["tests/test_one.py"]))
    code, output = runs.run(*command)
    assert (code, runs.statuses()) == (0, {"tests/test_one.py::One::test_one": "passed"}), output


@pytest.mark.parametrize(
    "command",
    [PYTEST, (*PYTEST, "-n", "2"), (*PYTEST, "tests")],
    ids=["pytest", "xdist", "folder"],
)
@pytest.mark.parametrize("package", ["", "import tests.test_one"], ids=["folder", "package"])
def test_other_files_are_not_even_imported(runs, command, package):
    two = "open('imported', 'w').close()\n" + TWO_FILES["tests__test_two.py"]
    runs.write(**{**TWO_FILES, "tests__test_two.py": two, "tests__deep__test_three.py": two, "tests__conftest.py": ""})
    if package:
        for name in ("tests", "tests/deep"):
            (runs.project / name / "__init__.py").write_text(f"{package}\n")
    (runs.reports / SELECTION).write_text(json.dumps(["tests/test_one.py"]))
    code, output = runs.run(*command)
    assert (code, runs.statuses()) == (0, {"tests/test_one.py::One::test_one": "passed"}), output
    assert not (runs.project / "imported").exists()


@pytest.mark.parametrize("named", ["tests/test_two.py", "tests/test_two.py::Two", "tests/test_two.py::Two::test_two"])
def test_a_call_without_a_selected_test_does_not_end_a_recipe(runs, named):
    runs.write(**TWO_FILES)
    (runs.reports / SELECTION).write_text(json.dumps(["tests/test_one.py"]))
    python = " ".join(PYTEST)
    code, output = runs.run("sh", "-ec", f"{python} {named}; {python} tests/test_one.py")
    assert (code, runs.statuses()) == (0, {"tests/test_one.py::One::test_one": "passed"}), output
