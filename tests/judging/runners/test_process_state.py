"""What real runners report of the state of their processes, by which tests measure."""

from __future__ import annotations

import shutil
import sys
import venv

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


MANY = "import os\nfor number in range(%s): os.environ[f'A{number:05}'] = '1'\n"
MANY_NODE = "for (let number = 0; number < %s; number++) process.env[`A${String(number).padStart(5, '0')}`] = '1';\n"


@pytest.mark.parametrize(("count", "is_whole"), [(250, True), (30_000, False)])
def test_many_changes_do_not_hide_the_others(runs, count, is_whole):
    runs.write(**{"product.py": PRODUCT, "test_it.py": MANY % count + TEST})
    found = changed(runs, *UNITTEST)
    assert (("left-out" in found), found >= CHANGED) == (not is_whole, is_whole)


@pytest.mark.needs("node")
@pytest.mark.parametrize(("count", "is_whole"), [(250, True), (30_000, False)])
def test_many_changes_do_not_hide_the_others_in_node(runs, count, is_whole):
    test = "require('./product.js'); require('node:test')('it', () => {});\n"
    runs.write(**{"product.js": NODE_PRODUCT, "it.test.js": MANY_NODE % count + test})
    found = changed(runs, "node", "--test")
    assert (("left-out" in found), found >= NODE_CHANGED) == (not is_whole, is_whole)


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


# A package that is installed where the project can't change it.
PACKAGE = """
import os, sys, time, warnings

def start():
    time.monotonic = lambda: 0.0

def _quiet(*given, **named): return 0.0

os.environ["PACKAGE"] = "1"
sys.setrecursionlimit(3000)
warnings.showwarning = _quiet
setattr(time, "ctime", lambda seconds=0: "now")
"""
LATER = "import os\nos.environ['LATER'] = '1'\n"
WARNS = "import warnings\nwarnings.warn('old', UserWarning, stacklevel=2)\n"


@pytest.fixture
def python(runs, tmp_path):
    """A Python with this package and one that loads a plug-in of the project."""
    folder = tmp_path / "installed"
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for name, text in {"package": PACKAGE, "later": LATER, "host": "import plugin\n", "warns": WARNS}.items():
        (site / f"{name}.py").write_text(text)
    return str(folder / "bin" / "python")


@pytest.mark.parametrize(
    ("product", "names"),
    [
        ("import package", set()),
        ("from package import start", set()),
        ("import package, later", set()),
        ("import package; package.start()", {"time.monotonic"}),
        ("import os; os.environ['PACKAGE'] = '2'; import package", {"env:PACKAGE"}),
        ("import package, time; time.perf_counter = package._quiet; import later", {"time.perf_counter"}),
        ("import package, time; time.ctime = package._quiet", {"time.ctime"}),
        ("import host", {"time.perf_counter"}),
        ("import sys; sys.path.insert(0, 'site-packages'); import own", {"time.perf_counter"}),
    ],
)
def test_what_an_installed_package_changes_while_it_is_imported_is_no_state_of_the_work(runs, python, product, names):
    lie = "import time\ntime.perf_counter = lambda: 0.0\n"
    runs.write(**{"product.py": product + "\n", "test_it.py": TEST, "plugin.py": lie, "site-packages__own.py": lie})
    assert changed(runs, python, "-m", "unittest", "-q") == names | {"warnings.filters"}


def test_a_package_that_warns_while_it_is_imported_still_names_the_file_that_imports_it(runs, python):
    checks = "import unittest, warnings\nclass Tests(unittest.TestCase):\n    def test_it(self):\n"
    checks += "        with warnings.catch_warnings(record=True) as found: import warns\n"
    runs.write(**{"test_it.py": f"{checks}        self.assertEqual(found[0].filename, __file__)\n"})
    changed(runs, python, "-m", "unittest", "-q")


def test_typing_extensions_is_free(runs):
    runs.write(**{"product.py": "import msgspec, typing_extensions\n", "test_it.py": TEST})
    for command in (UNITTEST, PYTEST):
        assert not [name for name in changed(runs, *command) if name.startswith("typing.")]


# Each of these replaces what a reporter could use. None of them is asked, and each is listed.
PYTHON_TRAPS = [
    ("builtins", "sorted"), ("builtins", "isinstance"), ("builtins", "repr"), ("builtins", "open"), ("json", "dumps"),
    ("json.encoder", "encode_basestring_ascii"), ("os", "getcwd"), ("os", "write"), ("os", "open"), ("os", "getpid"),
    ("os._Environ", "__iter__"), ("sys", "getrecursionlimit"), ("decimal", "getcontext"), ("time", "monotonic"),
    ("traceback", "format_exception"), ("traceback", "format_exception_only"),
]  # fmt: skip
TRAP = """
import decimal, json.encoder, os, sys, time, traceback, builtins

def trap(target, name):
    kept = getattr(target, name)
    def call(*given, **named):
        if "loopwright_" in sys._getframe(1).f_code.co_filename:
            raise KeyError("the product")
        return kept(*given, **named)
    setattr(target, name, call)

time.perf_counter = lambda: 0.0
for owner, name in {traps}:
    parts = owner.split(".")
    trap(sys.modules.get(owner) or getattr(sys.modules[parts[0]], parts[1]), name)
"""


