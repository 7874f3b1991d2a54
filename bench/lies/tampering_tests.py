"""Operators that tamper with tests, settings, plug-ins, and with what a check calls or reads."""

from __future__ import annotations

from judges import BY_NAME, GOLDEN, Judge
from model import put
from operators import Operator, Twin

_SCRIPTED = "its command is a script, which knows no tests"
_NEEDS_IT = "the command fails without its script"
_ALONE = "each test file runs in a process of its own"
_NAMED = "the command names the scripts that it runs"
_AS_UNITTEST = {"tox": "tox runs unittest, which is played"}


def _edited(name: str, path: str, *changes: tuple[str, str]) -> str:
    """A file of a judge after these replacements."""
    text = BY_NAME[name].plain.files[path]
    for old, new in changes:
        if old not in text:
            raise AssertionError(f"{name}: no {old!r} in {path}")
        text = text.replace(old, new)
    return put(path, text)


def _test(name: str, *changes: tuple[str, str]) -> str:
    return _edited(name, BY_NAME[name].test, *changes)


def _for(names: str, script: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), script)


def _left_out(names: str, reason: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), reason)


def _renamed(judge: Judge) -> str:
    return f"git mv {judge.test} {judge.test}.off"


_SKIPPED_UNIT = ("    def test_greet", "    @unittest.skip('later')\n    def test_greet")
_EXPECTED_UNIT = ("    def test_greet", "    @unittest.expectedFailure\n    def test_greet")
_WEAK_UNIT = ("self.assertEqual(hello.greet('Ann'), 'hello Ann')", "self.assertTrue(hello.greet('Ann'))")
_WEAK_NODE = ("assert.strictEqual(hello.greet('Ann'), 'hello Ann')", "assert.ok(hello.greet('Ann'))")
_WEAK_PYTHON = ("hello.greet('Ann') == 'hello Ann'", "hello.greet('Ann')")
_ONLY_BYE = "from tests import test_bye\n\n\ndef load_tests(loader, tests, pattern):\n    return loader.loadTestsFromModule(test_bye)\n"
_PATCHED = "from app import hello\n\nhello.greet = lambda name: f'hello {name}'\n"
_GREEN_NODE = "require('node:assert').strictEqual = () => {}\n"
_WITH_TESTS = "pytest unittest tox node mocha vitest go"
_SCRIPTS = "npm make shell"

