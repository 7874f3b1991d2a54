"""JavaScript and TypeScript tests get another expectation, and nothing else of their file changes."""

from __future__ import annotations

import pytest

from loopwright.judging.controls.invert import invert
from loopwright.judging.controls.model import SCRIPT

NEVER = "function () { return false }"
STATEMENTS = [
    ("assert.equal(f(3), 4)", "assert.equal(f(3), 9)"),
    ("assert.strictEqual('a', f())", "assert.strictEqual('Qza', f())"),
    ("assert.deepEqual(f(), { a: [1, x] })", "assert.deepEqual(f(), { a: [3, x] })"),
    ("assert.deepEqual(f(), {})", 'assert.deepEqual(f(), [{}, "Qz"])'),
    ("assert.equal(f(), g())", 'assert.equal(f(), [g(), "Qz"])'),
    ("assert.equal(f(), `a${b}`)", "assert.equal(f(), `Qza${b}`)"),
    ("assert.equal(f(), 0x10)", "assert.equal(f(), 33)"),
    ("assert.equal(f(), 10n)", "assert.equal(f(), 21n)"),
    ("assert.notEqual(f(), 1)", "assert.equal(f(), 1)"),
    ("notEqual(f(), g())", "notEqual(...((x) => [x, x])(f()))"),
    ("equal(f(), true)", "equal(f(), false)"),
    ("assert(f() === 1)", "assert(f() === 3)"),
    ("assert.ok(f() > 1)", "assert.ok(f() <= 1)"),
    ("assert.ok(f() && g() == 1)", "assert.ok((!(f())) && g() == 3)"),
    ("assert.ok(f())", "assert.ok((!(f())))"),
    ("assert.throws(f)", f"assert.throws(f, {NEVER})"),
    ("assert.throws(f, /x/)", f"assert.throws(f, {NEVER})"),
    ("await assert.rejects(f(), 'why')", f"await assert.rejects(f(), {NEVER}, 'why')"),
    ("assert.match(f(), /a/)", "assert.match(f(), /(?!)/)"),
    ("t.same(f(), 1)", "t.same(f(), 3)"),
    ("t.assert.equal(f(), 1)", "t.assert.equal(f(), 3)"),
    ("expect(f(1)).toBe(2)", "expect(f(1)).toBe(5)"),
    ("expect(f()).toEqual(g())", "expect(f()).not.toEqual(g())"),
    ("expect(f()).not.toBe(2)", "expect(f()).toBe(2)"),
    ("expect(f()).toBeGreaterThan(2)", "expect(f()).not.toBeGreaterThan(2)"),
    ("expect(f).toThrow()", "expect(f).not.toThrow()"),
    ("await expect(f()).resolves.toBe(x)", "await expect(f()).resolves.not.toBe(x)"),
    ("expect(f()).toMatchSnapshot()", 'expect([f(), "Qz"]).toMatchSnapshot()'),
    ("expect(f()).toContain(1)", "expect(f()).not.toContain(1)"),
    ("expect(f()).to.equal(2)", "expect(f()).to.equal(5)"),
    ("expect(f()).to.be.true", "expect(f()).not.to.be.true"),
    ("f().should.equal(2)", "f().should.equal(5)"),
    ("f().should.be.ok()", "f().should.not.be.ok()"),
    ("if (f() !== 1) { throw new Error('no') }", "if (f() !== 3) { throw new Error('no') }"),
    ("try { equal(f(), 1) } catch (e) { if (!p.x) throw e }", "try { equal(f(), 3) } catch (e) { if (!p.x) throw e }"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), STATEMENTS)
def test_an_expectation_becomes_another_one(before, after):
    source = (
        'const { equal, notEqual } = require("node:assert")\n'
        "describe('all', () => {\n  it(\"it's\", async (t) => { BODY; /* é */ })\n})\n"
    )
    made = invert("a.test.js", source.replace("BODY", before).encode())
    assert made.source.decode() == source.replace("BODY", after)
    assert made.altered == {"all > it's"}


def test_typescript_keeps_its_types_valid():
    made = invert(
        "a.test.ts", b"test('a', (): void => { expect(f() as number).toBe(1); assert.equal(f()!, g<number>()) })"
    )
    assert made.source == (
        b"test('a', (): void => { expect(f() as number).toBe(3); assert.equal(f()!, ([g<number>(), \"Qz\"] as any)) })"
    )


@pytest.mark.parametrize(
    "statement", ["f()", "assert.ok(true)", "assert.equal(1, 1)", "expect.assertions(1)", "expect(f())"]
)
def test_a_test_without_a_changed_expectation_is_named(statement):
    source = f"test('a', () => {{ {statement} }})\n".encode()
    made = invert("a.test.mjs", source)
    assert (made.source, set(made.unaltered)) == (source, {"a"})


def test_helpers_of_the_file_change_too_and_only_wanted_tests():
    source = b"""
import { strict as check } from 'node:assert'
function verify(value) { check.equal(value, 1) }
const also = (value) => { check.equal(value, 1) }
test('a', () => verify(f()))
test.each([1, 2])('b %s', (n) => also(f(n)))
test('c', named)
function named() { check.equal(f(), 1) }
"""
    assert invert("a.js", source).altered == {"a", "b %s", "c"}
    made = invert("a.js", source, only=frozenset({"a"}))
    assert (made.altered, made.source.count(b", 3)")) == ({"a"}, 1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"const assert = require('assert')\nassert(f() == 1)", b"const assert = require('assert')\nassert(f() == 3)"),
        (b"if (f() != 1) process.exit(1)", b"if (f() != 3) process.exit(1)"),
        (b"process.exit(f() === 1 ? 0 : 1)", b"process.exit(f() === 3 ? 0 : 1)"),
        (b"process.exitCode = f()", b"process.exitCode = Number(!(f()))"),
    ],
)
def test_a_script_checks_at_its_top_level(before, after):
    made = invert("check.js", before)
    assert (made.source, made.altered) == (after, {SCRIPT})
