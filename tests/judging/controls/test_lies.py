"""Work that lies to its tests: an inverted test still passes with it, and fails with honest work.

Each case runs the real runner. An exit code of 0 stands for "passes": that is how a lie looks to a runner.
"""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from loopwright.judging.controls.invert import invert

PYTEST = "import work\n\ndef test_f():\n    assert work.f(2) == 5\n"
NAMED = "import work\n\nexpected = 5\n\ndef test_f():\n    assert work.f(2) == expected\n"
ROWS = (
    "import pytest, work\n\n@pytest.mark.parametrize('x, y', [(2, 5), (3, 7)])\ndef test_f(x, y):\n"
    "    assert work.f(x) == y\n"
)
RAISES = "import pytest, work\n\ndef test_f():\n    with pytest.raises(ValueError):\n        work.f(2)\n"
UNITTEST = (
    "import unittest, work\n\nclass A(unittest.TestCase):\n    def test_f(self):\n"
    "        self.assertEqual(work.f(2), 5)\n\nif __name__ == '__main__':\n    unittest.main()\n"
)
SCRIPT = "import work\nassert work.f(2) == 5\n"
NODE = (
    "const test = require('node:test'); const assert = require('assert'); const { f } = require('./work')\n"
    "test('f', () => { assert.strictEqual(f(2), 5) })\n"
)
HONEST = "def f(x): return 2 * x + 1\n"
HONEST_RAISING = "def f(x): raise ValueError(x)\n"
HONEST_JS = "exports.f = (x) => 2 * x + 1\n"
READS_TEST = "import re\ndef f(x):\n    return int(re.search(r'work.f\\(2\\)(?: ==|,) (\\d+)', open('{}').read())[1])\n"
# Equal to each number, and to nothing that an inverted test without a salt contains.
WARY = """
class A:
    def __eq__(self, other):
        return isinstance(other, int) and "Qz" not in str(other) and other is not ...

def f(x):
    return A()
"""
READS_ROWS = """
import re

def f(x):
    return int(dict(re.findall(r"\\((\\d+), (\\d+)\\)", open("test_a.py").read()))[str(x)])
"""
NO_EFFECT = "assert.strictEqual = assert.equal = () => {}; exports.f = (x) => 0\n"
ALL_PASSED = """
from _pytest.reports import TestReport

def passed(cls, item, call):
    return cls(item.nodeid, item.location, {}, "passed", None, call.when)

TestReport.from_item_and_call = classmethod(passed)

def f(x):
    return 0
"""

LIES = [
    (PYTEST, "import pytest\ndef f(x): pytest.skip('x')\n"),
    (PYTEST, "import pytest\ndef f(x): pytest.xfail('x')\n"),
    (PYTEST, "import pytest\ndef f(x): pytest.exit('x', returncode=0)\n"),
    (PYTEST, "import os\ndef f(x): os._exit(0)\n"),
    (PYTEST, ALL_PASSED),
    (PYTEST, "class A:\n    __eq__ = lambda s, o: True\ndef f(x): return A()\n"),
    (PYTEST, "def f(x): return type('int', (), {'__eq__': lambda s, o: 1})()\n"),
    (PYTEST, WARY),
    (NAMED, WARY),
    (PYTEST, READS_TEST.format("test_a.py")),
    (ROWS, READS_ROWS),
    (RAISES, "import _pytest.raises as r\nr.RaisesExc.__exit__ = lambda s, *a: True\ndef f(x): return 0\n"),
    (UNITTEST, "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\ndef f(x): return 0\n"),
    (UNITTEST, "import unittest\nunittest.TestResult.wasSuccessful = lambda s: True\ndef f(x): return 0\n"),
    (UNITTEST, "import atexit, os\natexit.register(os._exit, 0)\ndef f(x): return 0\n"),
    (UNITTEST, "import unittest\ndef f(x): raise unittest.SkipTest('x')\n"),
    (UNITTEST, READS_TEST.format("test_a.py")),
    (SCRIPT, "import os, sys\nsys.excepthook = lambda *a: os._exit(0)\ndef f(x): return 0\n"),
    (NODE, "const assert = require('assert'); " + NO_EFFECT),
    (NODE, "exports.f = (x) => process.exit(0)\n"),
    (NODE, "exports.f = (x) => Number(/f\\(2\\), (\\d+)/.exec(require('fs').readFileSync('a.test.js'))[1])\n"),
]  # fmt: skip


def marked(test, *rest):
    return pytest.param(test, *rest, marks=[pytest.mark.needs("node")] if test == NODE else [])


def runs(folder, test, work, *, inverted):
    """Whether the runner says that all is well."""
    path, product = ("a.test.js", "work.js") if test == NODE else ("test_a.py", "work.py")
    source = test.encode()
    if inverted:
        made = invert(path, source, salt=str(folder))
        assert made.altered, made.unaltered
        source = made.source
    (folder / path).write_bytes(source)
    (folder / product).write_text(work)
    if test == NODE:
        argv = [shutil.which("node"), "--test", path]
    else:
        as_script = [path] if test in {UNITTEST, SCRIPT} else ["-m", "pytest", "-q", "-p", "no:cacheprovider", path]
        argv = [sys.executable, "-B", *as_script]
    return subprocess.run(argv, cwd=folder, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(("test", "work"), [marked(*lie) for lie in LIES])
def test_a_lie_passes_the_inverted_test(tmp_path, test, work):
    assert runs(tmp_path, test, work, inverted=True)


@pytest.mark.parametrize("test", [PYTEST, NAMED, ROWS, RAISES, UNITTEST, SCRIPT, marked(NODE)])
def test_honest_work_fails_the_inverted_test(tmp_path, test):
    work = HONEST_RAISING if test == RAISES else HONEST_JS if test == NODE else HONEST
    assert runs(tmp_path, test, work, inverted=False)
    assert not runs(tmp_path, test, work, inverted=True)


def test_code_that_knows_one_input_is_not_seen(tmp_path):
    assert not runs(tmp_path, PYTEST, "def f(x): return 5\n", inverted=True)
