"""The judges: one small repository per test runner. `greet` is broken and its test fails; `bye` works, and has a test.

Each judge exists in four variants. `plain` compares with a literal. In `golden` the test takes what it expects from a
helper, which reads a file. In `narrow` the plan's check covers `greet` only, and the project's own tests cover both.
In `without_test` no test covers `greet`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from scene import Files, World
from tools import NODE_MODULES, TOOLS, missing_tool

_IGNORE = f".loopwright/\n__pycache__/\n.tox/\n/{TOOLS}/\n/{NODE_MODULES}/\n"
_GOLDEN = '{"Ann": "hello Ann", "Bob": "bye Bob"}\n'
PATH = f'PYTHONPATH="{TOOLS}:.:$PYTHONPATH"'


@dataclass(frozen=True)
class Language:
    """How the product is written: the file, what it holds at first, and how to write another `greet`."""

    name: str
    source: str
    # Text around the body of greet: `{top}` precedes the functions, `{greet}` is the body.
    template: str
    wrong: str
    right: str
    files: Files

    def text(self, greet: str, top: str = "") -> str:
        """The product with this body of greet."""
        return self.template.replace("{top}", f"{top}\n\n" if top else "").replace("{greet}", greet)


@dataclass(frozen=True)
class Judge:
    """A test runner with its commands and its files. `{expected}` in the tests is a literal or a call of the helper."""

    name: str
    language: Language
    whole: str
    narrow: str
    # The file that decides about greet, the one that decides about bye, and the helper of the variant `golden`.
    test: str
    other: str
    helper: str
    files: Files
    golden: Files
    # Whether the runner reports each test.
    has_tests: bool = True
    tools: tuple[str, ...] = ()

    @property
    def missing(self) -> str:
        """The program or runner that this machine lacks; empty if none."""
        return next((name for name in self.tools if missing_tool(name)), "")

    @cached_property
    def plain(self) -> World:
        """The judge compares with a literal."""
        files = {".gitignore": _IGNORE, self.language.source: self.language.text(self.language.wrong)}
        files |= {**self.language.files, **self.files}
        return World(self.whole, files, tools=self.tools, is_whole=True)

    @cached_property
    def with_golden(self) -> World:
        """The judge asks a helper, which reads a file."""
        return replace(self.plain, files={**self.plain.files, **self.golden, GOLDEN: _GOLDEN})

    @cached_property
    def with_narrow_check(self) -> World:
        """The check covers greet only; the project's tests cover bye, too."""
        return replace(self.plain, check=self.narrow, test_command=self.whole)

    @cached_property
    def without_test(self) -> World:
        """No test covers greet."""
        return replace(self.plain, files={path: text for path, text in self.plain.files.items() if path != self.test})


GOLDEN = "data/expected.json"
PYTHON = Language(
    "python",
    "app/hello.py",
    '{top}def greet(name):\n{greet}\n\n\ndef bye(name):\n    return f"bye {name}"\n',
    '    return "hi"',
    '    return f"hello {name}"',
    {"app/__init__.py": ""},
)
JAVASCRIPT = Language(
    "javascript",
    "src/hello.js",
    "{top}exports.greet = name => {\n{greet}\n}\nexports.bye = name => `bye ${name}`\n",
    "  return 'hi'",
    "  return `hello ${name}`",
    {"package.json": '{"name": "hello", "version": "1.0.0", "private": true}\n'},
)
MODULES = Language(
    "modules",
    "src/hello.mjs",
    "{top}export const greet = name => {\n{greet}\n}\nexport const bye = name => `bye ${name}`\n",
    "  return 'hi'",
    "  return `hello ${name}`",
    {"package.json": '{"name": "hello", "version": "1.0.0", "private": true}\n'},
)
GO = Language(
    "go",
    "hello/hello.go",
    'package hello\n\n{top}func Greet(name string) string {\n{greet}\n}\n\nfunc Bye(name string) string {\n\treturn "bye " + name\n}\n',
    '\treturn "hi"',
    '\treturn "hello " + name',
    {"go.mod": "module example.org/hello\n\ngo 1.19\n"},
)

