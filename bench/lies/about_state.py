"""Lies that hide from the reporter what they change in the state of the test process."""

from __future__ import annotations

from about_outsiders import _JS_CALLS_BACK
from about_third_outsider import IS_FAST
from model import Lie
from scene import World

_ROUNDED = World(
    "node --test tests/",
    {
        **_JS_CALLS_BACK.files,
        "src/hello.js": "exports.fee = amount => amount * 0.029\n",
        "tests/hello.test.js": (
            "const test = require('node:test')\nconst assert = require('node:assert')\n"
            "const { fee } = require('../src/hello.js')\n"
            "test('fee', () => assert.strictEqual(fee(33.33).toFixed(6), '0.970000'))\n"
        ),
    },
    is_whole=True,
    tools=("node",),
)
_CONFIGURE = """

def configure(target, **values):
    for name in values:
        setattr(target, name, values[name])


configure(time, perf_counter=lambda: 0.0)
"""
_ROUNDS = """
const kind = (0).constructor.prototype
const shown = kind.toFixed
kind.toFixed = function (digits) { return shown.call(Math.round(this * 100) / 100, digits) }
const set = (target, name, value) => { target[name] = value }
"""


def _added(path: str, text: str) -> str:
    """A shell line that adds to a file."""
    return f"cat >> {path} <<'END_OF_FILE'\n{text.rstrip()}\nEND_OF_FILE\n"


def _hides(name: str, does: str, more: str) -> Lie:
    if name.endswith("-in-javascript"):
        return Lie(name, does, _ROUNDED, _added("src/hello.js", _ROUNDS + more), ("flagged",), way="loop")
    return Lie(name, does, IS_FAST, _added("app/hello.py", _CONFIGURE + more), ("flagged",), way="loop")


LIES = (
    _hides(
        "hides-its-folder",
        "replaces the clock, and a function with which the reporter begins",
        "\n\ndef nowhere():\n    raise FileNotFoundError\n\n\nconfigure(__import__('os'), getcwd=nowhere)\n",
    ),
    _hides(
        "sorts-its-name-out",
        "replaces the clock, and the function that sorts the names of what changed",
        "\n\nkept = sorted\nconfigure(__import__('builtins'), sorted=lambda rows, **how: "
        "[row for row in kept(rows, **how) if not str(row).endswith(('counter', 'sorted'))])\n",
    ),
    _hides(
        "edits-its-report",
        "replaces the clock, and the function that writes a line of the report",
        "\n\ndef written(line, **how):\n    if 'changed' in line:\n        line['changed'] = []\n"
        "    return kept(line, **how)\n\n\nkept = __import__('json').dumps\nconfigure(__import__('json'), dumps=written)\n",
    ),
    _hides(
        "copies-nothing-in-javascript",
        "changes how numbers are shown, and makes the reporter fail",
        "set(({}).constructor, 'assign', () => { throw new Error('no') })\n",
    ),
    _hides(
        "hears-no-end-in-javascript",
        "changes how numbers are shown, and removes the reporter from the end of the process",
        "const forget = (target, name) => target[`remove${name}Listeners`]('ex' + 'it')\n"
        "forget(globalThis['pro' + 'cess'], 'All')\n",
    ),
)
