"""Each assertion of a JavaScript test is tried with a changed expectation, in one run, and the test goes on."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from loopwright.judging.controls.javascript_tests import probe_javascript
from loopwright.judging.controls.marks import records_name
from loopwright.judging.controls.probe_records import (
    Assertions,
    as_results,
    read_records,
    weakened_assertions,
)

SALT = "ab12"
MODULES = Path(__file__).parents[3] / ".cache" / "agents" / "node_modules"
HEAD = "const test = require('node:test'), assert = require('node:assert');\n"


def probed(source: str, path: str = "tests/a.test.js") -> str:
    """The probed source without the support code."""
    made = probe_javascript(path, source.encode(), salt="")
    assert made is not None
    return re.sub(r"new Function\(.*\); ", "LOAD; ", made.source.decode())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("assert.equal(f(), 1);", '_.probe("2:24", () => assert.equal(f(), 3));'),
        ("await assert.rejects(f(), E);", 'await _.probe("2:30", () => assert.rejects(f(), function () { ret'),
        ("assert.equal(await f(), 1);", 'await _.probe("2:24", async () => assert.equal(await f(), 3));'),
        ("await expect(f()).resolves.toBe(1);", 'await _.probe("2:30", () => expect(f()).resolves.toBe(3));'),
        ("f(x => assert.equal(x, 1));", 'f(x => _.probe("2:31", () => assert.equal(x, 3)));'),
        ("return assert.rejects(f(), E);", 'return _.probe("2:31", () => assert.rejects(f(), function '),
        ("const e = assert.throws(f);", "const e = assert.throws(f, function () { return false });"),
        ("if (f()) throw new Error();", 'if (_.guard("2:24", false, (f()))) throw new Error();'),
        (
            "if (Math.abs(f() - 1) > 0.1 || f() < 0) { log(f()); assert.fail() }",
            'if (_.guard("2:24", true, (_.compare(">", Math.abs(f() - 1) , 0.1) || _.compare("<", f() , 0)))) { log',
        ),
        ("f() === 1 || assert.fail();", '_.branch("2:24", true, (f() === 1)) || assert.fail();'),
        ("f() !== 1 && t.fail('no');", "_.guard(\"2:24\", true, (f() !== 1)) && t.fail('no');"),
        ("f() ? g() : assert(false);", '_.branch("2:24", true, (f())) ? g() : assert(false);'),
        ("if (!f()) return reject(new TypeError('a'));", 'if (_.guard("2:24", false, (!f()))) return reject('),
        (
            "if (f() == 1) g(); else if (f() == 2) g(); else throw new AssertionError()",
            'if (_.branch("2:48", true, (f() == 1))) g(); else if (_.branch("2:48", true, (f() == 2))) g(); else',
        ),
        ("switch (f()) { case 1: g(); break; default: throw 'no' }", 'switch (_.reach("2:24", false, (f()))) { case'),
        # They say nothing about the work.
        ("while (!f()) { if (n++ > 9) throw new Error('late') }", "while (!f()) { if (n++ > 9) throw new"),
        ("if (f()) return done(error);", "if (f()) return done(error);"),
        ("try { g() } catch (e) { if (e.n !== 1) throw e }", "catch (e) { if (e.n !== 1) throw e }"),
    ],
)
def test_a_changed_assertion_is_inside_a_probe(before, after):
    source = HEAD + f"test('a', async () => {{ {before} }})\n"
    made = probed(source)
    assert after in made
    assert made.startswith("const _ = LOAD; const test = require")
    assert '_.test("tests/a.test.js::a", async () => {' in made


def test_names_of_groups_and_typescript():
    source = (
        "'use strict'\ndescribe('all', () => { describe('b', () => { it('c', () => { expect(f()).toBe(1) }) }) })\n"
    )
    made = probed(source, "a.test.ts")
    assert made.startswith("'use strict'\nconst _: any = LOAD; describe(")
    assert '_.test("a.test.ts::all > b::c", ' in made


@pytest.mark.parametrize(
    "source",
    [
        "it('a', done => { assert.equal(1, f()); done() })",
        "test.each([1])('a %i', n => { expect(f(n)).toBe(1) })",
        "const test = require('tape'); test('a', () => { assert.equal(f(), 1) })",
        HEAD + "test('a', t => { t.test('b', (t, done) => { t.assert.equal(f(), 1); done() }) })",
        "not javascript (",
    ],
)
def test_tests_with_an_end_of_their_own_are_not_probed(source):
    assert probe_javascript("a.test.js", source.encode(), salt=SALT) is None


BASE = """\
class Money { constructor(n) { this.n = n } valueOf() { return this.n } }
exports.each = (names, call) => names.forEach(name => call(name));
exports.later = call => new Promise(done => setTimeout(() => { call(1); done() }, 1));
exports.safely = call => { call(1) };
exports.items = () => [1, 2];
exports.money = n => n;
exports.event = call => { process.nextTick(call, 1) };
exports.promise = async () => { throw new Error('no') };
"""
CHANGES = {
    "names.forEach(name => call(name))": "undefined",
    "{ call(1); done() }": "{ try { call(1) } catch {} done() }",
    "safely = call => { call(1) }": "safely = call => { try { call(1) } catch {} }",
    "() => [1, 2]": "() => []",
    "money = n => n": "money = n => Object.assign(new Money(n), { n: NaN })",
}
TESTS = """\
function check(n) { assert.equal(n, 1) }
test('callback', () => { product.each([1], check); assert.equal(product.items.length, 0) })
test('later', async () => { await product.later(check); assert.equal(product.items.length, 0) })
test('safely', () => { product.safely(n => assert.equal(n, 1)); assert.equal(product.items.length, 0) })
test('loop', () => { for (const n of product.items()) assert.equal(typeof n, 'number'); check(1) })
test('rejects', async () => { await assert.rejects(product.promise(), /no/); check(1) })
test('async', async () => { assert.equal(await Promise.resolve(1), 1); check(1) })
test('sound', () => { check(1); check(product.money(1) < 2 ? 1 : 1) })
"""
LOAD = "const product = require('./product.js');\n"
MOCHA = f"const assert = require('assert'), test = it;\n{LOAD}"
VITEST = "import assert from 'node:assert'; import { test } from 'vitest'; import product from './product.js';\n"
HEADS = {"node": HEAD + LOAD, "vitest": VITEST}
# The commands, with the folder of the installed programs.
RUNNERS = {
    "node": ("node", "--test", "--test-reporter=tap", "a.test.js"),
    "mocha": ("node", "{}/mocha/bin/mocha.js", "a.test.js"),
    "vitest": ("node", "{}/vitest/vitest.mjs", "run", "a.test.js"),
    "jest": ("node", "{}/jest/bin/jest.js", "--rootDir=.", "--testEnvironment=node", "a.test.js"),
}


def probed_run(folder: Path, runner: str, product: str) -> Assertions:
    folder.mkdir()
    (folder / "product.js").write_text(product)
    (folder / "package.json").write_text("{}")
    source = HEADS.get(runner, MOCHA) + TESTS
    made = probe_javascript("a.test.js", source.encode(), salt=SALT)
    assert made is not None
    assert len(made.probed) == 7
    (folder / "a.test.js").write_bytes(made.source)
    command = [part.format(MODULES) for part in RUNNERS[runner]]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0, done.stdout
    place = folder / records_name("a.test.js", SALT)
    assert place.exists(), done.stdout + done.stderr
    records = read_records("a.test.js", place.read_bytes())
    return Assertions({result.id: result.status for result in as_results(records)})


@pytest.mark.parametrize("runner", RUNNERS)
def test_each_assertion_that_lost_its_effect_is_found(tmp_path, runner):
    if shutil.which("node") is None:
        pytest.skip("needs node")
    if runner != "node" and not (MODULES / runner).exists():
        pytest.skip("needs mocha and jest (scripts/agents installs them)")
    work = BASE
    for before, after in CHANGES.items():
        assert before in work
        work = work.replace(before, after)
    base, after = probed_run(tmp_path / "base", runner, BASE), probed_run(tmp_path / "work", runner, work)
    names = ["callback", "later", "safely", "loop", "rejects", "async", "sound"]
    tests = [f"a.test.js::{name}" for name in names]
    assert [test for test in tests if after.came_to_end(test)] == tests
    found = weakened_assertions(base, after, tests)
    assert set(found) == {f"a.test.js::{name}" for name in ("callback", "later", "safely", "loop")}
    # Equal trees differ in nothing.
    assert weakened_assertions(base, base, tests) == {}


def test_several_files_in_one_process_are_told_apart(tmp_path):
    if shutil.which("node") is None or not (MODULES / "mocha").exists():
        pytest.skip("needs mocha (scripts/agents installs it)")
    source = "const assert = require('assert');\nit('a', () => { assert.equal(Math.max(1), 1) })\n"
    # V8 compiles equal texts once, from the third one on.
    paths = [f"{name}.test.js" for name in "abcd"]
    for path in paths:
        made = probe_javascript(path, source.encode(), salt=SALT)
        assert made is not None
        (tmp_path / path).write_bytes(made.source)
    command = ["node", str(MODULES / "mocha/bin/mocha.js"), *paths]
    subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, check=False)
    for path in paths:
        records = read_records(path, (tmp_path / records_name(path, SALT)).read_bytes())
        assert [record.outcome for record in records] == ["failed", "failed"]
