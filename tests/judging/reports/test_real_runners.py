"""Fresh reports of real test runners, found and read as in a loop."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from loopwright.judging.reports.find import find_test_reports
from loopwright.judging.reports.numbers import moment_before_run
from loopwright.judging.reports.read import read_test_reports

PYTHON_TESTS = """
import os, signal, pytest

def test_passes(): pass

def test_fails(): assert "\\x1b[31mred\\x00" == "größe"

@pytest.mark.skip(reason="not today")
def test_skipped(): pass

@pytest.mark.xfail
def test_expected(): assert False

@pytest.fixture
def broken():
    yield
    raise RuntimeError("in the teardown")

def test_teardown(broken): pass

class TestGroup:
    @pytest.mark.parametrize("value", ["a b", "<&>"])
    def test_parameters(self, value): print("\\x1b[1mout")
"""

NODE_TESTS = """
const { test, describe, it } = require('node:test');
const assert = require('node:assert');
test('top', () => {});
describe('outer', () => {
  describe('deep', () => {
    it('fails', () => { throw new Error('\\u001b[31mred\\u001b[0m & <b>'); });
    it.skip('later', () => {});
  });
});
"""


def run(folder, *command):
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTEST_ADDOPTS", None)
    # node's runner detects a parent test run by these variables, and pytest's workers set theirs.
    environment = {key: value for key, value in environment.items() if not key.startswith(("NODE_", "PYTEST_"))}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)


@pytest.mark.parametrize("family", ["xunit1", "xunit2"])
def test_pytest_itself(tmp_path, family):
    (tmp_path / "pytest.ini").write_text(f"[pytest]\njunit_family={family}\njunit_logging=all\n")
    (tmp_path / "test_it.py").write_text(PYTHON_TESTS, encoding="utf-8")
    moment = moment_before_run(tmp_path)
    done = run(tmp_path, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=junit.xml")
    assert done.returncode == 1, done.stdout
    report = read_test_reports(find_test_reports(tmp_path, "", moment))
    assert {(one.suite, one.test_name): one.status for one in report.results} == {
        ("test_it", "test_passes"): "passed",
        ("test_it", "test_fails"): "failed",
        ("test_it", "test_skipped"): "skipped",
        ("test_it", "test_expected"): "skipped",
        ("test_it", "test_teardown"): "failed",
        ("test_it.TestGroup", "test_parameters[a b]"): "passed",
        ("test_it.TestGroup", "test_parameters[<&>]"): "passed",
    }
    assert not report.gaps
    assert report.pass_rate == 60
    assert report.failed_tests == ("test_fails", "test_teardown")
    failed = next(one for one in report.results if one.test_name == "test_fails")
    assert "größe" in failed.error_message
    assert "def test_fails()" in failed.stack_trace


def test_pytest_that_finds_a_syntax_error_reports_a_failed_test(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_it.py").write_text("def broken(:\n")
    moment = moment_before_run(tmp_path)
    run(tmp_path, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=out/x.xml")
    report = read_test_reports(find_test_reports(tmp_path, "out/*.xml", moment))
    assert [(one.test_name, one.status) for one in report.results] == [("test_it", "failed")]
    assert "SyntaxError" in report.results[0].stack_trace


@pytest.mark.needs("node")
def test_nodes_own_runner_which_writes_raw_control_characters(tmp_path):
    (tmp_path / "it.test.js").write_text(NODE_TESTS)
    moment = moment_before_run(tmp_path)
    flags = ("--test-reporter=junit", "--test-reporter-destination=junit.xml")
    done = run(tmp_path, "node", *flags, "it.test.js")
    assert done.returncode == 1, done.stderr
    report = read_test_reports(find_test_reports(tmp_path, "junit.xml", moment))
    assert [(one.suite, one.test_name, one.status) for one in report.results] == [
        ("test", "top", "passed"),
        ("outer > deep", "fails", "failed"),
        ("outer > deep", "later", "skipped"),
    ]
    assert report.results[1].error_message == "red & <b>"
    assert "it.test.js" in report.results[1].stack_trace
    assert not report.gaps
