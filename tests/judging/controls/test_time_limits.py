"""The time of one altered test is limited: an endless test does not keep the others from their results."""

from __future__ import annotations

import subprocess
import sys

import pytest

from loopwright.judging.controls.time_limits import with_time_limit

ENDLESS = """\
import unittest


def test_function(n=3):
    while n != 4:
        try:
            n += 2
        except BaseException:
            pass


class Tests(unittest.TestCase):
    def test_a(self):
        n = 3
        while n != 4:
            n += 2

    def test_b(self):
        self.assertEqual(2, 2)
"""


@pytest.mark.parametrize(
    "runner", [["-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no"], ["-m", "unittest", "-q"]]
)
def test_an_endless_test_fails_and_the_next_test_runs(tmp_path, runner):
    tests = ["Tests.test_a", "Tests.test_b", "test_function", "Missing.test_c"]
    (tmp_path / "test_it.py").write_bytes(with_time_limit(ENDLESS.encode(), tests, 0.05))
    done = subprocess.run(
        [sys.executable, *runner, "test_it.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    said = done.stdout + done.stderr
    assert "2 failed, 1 passed" in said or "Ran 2 tests" in said, said
    assert done.returncode == 1


# Each of these ends pytest itself, if pytest shows how the test failed.
STOPPING = """\
import sys


class Odd:
    def __repr__(self):
        raise KeyboardInterrupt


def test_odd_value():
    assert 1 == Odd()


def test_without_modules(monkeypatch):
    monkeypatch.setattr(sys, "modules", {})
    assert 1 == 2


def test_next():
    assert 1 == 2
"""


def test_a_failure_does_not_stop_the_runner(tmp_path):
    tests = ["test_odd_value", "test_without_modules", "test_next"]
    (tmp_path / "test_it.py").write_bytes(with_time_limit(STOPPING.encode(), tests, 5.0))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "3 failed" in done.stdout, done.stdout + done.stderr
