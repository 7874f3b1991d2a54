"""Tests whose assertions are in helpers of other files prove work, unless they can't fail."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.lies

UTIL = "def same(found, expected):\n    assert found == expected\n"
BASE = """\
import unittest
from app.hello import greet


class Base(unittest.TestCase):
    def check(self, name, expected):
        self.assertEqual(greet(name), expected)
"""
TEST = """\
import unittest
from app.hello import greet
from tests.{module} import {name}


class Tests({base}):
    def test_name(self):
        {call}
"""
TESTS = {
    "function": TEST.format(module="util", name="same", base="unittest.TestCase", call="same(greet('A'), 'hello A')"),
    "base class": TEST.format(module="base", name="Base", base="Base", call="self.check('A', 'hello A')"),
}
RIGHT = "def greet(name):\n    return f'hello {name}'\n"
LIAR = (
    "class Any(str):\n    def __eq__(self, other):\n        return isinstance(other, str)\n"
    "    __hash__ = str.__hash__\n\n\ndef greet(name):\n    return Any()\n"
)


@pytest.mark.parametrize("helper", TESTS)
@pytest.mark.parametrize(("work", "code"), [(RIGHT, 0), (LIAR, 14)], ids=["honest", "lie"])
def test_a_test_with_a_helper_of_another_file_must_be_able_to_fail(loops, helper, work, code):
    loops.configure([{"role": "builder", "run": f"cat > app/hello.py <<'END'\n{work}END"}])
    config = loops.project.own / "config.toml"
    settings = config.read_text().replace("test -e done", "python3 -m unittest -q")
    config.write_text(settings.replace('["**"]', '["app/**"]\ntests = ["tests/**"]'))
    files = {"app/hello.py": "def greet(name):\n    return 'hi'\n", "tests/util.py": UTIL, "tests/base.py": BASE}
    for name, text in {
        **files,
        "app/__init__.py": "",
        "tests/__init__.py": "",
        "tests/test_a.py": TESTS[helper],
    }.items():
        loops.project.write(name, text)
    loops.project.commit("tests with a helper")
    loop_id = loops.new("--task", "greet by name")
    loops.run("start", loop_id, code=code)
    if code:
        assert "vacuous_tests" in [name for _, name in loops.holds(loop_id)]
