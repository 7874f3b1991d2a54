"""Tests whose assertions are in helpers of other files: what they hand over changes in the call."""

from __future__ import annotations

import pytest

from loopwright.judging.controls.helper_calls import helper_calls
from loopwright.judging.controls.invert import invert

FILES = {
    "tests/util.py": """\
from app import read
def same(a, b):
    assert a == b, f'{a} is not {b}'
def wants(found, *, expected=None):
    if found != expected:
        raise AssertionError
def holds(value):
    assert value
def reads(name, want):
    with open(name) as file:
        assert file.read() == want
def round_trip(value):
    assert read(value) == value
def sometimes(a, b):
    if a:
        assert a == b
def prints(a):
    print(a)
async def later(a, b):
    assert a == b
""",
    "tests/top.py": "import unittest\nclass Top(unittest.TestCase):\n    def top(self, a, b):\n"
    "        self.assertEqual(a, b)\n",
    "tests/base.py": "from tests.top import Top\nclass Base(Top):\n    def check(self, name, want):\n"
    "        self.assertEqual(f(name), want)\n    @staticmethod\n    def static(a, b):\n        assert a == b\n",
}
HEAD = "from tests import util\nfrom tests.base import Base\nfrom tests.util import *\n"
NAMES = "from tests.util import holds, later, prints, reads, round_trip, same as alike, sometimes, wants\n"


def inverted(call):
    source = f"{HEAD}{NAMES}class T(Base):\n    async def test(self):\n        {call}\n".encode()
    helpers = helper_calls("tests/test_a.py", source, frozenset(FILES), lambda path: FILES[path].encode())
    made = invert("tests/test_a.py", source, salt="", helpers=helpers)
    return made.source.decode().splitlines()[-1].strip() if made.altered else None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("alike(f('Ann'), 'hello')", "alike(f('Ann'), 'Qzhello')"),
        ("alike('hello', f('Ann'))", "alike('Qzhello', f('Ann'))"),
        ("alike(f('Ann'), b='hello')", "alike(f('Ann'), b='Qzhello')"),
        ("util.same(f(), 3)", "util.same(f(), 7)"),
        ("holds(f() == 3)", "holds(f() == 7)"),
        ("reads('out.txt', 'hello')", "reads('out.txt', 'Qzhello')"),
        ("await later(f(), 'hello')", "await later(f(), 'Qzhello')"),
        ("self.check('Ann', 'hello')", "self.check('Ann', 'Qzhello')"),
        ("self.static(f(), 'hello')", "self.static(f(), 'Qzhello')"),
        ("self.top(f(), 'hello')", "self.top(f(), 'Qzhello')"),
    ],
)
def test_an_expectation_changes_in_the_call_of_a_helper(before, after):
    assert inverted(before) == after


@pytest.mark.parametrize(
    "call",
    [
        "round_trip('Ann')",  # the work gets it, too
        "sometimes(f(), 'hello')",  # the assertion may not be reached
        "prints('hello')",
        "same(f(), 'hello')",  # this name is not imported
        "alike(1, 1)",
        "alike(*f())",
        "x = alike(f(), 'hello')",
        "self.other('Ann', 'hello')",
    ],
)
def test_what_may_be_an_input_or_is_not_compared_stays(call):
    assert inverted(call) is None


def test_a_test_with_an_assertion_of_its_own_keeps_what_it_hands_over():
    assert inverted("alike(f(), 'hello'); assert f() == 1") == "alike(f(), 'hello'); assert f() == 3"