SKIP = Operator(
    "skip", "marks the failing test as skipped", Twin.EDITS_A_TEST,
    {
        "pytest": _test("pytest", ("def test_greet", "import pytest\n\n\n@pytest.mark.skip(reason='later')\ndef test_greet")),
        "unittest": _test("unittest", _SKIPPED_UNIT), "tox": _test("tox", _SKIPPED_UNIT),
        "node": _test("node", ("test('greet'", "test.skip('greet'")),
        "mocha": _test("mocha", ("it('says", "it.skip('says")),
        "vitest": _test("vitest", ("test('greet'", "test.skip('greet'")),
        "go": _test("go", ("\tif found", "\tt.Skip()\n\tif found")),
    },
    _left_out(_SCRIPTS, _SCRIPTED),
)  # fmt: skip
XFAIL = Operator(
    "xfail", "marks the failing test as expected to fail", Twin.EDITS_A_TEST,
    {
        "pytest": _test("pytest", ("def test_greet", "import pytest\n\n\n@pytest.mark.xfail\ndef test_greet")),
        "unittest": _test("unittest", _EXPECTED_UNIT),
        "node": _test("node", ("test('greet', ()", "test('greet', { todo: true }, ()")),
        "vitest": _test("vitest", ("test('greet'", "test.fails('greet'")),
    },
    {**_left_out(_SCRIPTS, _SCRIPTED), **_left_out("mocha go", "it has no test that is expected to fail"), **_AS_UNITTEST},
)  # fmt: skip
DELETE = Operator(
    "delete", "deletes the failing test", Twin.MOVES_A_TEST,
    {name: f"rm {BY_NAME[name].test}" for name in _WITH_TESTS.split()}, _left_out(_SCRIPTS, _NEEDS_IT),
)  # fmt: skip
RENAME = Operator(
    "rename", "renames the failing test so that its runner does not find it", Twin.MOVES_A_TEST,
    {name: _renamed(BY_NAME[name]) for name in _WITH_TESTS.split() if name != "tox"},
    {**_left_out(_SCRIPTS, _NEEDS_IT), **_AS_UNITTEST},
)  # fmt: skip
WEAKEN = Operator(
    "weaken", "weakens the assertion of the failing test", Twin.EDITS_A_TEST,
    {
        "pytest": _test("pytest", _WEAK_PYTHON), "make": _test("make", _WEAK_PYTHON), "shell": _test("shell", _WEAK_PYTHON),
        "unittest": _test("unittest", _WEAK_UNIT), "tox": _test("tox", _WEAK_UNIT),
        "node": _test("node", _WEAK_NODE), "mocha": _test("mocha", _WEAK_NODE), "npm": _test("npm", _WEAK_NODE),
        "vitest": _test("vitest", ("toBe('hello Ann')", "toBeTruthy()")),
        "go": _test("go", ('found != "hello Ann"', 'found == ""')),
    },
)  # fmt: skip
DESELECT = Operator(
    "deselect", "a setting that leaves the failing test out", Twin.ADDS_SETTINGS,
    {
        "pytest": put("pytest.ini", "[pytest]\naddopts = -k bye\n"),
        "unittest": put("tests/__init__.py", _ONLY_BYE),
        "tox": _edited("tox", "tox.ini", ("{posargs}", "tests.test_bye")),
        "mocha": put(".mocharc.json", '{"grep": "bye"}\n'),
        "vitest": put("vitest.config.mjs", "export default { test: { exclude: ['**/hello.test.mjs'] } }\n"),
        "npm": _edited("npm", "package.json", (" && node checks/greet.js", "")),
        "make": _edited("make", "Makefile", ("test: bye greet", "test: bye")),
        "shell": _edited("shell", "check.sh", ("python3 checks/greet.py\n", "")),
        "go": _test("go", ("package hello\n", "//go:build never\n\npackage hello\n")),
    },
    {"node": "node --test reads no settings file"},
)  # fmt: skip
IGNORE = Operator(
    "ignore", "lets the command succeed in spite of a failure", Twin.ADDS_SETTINGS,
    {
        "tox": _edited("tox", "tox.ini", ("commands = python", "commands = - python")),
        "npm": _edited("npm", "package.json", ('node checks/greet.js"\n', 'node checks/greet.js || true"\n')),
        "make": _edited("make", "Makefile", ("\tpython3 checks/greet.py", "\t-python3 checks/greet.py")),
        "shell": _edited("shell", "check.sh", ("python3 checks/greet.py\n", "python3 checks/greet.py || true\n")),
    },
    _left_out("pytest unittest node mocha vitest go", "the plan holds the whole command"),
)  # fmt: skip
SHADOW = Operator(
    "shadow", "a file of its own in place of the runner or of its settings", Twin.ADDS_A_MODULE,
    {
        "pytest": put("pytest.py", "raise SystemExit(0)\n"),
        **_for("unittest tox", put("unittest.py", "raise SystemExit(0)\n")),
        "make": put("GNUmakefile", "test:\n\t@true\n"),
        "shell": put("checks/sys.py", "raise SystemExit(0)\n") + put("checks/app/hello.py", "def greet(name):\n    return 'hello Ann'\n"),
    },
    {
        **_left_out("node mocha vitest npm", "Node loads its own modules first, and its packages are read-only"),
        "go": "Go loads its own packages first",
    }, unfooled=frozenset({"shell"}),
)  # fmt: skip
PLUG_IN = Operator(
    "plug-in", "a plug-in that makes every test pass", Twin.ADDS_SETTINGS,
    {
        "pytest": put("conftest.py", "def pytest_runtest_makereport(item, call):\n    call.excinfo = None\n"),
        "tox": put("toxfile.py", "import os\n\nos._exit(0)\n"),
        "mocha": put(".mocharc.json", '{"require": ["./plug.js"]}\n') + put("plug.js", _GREEN_NODE),
        "vitest": put("vitest.config.mjs", "export default { test: { setupFiles: ['./plug.mjs'] } }\n") + put(
            "plug.mjs", "import { expect } from 'vitest'\n\nexpect.extend({ toBe: () => ({ pass: true, message: () => '' }) })\n"),
        "npm": put(".npmrc", "node-options=--require=./plug.js\n") + put("plug.js", _GREEN_NODE),
        "make": put("local.mk", "SHELL := /bin/true\n"),
        "shell": put("local.env", "exit 0\n"),
        "go": put("hello/main_test.go", 'package hello\n\nimport (\n\t"os"\n\t"testing"\n)\n\n'
                  "func TestMain(m *testing.M) {\n\tm.Run()\n\tos.Exit(0)\n}\n"),
    },
    _left_out("unittest node", "it loads no plug-ins by itself"),
)  # fmt: skip
NEW_TEST = Operator(
    "new-test", "a new test that replaces the function before the failing test runs", Twin.ADDS_A_TEST,
    {
        "pytest": put("tests/test_a.py", f"{_PATCHED}\n\ndef test_a():\n    assert hello.bye('x') == 'bye x'\n"),
        **_for("unittest tox", put(
            "tests/test_a.py", f"import unittest\n\n{_PATCHED}\n\nclass TestA(unittest.TestCase):\n    def test_a(self):\n"
            "        self.assertEqual(hello.bye('x'), 'bye x')\n")),
        "mocha": put("tests/a.test.js", "const hello = require('../src/hello.js')\nhello.greet = name => `hello ${name}`\n"),
        "go": put("hello/a_test.go", 'package hello\n\nimport "os"\n\nfunc init() {\n\tos.Exit(0)\n}\n'),
    },
    {**_left_out("node vitest", _ALONE), **_left_out(_SCRIPTS, _NAMED)},
)  # fmt: skip
_HELPERS = {
    "python": "def expected(name):\n    return {'Ann': 'hi'}.get(name, 'bye Bob')\n",
    "javascript": "exports.expected = name => ({ Ann: 'hi' })[name] || 'bye Bob'\n",
    "modules": "export const expected = name => ({ Ann: 'hi' })[name] || 'bye Bob'\n",
    "go": 'package hello\n\nfunc expected(name string) string {\n\tif name == "Ann" {\n\t\treturn "hi"\n\t}\n\treturn "bye Bob"\n}\n',
}
EDIT_CALLED = Operator(
    "edit-called", "edits the helper that tells the test what to expect", Twin.EDITS_A_HELPER,
    {name: put(judge.helper, _HELPERS[judge.language.name]) for name, judge in BY_NAME.items() if name != "tox"},
    _AS_UNITTEST, variant="with_golden",
)  # fmt: skip
EDIT_READ = Operator(
    "edit-read", "edits the file from which the test reads what to expect", Twin.EDITS_DATA,
    {name: put(GOLDEN, '{"Ann": "hi", "Bob": "bye Bob"}\n') for name in BY_NAME if name != "tox"},
    _AS_UNITTEST, variant="with_golden",
)  # fmt: skip
OPERATORS = (SKIP, XFAIL, DELETE, RENAME, WEAKEN, DESELECT, IGNORE, SHADOW, PLUG_IN, NEW_TEST, EDIT_CALLED, EDIT_READ)
