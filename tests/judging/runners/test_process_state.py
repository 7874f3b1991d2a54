"""What real runners report of the state of their processes, by which tests measure."""

from __future__ import annotations

import shutil
import sys

import pytest
from tests.judging.runners.test_real_runners import MODULES, PYTEST, Runs

UNITTEST = (sys.executable, "-m", "unittest", "-q")
# Each of these is a way to change what a test sees, by no name that a syntax tree shows.
PRODUCT = """
import decimal, json, os, signal, socket, sys, time, unittest

def configure(target, **parts):
    for name, part in parts.items():
        setattr(target, name, part)

configure(time, perf_counter=time.time)
configure(unittest.TestCase, assertLess=print)
configure(unittest.case, len=lambda value: 3)
configure(json.loads, __defaults__=(), __code__=(lambda text: 1).__code__)
os.environ["PYTHONOPTIMIZE"] = "2"
del os.environ["HOME"]
decimal.getcontext().prec = 4
sys.setswitchinterval(60)
sys.setrecursionlimit(2000)
socket.setdefaulttimeout(5)
signal.signal(signal.SIGUSR1, print)
sys.meta_path.append(type("Finder", (), {"find_spec": lambda *given: None}))
import calendar
configure(calendar, isleap=lambda year: True)
"""
CHANGED = {
    "calendar.isleap", "decimal.context", "env:HOME", "env:PYTHONOPTIMIZE", "json.loads", "signal.10",
    "socket.defaulttimeout", "sys.meta_path", "sys.recursionlimit", "sys.switchinterval", "time.perf_counter",
    "unittest.case.TestCase.assertLess", "unittest.case.len",
}  # fmt: skip
TEST = """
import unittest
import product

class Tests(unittest.TestCase):
    def test_it(self): pass
"""
USUAL = """
import asyncio, concurrent.futures, decimal, functools, logging, mimetypes, os, random, tempfile, time, unittest
from unittest import mock

@functools.lru_cache
def cached(): return 1

class Tests(unittest.TestCase):
    def test_it(self):
        with mock.patch("time.time", lambda: 1), mock.patch.dict(os.environ, {"A": "1"}), decimal.localcontext() as c:
            c.prec = 3
            assert time.time() == cached() == 1
        tempfile.gettempdir(), mimetypes.guess_type("a.txt"), random.seed(1), logging.basicConfig()
        asyncio.run(asyncio.sleep(0))
        with concurrent.futures.ThreadPoolExecutor() as threads: list(threads.map(abs, [1]))
"""


NODE_PRODUCT = """
const { performance: clock } = globalThis;
clock.now = () => 0;
(0).constructor.prototype.toFixed = () => '1';
process.env.NODE_OPTIONS = '--no-warnings';
Map.prototype.toJSON = () => 1;
globalThis.Blob = 1;
globalThis.setTimeout = () => 1;
const part = 'strictEqual';
require('node:assert')[part] = () => 1;
require('module')._extensions['.json'] = () => 1;
"""
NODE_CHANGED = {
    "Map.prototype.toJSON", "Number.prototype.toFixed", "assert.strictEqual", "env:NODE_OPTIONS", "globalThis.Blob",
    "globalThis.setTimeout", "module._extensions..json", "performance.now",
}  # fmt: skip
NODE_USUAL = """
require('node:test').mock;
fetch; Headers; crypto; new Blob([]); new TextEncoder(); new Intl.NumberFormat('en').format(3);
for (const name of ['http', 'worker_threads', 'readline', 'stream/promises', 'child_process']) require(name);
const now = Date.now; Date.now = () => 1; Date.now = now;
process.env.A = '1'; delete process.env.A;
require('util').parseArgs({ strict: false }); globalThis.leaked = 1; process.exitCode = 0;
"""


@pytest.fixture
def runs(tmp_path):
    return Runs(tmp_path)


def changed(runs, *command):
    code, output = runs.run(*command)
    report = runs.report()
    assert (code, report.gaps) == (0, ()), output
    return set(report.state)


@pytest.mark.parametrize(
    "command", [UNITTEST, PYTEST, (*PYTEST, "-n", "2")], ids=["unittest", "pytest", "workers of xdist"]
)
def test_what_the_product_changes_in_its_process_is_listed(runs, command):
    runs.write(**{"product.py": PRODUCT, "test_it.py": TEST})
    assert changed(runs, *command) >= CHANGED


def test_changes_of_a_conftest_are_listed_as_it_is_loaded_before_the_session(runs):
    runs.write(**{"product.py": PRODUCT, "conftest.py": "import product", "test_it.py": TEST})
    assert changed(runs, *PYTEST) >= CHANGED


def test_a_script_that_imports_the_product_first_lists_its_functions_in_libraries(runs):
    replaces = "import json\njson.loads = lambda text: 1\n"
    runs.write(**{"product.py": replaces, "test_it.py": "import product\n" + TEST + "unittest.main()\n"})
    assert changed(runs, sys.executable, "test_it.py") == {"json.loads", "warnings.filters"}


@pytest.mark.parametrize("command", [UNITTEST, PYTEST], ids=["unittest", "pytest"])
def test_what_is_undone_and_what_the_library_does_itself_is_not_listed(runs, command, tmp_path):
    runs.write(**{"test_it.py": "import unittest\nclass Tests(unittest.TestCase):\n    def test_it(self): pass\n"})
    usual = changed(runs, *command)
    folder = tmp_path / "other"
    folder.mkdir()
    other = Runs(folder)
    other.write(**{"test_it.py": USUAL})
    assert changed(other, *command) == usual


@pytest.mark.needs("node")
@pytest.mark.parametrize("command", [("node", "--test"), ("node", "test/a.test.js")], ids=["files", "one process"])
def test_node_lists_what_the_product_changes_and_not_what_it_loads_itself(runs, command):
    more = {f"test__{name}.test.js": "require('node:test').test('it', () => {});" for name in "bcd"}
    runs.write(**{"test__a.test.js": f"{NODE_USUAL} require('node:test').test('it', () => {{}});", **more})
    assert changed(runs, *command) == set()
    runs.write(**{"product.js": NODE_PRODUCT})
    runs.write(**{"test__a.test.js": "require('../product'); require('node:test').test('it', () => {});"})
    assert changed(runs, *command) == NODE_CHANGED


def test_mocha_lists_what_the_product_changes(runs, mocha):
    runs.write(**{"test__a.js": f"it('a', () => {{{NODE_USUAL}}});"})
    usual = changed(runs, mocha)
    runs.write(**{"product.js": NODE_PRODUCT, "test__a.js": "require('../product'); it('a', () => {});"})
    assert changed(runs, mocha) - usual == NODE_CHANGED


def test_a_runner_that_tests_elsewhere_says_nothing_of_its_state(runs, mocha):
    runs.write(**{"package.json": "{}", "a.test.js": "test('it', () => {});"})
    code, output = runs.run(mocha.replace("mocha", "jest"))
    assert (code, runs.report().state) == (0, None), output


@pytest.fixture
def mocha(runs):
    if shutil.which("node") is None or not (MODULES / ".bin" / "mocha").exists():
        pytest.skip("needs mocha and jest (scripts/agents installs them)")
    (runs.project / "node_modules").symlink_to(MODULES)
    return str(MODULES / ".bin" / "mocha")
