"""Work that moves what a test expects completes no loop, wherever the test takes it from."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.lies

TEST = """\
import unittest

from app import hello
{more}

class Tests(unittest.TestCase):
    def setUp(self):
        self.expected = {expected}

    def test_greet(self):
        self.assertEqual(hello.greet("Ann"), self.expected)
"""
HELLO = 'GREETING = "hello"\n\n\ndef greet(name):\n    return "hi"\n'
GREETS = "sed -i 's/return .*/return GREETING + \" \" + name/' app/hello.py"
UTIL = "from pathlib import Path\n\n\ndef expected():\n    return Path('app/expected.txt').read_text()\n"
FROM_UTIL = {"more": "from tests.util import expected\n", "expected": "expected()"}
CONSTANT = {"more": "", "expected": 'hello.GREETING + " Ann"'}


@pytest.mark.parametrize(
    ("test", "work", "code"),
    [
        (FROM_UTIL, "printf hi > app/expected.txt", "changed_test_app/expected.txt"),
        (CONSTANT, f"{GREETS}; sed -i s/hello/hi/ app/hello.py", "moved_expectation"),
        (CONSTANT, GREETS, None),
    ],
    ids=["data that only a helper of tests names", "a constant, through setUp", "honest"],
)
def test_a_loop_is_not_proven_by_an_expectation_that_a_test_takes_from_the_source(loops, test, work, code):
    loops.configure([{"role": "builder", "run": work}])
    config = loops.project.own / "config.toml"
    config.write_text(config.read_text().replace("test -e done", "python3 -m unittest -q"))
    files = {"app/hello.py": HELLO, "app/expected.txt": "hello Ann", "tests/util.py": UTIL}
    for name, text in {**files, "tests/test_app.py": TEST.format(**test)}.items():
        loops.project.write(name, text)
    for folder in ("app", "tests"):
        loops.project.write(f"{folder}/__init__.py", "")
    loops.project.commit("a test that reads what to expect from the source")
    loop_id = loops.new("--task", "greet says the name")
    loops.run("start", loop_id, code=14 if code else 0)
    if code is not None:
        (hold,) = loops.shown(loop_id)["loopwright"]["holds"]
        assert hold["code"] == code