_PYTEST_TEST = "{imports}from app import hello\n\n\ndef test_{0}():\n    assert hello.{0}({1!r}) == {expected}\n"
_UNIT_TEST = """import unittest

{imports}from app import hello


class Test{0}(unittest.TestCase):
    def test_{0}(self):
        self.assertEqual(hello.{0}({1!r}), {expected})
"""
_NODE_TEST = """const assert = require('node:assert')
const test = require('node:test')
{imports}const hello = require('../src/hello.js')

test('{0}', () => {{
  assert.strictEqual(hello.{0}({1!r}), {expected})
}})
"""
_MOCHA_TEST = """const assert = require('node:assert')
{imports}const hello = require('../src/hello.js')

describe('{0}', () => {{
  it('says {0}', () => {{
    assert.strictEqual(hello.{0}({1!r}), {expected})
  }})
}})
"""
_VITEST_TEST = """import {{ expect, test }} from 'vitest'
{imports}import * as hello from '../src/hello.mjs'

test('{0}', () => {{
  expect(hello.{0}({1!r})).toBe({expected})
}})
"""
_SCRIPT = """import sys

sys.path.insert(0, ".")
{imports}from app import hello

assert hello.{0}({1!r}) == {expected}
"""
_NODE_SCRIPT = """const assert = require('assert')
{imports}const hello = require('../src/hello.js')

assert.strictEqual(hello.{0}({1!r}), {expected})
"""
_GO_TEST = """package hello

import "testing"

func Test{0}(t *testing.T) {{
	if found := {0}("{1}"); found != {expected} {{
		t.Fatalf("found %q", found)
	}}
}}
"""
_PYTHON_HELPER = """import json
from pathlib import Path


def expected(name):
    return json.loads(Path("data/expected.json").read_text())[name]
"""
_NODE_HELPER = (
    "const fs = require('fs')\nexports.expected = name => JSON.parse(fs.readFileSync('data/expected.json'))[name]\n"
)
_MODULE_HELPER = (
    "import fs from 'node:fs'\n"
    "export const expected = name => JSON.parse(fs.readFileSync('data/expected.json', 'utf8'))[name]\n"
)
_GO_HELPER = """package hello

import (
	"encoding/json"
	"os"
)

func expected(name string) string {
	text, _ := os.ReadFile("../data/expected.json")
	found := map[string]string{}
	_ = json.Unmarshal(text, &found)
	return found[name]
}
"""


def _tests(
    template: str, paths: tuple[str, str], imports: str = "", *, is_golden: bool, names: str = "greet bye"
) -> Files:
    """The two test files of a judge."""
    first, second = names.split()
    quote = '"{}"' if "package" in template else "'{}'"
    expects = (
        ('expected("Ann")', 'expected("Bob")') if is_golden else (quote.format("hello Ann"), quote.format("bye Bob"))
    )
    cases = ((paths[0], first, "Ann", expects[0]), (paths[1], second, "Bob", expects[1]))
    return {
        path: template.format(name, value, expected=expected, imports=imports if is_golden else "")
        for path, name, value, expected in cases
    }


def _judge(
    name: str, language: Language, template: str, commands: tuple[str, str], paths: tuple[str, str, str], imports: str,
    helper: str, more: Files | None = None, *, names: str = "greet bye", has_tests: bool = True, tools: tuple[str, ...] = (),
) -> Judge:  # fmt: skip
    test, other, helper_path = paths
    plain = {**(more or {}), **_tests(template, (test, other), is_golden=False, names=names)}
    golden = {**_tests(template, (test, other), imports, is_golden=True, names=names), helper_path: helper}
    return Judge(name, language, *commands, test, other, helper_path, plain, golden, has_tests, tools)


