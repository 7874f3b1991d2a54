"""A test that starts a program and looks at its exit code has its expectations in that program."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.lies

STARTS = """\
import subprocess
import sys
import unittest


class Tests(unittest.TestCase):
    def test_double(self):
        {body}
"""
EXIT_CODE = "self.assertEqual(subprocess.call([sys.executable, 'tests/program.py', '2']), 0)"
FAILURE = "subprocess.run('make -s double', shell=True, check=True)"
OUTPUT = "self.assertEqual(subprocess.run([sys.executable, 'tests/program.py', '2'], stdout=-1).stdout, b'4')"
PROGRAM = """\
import sys

sys.path.insert(0, ".")
from app.calc import double

print(double(int(sys.argv[1])), end="", flush=True)
assert double(2) == 4
"""
ENDS = "import argparse\n\ndef double(n):\n    argparse.ArgumentParser().exit()\n"
FIXED = "def double(n):\n    return n + n\n"


@pytest.mark.parametrize(
    ("body", "work", "code"),
    [
        (EXIT_CODE, ENDS, 14),
        # Nothing in this test can be changed, but its program can.
        (FAILURE, FIXED, 0),
        # This test passes with every expectation of its program changed, and does not look at them.
        (OUTPUT, FIXED, 0),
    ],
    ids=["ends with 0", "honest behind make", "honest, by its output"],
)
def test_a_test_that_starts_a_program_proves_work_only_if_the_program_can_fail(loops, body, work, code):
    loops.configure([{"role": "builder", "run": f"cat > app/calc.py <<'END'\n{work}END\n"}])
    config = loops.project.own / "config.toml"
    text = config.read_text().replace("test -e done", "python3 -m unittest -q").replace('"**"', '"app/**"')
    config.write_text(text)
    files = {
        "app/__init__.py": "",
        "app/calc.py": "def double(n):\n    return n\n",
        "tests/__init__.py": "",
        "tests/test_double.py": STARTS.format(body=body),
        "tests/program.py": PROGRAM,
        "Makefile": "double:\n\tpython3 tests/program.py 2\n",
    }
    for name, content in files.items():
        loops.project.write(name, content)
    loops.project.commit("a test that starts a program")
    loop_id = loops.new("--task", "double doubles")
    loops.run("start", loop_id, code=code)
    assert loops.holds(loop_id) == ([("proof", "vacuous_tests")] if code else [])
