"""Commands and shell scripts get another expectation where their own text has one."""

from __future__ import annotations

import subprocess

import pytest

from loopwright.judging.controls.invert import invert
from loopwright.judging.controls.shell import invert_command


@pytest.mark.parametrize(
    ("command", "inverted"),
    [
        ("""python3 -c 'assert work.f() == 1' more""", "python3 -c 'assert work.f() == 3' more"),
        ("""A='x y' bin/python3 -I -c "assert f() == 0" é""", "A='x y' bin/python3 -I -c 'assert f() == 1' é"),
        ("cd é && node -e 'assert(f() === 1)'", "cd é && node -e 'assert(f() === 3)'"),
        ('test "$(app)" = hello', 'test "$(app)" != hello'),
        ("if [ $x -ne 0 ]; then echo no; exit 1; fi; true", "if [ $x -eq 0 ]; then echo no; exit 1; fi; true"),
        ("app; [ -f out ] || { echo no; exit 1; }", "app; [ ! -f out ] || { echo no; exit 1; }"),
        ("[[ ! -e out ]] && true", "[[  -e out ]] && true"),
        ("set -eu\n[ -n \"$x\" ]\ntrue", "set -eu\n[ -z \"$x\" ]\ntrue"),
        ("app | grep -q 'hello'", "app | grep -q 'Qzhello'"),
    ],
)  # fmt: skip
def test_a_command_expects_something_else(command, inverted):
    assert invert_command(command) == inverted


@pytest.mark.parametrize(
    "command",
    [
        "python3 x.py", "pytest tests", "python3 -c 'not python ('", "python3 -c", "'open", 'python3 -c "assert $X"',
        "[ -d out ] || mkdir out; pytest", "[ -f x ] || exit 0", "if [ -f a ]; then . a; fi; app", "[ -f a ]; app",
        "$(python3 -c 'import work'", "grep -qv x", "test -e a || test -e b",
        "echo = '['", "make check # test a = b", "python3 -c 'import work'",
    ],
)  # fmt: skip
def test_a_command_without_an_expectation_stays(command):
    assert invert_command(command) is None


@pytest.mark.parametrize("path", ["check.sh", "bin/check"])
def test_an_inverted_script_fails_with_honest_work(tmp_path, path):
    script = b'#!/bin/sh\nset -e\n# it\'s fine\n./app > out.txt\n[ "$(cat out.txt)" = hello ]\necho done\n'
    (tmp_path / "check").write_bytes(invert(path, script).source)
    (tmp_path / "app").write_text("#!/bin/sh\necho hello\n")
    (tmp_path / "app").chmod(0o700)
    assert subprocess.run(["sh", "check"], cwd=tmp_path, capture_output=True, check=False).returncode == 1
    (tmp_path / "check").write_bytes(script)
    assert subprocess.run(["sh", "check"], cwd=tmp_path, capture_output=True, check=False).returncode == 0