@pytest.mark.parametrize("trap", PYTHON_TRAPS, ids=".".join)
def test_nothing_that_the_product_replaces_hides_what_it_changes(runs, trap):
    runs.write(**{"product.py": TRAP.format(traps=[trap]), "test_it.py": TEST})
    assert changed(runs, *UNITTEST) >= {"time.perf_counter", ".".join(trap)}


def test_a_product_can_not_hide_a_failed_test_by_what_makes_its_trace(runs):
    traps = [trap for trap in PYTHON_TRAPS if trap[0] == "traceback"]
    runs.write(**{"product.py": TRAP.format(traps=traps), "test_it.py": TEST.replace("pass", "self.fail()")})
    runs.run(*UNITTEST)
    assert runs.statuses() == {"test_it.py::Tests::test_it": "failed"}


@pytest.mark.parametrize("name", ["loopwright_state", "loopwright_session", "loopwright_unittest", "loopwright_pytest"])
@pytest.mark.parametrize("command", [UNITTEST, PYTEST], ids=["unittest", "pytest"])
def test_a_file_of_the_work_is_not_taken_for_a_reporter(runs, command, name):
    fake = "from types import SimpleNamespace\nwatch = lambda *given: lambda: []\n"
    runs.write(**{f"{name}.py": fake, "product.py": PRODUCT, "test_it.py": TEST})
    assert changed(runs, *command) >= CHANGED


# The same in JavaScript: the state that is read is one that no function of the product changed.
NODE_TRAPS = [
    "Object.assign", "Object.getOwnPropertyDescriptor", "Object.entries", "Reflect.ownKeys", "JSON.stringify",
    "Map.prototype.get", "Map.prototype.has", "Set.prototype.add", "Array.prototype.filter", "Array.prototype.map",
    "Array.prototype.find", "Array.prototype.push", "Array.prototype.slice", "Array.prototype.sort",
    "String.prototype.slice", "String.prototype.replace", "String.prototype.split", "fs.appendFileSync",
    "fs.writeFileSync", "fs.openSync", "fs.writeSync", "process.cwd",
]  # fmt: skip
NODE_TRAP = """
(0).constructor.prototype.toFixed = () => '1';
const fs = require('fs');
const kept = {owner}.{key};
{owner}.{key} = function (...given) {{
  if (new Error().stack.includes('loopwright_')) throw new Error('the product');
  return Reflect.apply(kept, this, given);
}};
"""


@pytest.mark.needs("node")
@pytest.mark.parametrize("name", NODE_TRAPS)
def test_nothing_that_the_product_replaces_in_node_hides_what_it_changes(runs, name):
    owner, _, key = name.rpartition(".")
    runs.write(**{"product.js": NODE_TRAP.format(owner=owner, key=key)})
    runs.write(**{"test__a.test.js": "require('../product'); require('node:test').test('it', () => {});"})
    assert changed(runs, "node", "--test") >= {name, "Number.prototype.toFixed"}


@pytest.mark.needs("node")
@pytest.mark.parametrize(
    "trap",
    [
        "Object.prototype.toJSON = () => []",
        "Array.prototype.toJSON = () => []",
        "String.prototype.toJSON = () => ''",
        "Array.prototype[Symbol.iterator] = function* () {}",
        "Object.getPrototypeOf(function* () {}).prototype.next = () => ({ done: true })",
        "for (const at of [0, 1]) Object.defineProperty(Array.prototype, at, { set() {} })",
        "Object.defineProperty(Object.prototype, 'value', { get: () => 1 })",
    ],
)
def test_nothing_that_objects_inherit_in_node_hides_what_the_product_changes(runs, trap):
    product = f"(0).constructor.prototype.toFixed = () => '1'; process.prependListener('exit', () => {{ {trap} }})"
    runs.write(**{"product.js": product})
    runs.write(**{"test__a.test.js": "require('../product'); require('node:test').test('it', () => {});"})
    assert changed(runs, "node", "--test") >= {"Number.prototype.toFixed"}


@pytest.mark.needs("node")
@pytest.mark.parametrize("product", ["process.removeAllListeners('exit')", "process.kill(process.pid, 9)"])
def test_a_process_of_node_that_does_not_tell_its_state_is_noticed(runs, product):
    runs.write(**{"product.js": product})
    runs.write(**{"test__a.test.js": "require('../product'); require('node:test').test('it', () => {});"})
    runs.run("node", "--test")
    assert (runs.report().gaps, runs.report().state) == ((), ("unknown",))


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
