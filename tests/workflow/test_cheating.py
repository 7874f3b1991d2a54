"""Checks that are broken on purpose fail, and only after they called the work."""

from __future__ import annotations

import subprocess
import sys

import pytest

from loopwright.workflow.cheating import broken, broken_command, judged_by


def run(*arguments, cwd):
    done = subprocess.run([sys.executable, *arguments], cwd=cwd, capture_output=True, check=False)
    return done.returncode


@pytest.mark.parametrize(
    "source",
    [
        "import work\nassert work.f() == 1\n",
        "import sys, work\nsys.exit(0 if work.f() == 1 else 1)\n",
        "import work\n\ndef main():\n    raise SystemExit(work.f() - 1)\n\nif __name__ == '__main__':\n    main()\n",
        "import unittest, work\n\nclass A(unittest.TestCase):\n    def test_a(self): work.f()\n\nunittest.main()\n",
    ],
)  # fmt: skip
def test_a_broken_script_fails_at_its_end_unless_the_work_exits_first(tmp_path, source):
    (tmp_path / "judge.py").write_text(source)
    (tmp_path / "work.py").write_text("def f():\n    return 1\n")
    assert run("judge.py", cwd=tmp_path) == 0
    (tmp_path / "judge.py").write_bytes(broken(source.encode()))
    assert run("judge.py", cwd=tmp_path) != 0
    (tmp_path / "work.py").write_text("import os\n\ndef f():\n    os._exit(0)\n")
    assert run("judge.py", cwd=tmp_path) == 0


def test_a_broken_test_fails_after_it_called_the_work(tmp_path):
    (tmp_path / "test_a.py").write_bytes(broken(b"import work\n\ndef test_a():\n    assert work.f() == 1\n"))
    (tmp_path / "work.py").write_text("def f():\n    return 1\n")
    assert run("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_a.py", cwd=tmp_path) == 1
    (tmp_path / "work.py").write_text("import os\n\ndef f():\n    os._exit(0)\n")
    assert run("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_a.py", cwd=tmp_path) == 0


def test_code_on_the_command_line_is_broken(tmp_path):
    made = broken_command("A='x y' python3 -c \"import sys; sys.exit(0)\" more")
    assert made is not None
    assert subprocess.run(["sh", "-c", made], cwd=tmp_path, check=False).returncode == 97


@pytest.mark.parametrize(
    "command", ["python3 x.py", "sh -c 'python3 -c 1'", "python3 -c 'not python ('", "python3 -c", "'open"]
)
def test_a_command_without_python_code_is_left_alone(command):
    assert broken_command(command) is None


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("pytest", ("t/test_a.py", "t/test_b.py")),
        ("X=1 python3 -m pytest -q t/test_a.py::test_x", ("t/test_a.py",)),
        ("python3 -m unittest t.test_b.Case", ("t/test_b.py",)),
        ("python3 check.py Ann", ("check.py",)),
        ("pytest t && true", ()),
        ("make check", ()),
        ("python3 other.py", ()),
    ],
)
def test_only_files_that_a_check_certainly_runs_are_found(command, found):
    assert judged_by(command, ("t/test_a.py", "t/test_b.py", "t/help.py", "check.py", "notes.txt")) == found


def test_invalid_python_is_left_alone():
    assert broken(b"not python (") is None
