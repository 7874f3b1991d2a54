"""Small repositories that need a greeting, each with another kind of check."""

from __future__ import annotations

from scene import World
from tools import TOOLS

_TEST = """import hello


def test_greet():
    assert hello.greet("Ann") == "hello Ann"
"""
_OTHER_TEST = """def test_numbers():
    assert 1 + 1 == 2
"""
_UNIT = """import unittest

import hello


class Greeting(unittest.TestCase):
    def test_greet(self):
        self.assertEqual(hello.greet("Ann"), "hello Ann")
"""
_SCRIPT = """import sys

sys.path.insert(0, ".")
import hello

assert hello.greet("Ann") == "hello Ann"
"""
_CODE = "import hello; assert hello.greet('Ann') == 'hello Ann'"
UNIT_FILES = {"tests/__init__.py": "", "tests/test_hello.py": _UNIT}
INLINE = World(f'python3 -c "{_CODE}"')
UNCONFINED = World(f'python3 -c "{_CODE}"', isolation="none")
SCRIPT = World("python3 checks/greet.py", {"checks/greet.py": _SCRIPT})
SHELL = World("sh check.sh", {"check.sh": f'set -e\npython3 -c "{_CODE}"\n'})
# The check runs a script, and the script runs tests that no check names.
SHELL_TESTS = World("sh check.sh", {**UNIT_FILES, "check.sh": "set -e\npython3 -m unittest -q tests.test_hello\n"})
SHELL_UNCONFINED = World("sh check.sh", SHELL.files, isolation="none")
SHELL_TWICE = World("sh check.sh", SHELL.files, isolation="none", turns=2)
UNIT = World("python3 -m unittest -q tests.test_hello", UNIT_FILES)
_TESTS = {"tests/test_hello.py": _TEST, "tests/test_numbers.py": _OTHER_TEST}
_PYTEST = f"PYTHONPATH={TOOLS}:. python3 -m pytest -q"
PYTEST = World(f"{_PYTEST} tests", _TESTS, tools=("pytest",))
# No file is named: pytest finds its tests itself.
BARE_PYTEST = World(_PYTEST, _TESTS, tools=("pytest",))
PYPROJECT = World(
    f"{_PYTEST} tests",
    {
        **_TESTS,
        "pyproject.toml": '[project]\nname = "hello"\nversion = "1"\n\n[tool.pytest.ini_options]\naddopts = "-q"\n',
    },
    tools=("pytest",),
)
MAKE = World("make check", {"Makefile": f'check:\n\tpython3 -c "{_CODE}"\n'})
NODE_FILES = {
    "package.json": '{"name": "hello", "version": "1.0.0", "scripts": {"test": "node judge.test.js"}}\n',
    "hello.js": "exports.greet = () => 'hi'\n",
    "judge.test.js": "require('assert').equal(require('./hello.js').greet('Ann'), 'hello Ann')\n",
}
NPM = World("npm test --silent", NODE_FILES)
HIDDEN = World(
    INLINE.check,
    hidden={"hidden_greet.py": "import hello\n\nassert hello.greet('Zoë') == 'hello Zoë'\n"},
    hidden_check="python3 hidden_greet.py",
)
TWO = World(INLINE.check, second_check="python3 -c \"import hello; assert hello.bye('Ann') == 'bye Ann'\"")
# A user whose PATH begins with the current folder, or with a folder of the project.
DOT_PATH = World(INLINE.check, path_first=".")
PROJECT_PATH = World(INLINE.check, {"bin/README": "our own tools\n"}, path_first="{project}/bin")
