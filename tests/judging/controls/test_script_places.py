"""Scripts with one changed assertion each, and how surely a run comes to it."""

from __future__ import annotations

import pytest

from loopwright.judging.controls.reach import ScriptReach
from loopwright.judging.controls.script_places import script_places

ALWAYS, IN_BRANCH, OPTIONAL = ScriptReach.ALWAYS, ScriptReach.IN_BRANCH, ScriptReach.OPTIONAL
PYTHON = """\
import sys
from app import each, f
assert f('Ann') == 'hello Ann'
def one(n):
    assert f(n) == 'hello'
def unused():
    assert f(5) == 'unused'
each(['Bo'], one)
if sys.platform == 'win32':
    assert f(1) == 'windows'
if f(2):
    assert f(3) == 'maybe'
try:
    import missing
except ImportError:
    assert f(4) == 'missing'
if f(6) != 'six':
    sys.exit(1)
else:
    assert f(7) == 'seven'
if f(9) != 'nine':
    sys.exit(1)
elif f(10) != 'ten':
    sys.exit(1)
if __name__ == '__main__':
    assert f(8) == 'main'
"""
JAVASCRIPT = """\
const assert = require('assert')
const { each, f } = require('./app')
assert.equal(f('Ann'), 'hello Ann')
function one (n) { assert.equal(f(n), 'hello') }
function unused () { assert.equal(f(5), 'unused') }
each(['Bo'], one)
each(['Cy'], (n) => assert.equal(f(n), 'callback'))
if (process.platform === 'win32') assert.equal(f(1), 'windows')
if (f(2)) { assert.equal(f(3), 'maybe') }
try { f(4) } catch (error) { assert.equal(error.message, 'missing') }
if (f(6) !== 'six') { process.exit(1) } else { assert.equal(f(7), 'seven') }
if (require.main === module) assert.equal(f(8), 'main')
"""


@pytest.mark.parametrize(
    ("path", "source", "reaches"),
    [
        (
            "check.py",
            PYTHON,
            {
                "hello Ann": ALWAYS, "hello": ALWAYS, "windows": OPTIONAL, "maybe": IN_BRANCH,
                "missing": OPTIONAL, "six": ALWAYS, "seven": ALWAYS, "nine": ALWAYS, "ten": ALWAYS, "main": ALWAYS,
            },
        ),
        (
            "check.js",
            JAVASCRIPT,
            {
                "hello Ann": ALWAYS, "hello": ALWAYS, "unused": OPTIONAL, "callback": ALWAYS,
                "windows": OPTIONAL, "maybe": IN_BRANCH, "missing": IN_BRANCH, "six": ALWAYS,
                "seven": ALWAYS, "main": ALWAYS,
            },
        ),
    ],
)  # fmt: skip
def test_each_assertion_of_a_script_changes_by_itself(path, source, reaches):
    places = script_places(path, source.encode(), salt="", is_near=False)
    assert all(place.source.count(b"Qz") == 1 and place.failing is not None for place in places)
    assert {place.source.decode().partition("Qz")[2].partition("'")[0]: place.reach for place in places} == reaches


@pytest.mark.parametrize(
    ("path", "source", "count"),
    [
        ("check.py", "import sys\nfrom app import f\nok = f()\nsys.exit(0 if ok else 1)\n", 1),
        ("check.js", "const { f } = require('./app')\nprocess.exit(f() ? 0 : 1)\n", 1),
        ("check.py", "from app import f\nf()\n", 0),
        ("check.rb", "raise unless f == 1\n", 0),
        # Examples run one after the other, whatever fails.
        ("check.py", '"""\n>>> f()\n1\n"""\nimport doctest\ndoctest.testmod()\n', 1),
    ],
)
def test_a_script_without_assertions_changes_its_exit_code(path, source, count):
    assert len(script_places(path, source.encode(), salt="", is_near=False)) == count


def test_a_deep_script_has_no_places():
    deep = "assert f() == " + "-" * 20_000 + "1\n"
    assert script_places("check.py", deep.encode(), salt="", is_near=False) == []