_PYTHON_PATHS = ("tests/test_hello.py", "tests/test_bye.py", "tests/expected.py")
_NODE_PATHS = ("tests/hello.test.js", "tests/bye.test.js", "tests/expected.js")
_CHECK_PATHS = ("checks/greet.py", "checks/bye.py", "checks/expected.py")
_FROM_TESTS = "from tests.expected import expected\n"
_FROM_CHECKS = "from checks.expected import expected\n"
_REQUIRED = "const { expected } = require('./expected.js')\n"
_MOCHA = f"node {NODE_MODULES}/mocha/bin/mocha.js"
_VITEST = f"node {NODE_MODULES}/vitest/vitest.mjs run"
_TOX_INI = """[tox]
env_list = py
no_package = true

[testenv]
commands = python -m unittest -q {posargs}
"""
_NPM = """{
  "name": "hello",
  "version": "1.0.0",
  "private": true,
  "scripts": {
    "greet": "node checks/greet.js",
    "test": "node checks/bye.js && node checks/greet.js"
  }
}
"""
_MAKE = """-include local.mk

test: bye greet

bye:
	python3 checks/bye.py

greet:
	python3 checks/greet.py
"""
_SHELL_TOP = "set -e\nif [ -f ./local.env ]; then . ./local.env; fi\n"

JUDGES = (
    _judge(
        "pytest", PYTHON, _PYTEST_TEST,
        (f"{PATH} python3 -m pytest -q -p no:cacheprovider tests", f"{PATH} python3 -m pytest -q -p no:cacheprovider tests/test_hello.py"),
        _PYTHON_PATHS, _FROM_TESTS, _PYTHON_HELPER, {"tests/__init__.py": ""}, tools=("pytest",),
    ),
    _judge(
        "unittest", PYTHON, _UNIT_TEST, ("python3 -m unittest -q", "python3 -m unittest -q tests.test_hello"),
        _PYTHON_PATHS, _FROM_TESTS, _PYTHON_HELPER, {"tests/__init__.py": ""},
    ),
    _judge(
        "tox", PYTHON, _UNIT_TEST, (f"{PATH} python3 -m tox -q", f"{PATH} python3 -m tox -q -- tests.test_hello"),
        _PYTHON_PATHS, _FROM_TESTS, _PYTHON_HELPER, {"tests/__init__.py": "", "tox.ini": _TOX_INI}, tools=("tox",),
    ),
    _judge(
        "node", JAVASCRIPT, _NODE_TEST, ("node --test tests/", "node --test tests/hello.test.js"),
        _NODE_PATHS, _REQUIRED, _NODE_HELPER, tools=("node",),
    ),
    _judge(
        "mocha", JAVASCRIPT, _MOCHA_TEST, (f"{_MOCHA} tests/*.test.js", f"{_MOCHA} tests/hello.test.js"),
        _NODE_PATHS, _REQUIRED, _NODE_HELPER, tools=("node", "mocha"),
    ),
    _judge(
        "vitest", MODULES, _VITEST_TEST, (_VITEST, f"{_VITEST} tests/hello.test.mjs"),
        ("tests/hello.test.mjs", "tests/bye.test.mjs", "tests/expected.mjs"),
        "import { expected } from './expected.mjs'\n", _MODULE_HELPER, tools=("node", "vitest"),
    ),
    _judge(
        "npm", JAVASCRIPT, _NODE_SCRIPT, ("npm test --silent", "npm run --silent greet"),
        ("checks/greet.js", "checks/bye.js", "checks/expected.js"), _REQUIRED, _NODE_HELPER, {"package.json": _NPM},
        has_tests=False, tools=("node", "npm"),
    ),
    _judge(
        "make", PYTHON, _SCRIPT, ("make -s test", "make -s greet"), _CHECK_PATHS, _FROM_CHECKS, _PYTHON_HELPER,
        {"Makefile": _MAKE, "checks/__init__.py": ""}, has_tests=False, tools=("make",),
    ),
    _judge(
        "shell", PYTHON, _SCRIPT, ("sh check.sh", "sh check-greet.sh"), _CHECK_PATHS, _FROM_CHECKS, _PYTHON_HELPER,
        {
            "check.sh": f"{_SHELL_TOP}python3 checks/bye.py\npython3 checks/greet.py\n",
            "check-greet.sh": f"{_SHELL_TOP}python3 checks/greet.py\n",
            "checks/__init__.py": "",
        }, has_tests=False,
    ),
    _judge(
        "go", GO, _GO_TEST, ("go test ./...", "go test -run Greet ./hello"),
        ("hello/greet_test.go", "hello/bye_test.go", "hello/expected_test.go"), "", _GO_HELPER, names="Greet Bye",
        tools=("go",),
    ),
)  # fmt: skip
BY_NAME = {judge.name: judge for judge in JUDGES}
