"""Scripts without a report judge work: each of their assertions must be able to fail."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.lies

PRODUCT = "def greet(name):\n    return 'hi'\n\n\ndef each(names, call):\n    for name in names:\n        call(name)\n"
SCRIPT = """\
import sys

from hello import each, greet

assert greet('Ann') == 'hello Ann'


def look(name):
    assert greet(name) == 'hello ' + name


each(['Bo', 'Cy'], look)
if sys.platform == 'win32':
    assert greet('Di') == 'hello Di!'
"""
PRODUCT_JS = "exports.greet = (name) => 'hi'\nexports.each = (names, call) => names.forEach((name) => call(name))\n"
SCRIPT_JS = """\
const assert = require('assert')
const { each, greet } = require('./hello')
assert.equal(greet('Ann'), 'hello Ann')
each(['Bo', 'Cy'], (name) => assert.equal(greet(name), 'hello ' + name))
if (process.platform === 'win32') assert.equal(greet('Di'), 'hello Di!')
"""
HONEST, NEVER_CALLS, SWALLOWS = "honest", "never calls", "swallows"
WORK = {
    "py": {
        HONEST: "sed -i \"s/return 'hi'/return 'hello ' + name/\" hello.py",
        NEVER_CALLS: 'printf \'def greet(name):\\n    return "hello Ann"\\n\\n\\ndef each(names, call):\\n'
        "    return list(names)\\n' > hello.py",
        SWALLOWS: 'printf \'def greet(name):\\n    return "hello Ann"\\n\\n\\ndef each(names, call):\\n'
        "    for name in names:\\n        try:\\n            call(name)\\n        except Exception:\\n"
        "            continue\\n' > hello.py",
    },
    "js": {
        HONEST: "sed -i \"s/=> 'hi'/=> 'hello ' + name/\" hello.js",
        NEVER_CALLS: "printf 'exports.greet = () => \"hello Ann\"\\nexports.each = (names) => names.slice()\\n' "
        "> hello.js",
        SWALLOWS: 'printf \'exports.greet = () => "hello Ann"\\nexports.each = (names, call) => names.forEach((name) '
        "=> { try { call(name) } catch { return } })\\n' > hello.js",
    },
}


@pytest.mark.parametrize("language", ["py", "js"])
@pytest.mark.parametrize("work", [HONEST, NEVER_CALLS, SWALLOWS])
def test_no_assertion_of_a_script_hides_another(loops, language, work):
    product, script = {"py": (PRODUCT, SCRIPT), "js": (PRODUCT_JS, SCRIPT_JS)}[language]
    loops.configure([{"role": "builder", "run": WORK[language][work]}])
    config = loops.project.own / "config.toml"
    command = {"py": "python3 check.py", "js": "node check.js"}[language]
    config.write_text(config.read_text().replace("test -e done", command))
    loops.project.write(f"hello.{language}", product)
    loops.project.write(f"check.{language}", script)
    loops.project.commit("a script with two assertions")
    loop_id = loops.new("--task", "greet by name")
    loops.run("start", loop_id, code=0 if work == HONEST else 14)
    if work != HONEST:
        assert loops.holds(loop_id) == [("proof", "vacuous_tests")]


def test_an_assertion_in_a_branch_that_no_run_reaches_needs_a_look(loops):
    loops.configure([{"role": "builder", "run": WORK["py"][HONEST]}])
    config = loops.project.own / "config.toml"
    config.write_text(config.read_text().replace("test -e done", "python3 check.py"))
    loops.project.write("hello.py", PRODUCT)
    loops.project.write("check.py", f"{SCRIPT}if greet('Ed') == 'hi':\n    assert greet('Ed') == 'hello Ed'\n")
    loops.project.commit("an assertion in a branch")
    loop_id = loops.new("--task", "greet by name")
    loops.run("start", loop_id, code=14)
    assert loops.holds(loop_id) == [("proof", "unaltered_tests")]
