"""Constants of the product that tests in JavaScript and Go expect, and the places where they are pinned."""

from __future__ import annotations

import pytest

from loopwright.judging.controls import pinned_go, pinned_javascript

JS_HEAD = "const { RATE, fee, NAMES: N } = require('../fees')\nconst lib = require('../fees')\n"
GO_HEAD = "package fees_test\n"


@pytest.mark.parametrize(
    ("source", "constants"),
    [
        ("const RATE = 0.2", {"RATE": b"0.2"}),
        ("export const RATE: number = 1", {"RATE": b"1"}),
        ("const A = 2\nconst B = A * 3", {"A": b"2", "B": b"(2) * 3"}),
        ("const N = Object.freeze({ a: 'x', b: [1] })", {"N": b"{ a: 'x', b: [1] }"}),
        ("exports.MAX = 5", {"MAX": b"5"}),
        ("const MAX = 5\nexports.MAX = MAX", {"MAX": b"5"}),
        ("module.exports = { UNIT: 'kg', f() {} }", {"UNIT": b"'kg'"}),
        ("const f = () => 1\nconst at = Date.now()\nconst t = `${at}`", {}),
        ("const A = B\nconst B = A", {}),
        ("not a program {", {}),
    ],
)
def test_constants_of_javascript_consist_of_literals(source, constants):
    assert pinned_javascript.constants_of("fees.ts", source.encode()) == constants


@pytest.mark.parametrize(
    ("source", "constants"),
    [
        ("const Rate = 0.2", {"Rate": b"0.2"}),
        ("const (\n\tA, B = 1, 2\n)", {"A": b"1", "B": b"2"}),
        ('var Names = map[string]int{"a": 1}', {"Names": b'map[string]int{"a": 1}'}),
        ("var T = Table{1}\nvar At = time.Now()", {}),
        ("const (\n\tA = iota\n\tB\n)", {}),
        ("func F() { const Inner = 1 }", {}),
    ],
)
def test_constants_of_go_consist_of_literals(source, constants):
    assert pinned_go.constants_of(f"package fees\n{source}\n".encode()) == constants


@pytest.mark.parametrize(
    "expected",
    [
        "assert.equal(fee(100), [[RATE]] * 100)",
        "assert.deepEqual(lib.names(), [ [[lib.RATE]], Math.round([[RATE]]) ])",
        "assert.equal(fee(1), `${[[RATE]]} EUR`)",
        "expect(fee(1)).toBe([[lib.RATE]])",
        "expect(fee(1)).to.deep.equal([[RATE]])",
        "const want = [[RATE]] * 3\nassert.equal(fee(3), want)",
        "if (fee(1) !== [[RATE]]) throw new Error('wrong')",
        "assert.ok(lib.calls() <= [[lib.RATE]])",
    ],
)
def test_a_constant_that_a_javascript_test_expects_is_pinned(expected):
    source = JS_HEAD + expected.replace("[[", "").replace("]]", "")
    pinned = pinned_javascript.pin_javascript("a.test.js", source.encode(), {"RATE": b"0.5"})
    assert pinned is not None
    assert pinned.decode() == JS_HEAD + expected.replace("[[lib.RATE]]", "(0.5)").replace("[[RATE]]", "(0.5)")


@pytest.mark.parametrize(
    "source",
    [
        # The constant is itself what is tested, or an input of the product.
        "assert.equal(RATE, 0.2)",
        "const want = 0.2\nassert.equal(RATE, want)",
        "expect(lib.RATE).toBe(0.2)",
        "assert.equal(fee(RATE), 4)",
        "const rate = lib.RATE\nassert.equal(fee(rate), 4)",
        "assert.equal(fee(1), other.RATE)",
        "assert.equal(fee(1), 0.2)",
        "for (let n = 0; n < RATE; n++) fee(n)",
    ],
)
def test_another_use_of_a_constant_in_javascript_is_not_pinned(source):
    assert pinned_javascript.pin_javascript("a.test.js", (JS_HEAD + source).encode(), {"RATE": b"0.5"}) is None


@pytest.mark.parametrize(
    "expected",
    [
        "if got := fees.Fee(1); got != [[fees.Rate]] {}",
        "want := [[fees.Rate]] * 100",
        "if n := fees.Calls(); n > [[fees.Rate]] {}",
        "assert.Equal(t, [[fees.Rate]], fees.Fee(1))",
        "_ = []row{{in: 2, want: [[fees.Rate]] * 2}}",
    ],
)
def test_a_constant_that_a_go_test_expects_is_pinned(expected):
    test = f"{GO_HEAD}func TestF(t *testing.T) {{ {expected} }}\n"
    pinned = pinned_go.pin_go(test.replace("[[", "").replace("]]", "").encode(), {"fees.Rate": b"0.5"})
    assert pinned is not None
    # The import keeps a use.
    assert pinned.decode() == test.replace("[[fees.Rate]]", "(0.5)") + "\nvar _ = fees.Rate\n"


@pytest.mark.parametrize(
    "source",
    [
        "if fees.Rate != 0.2 {}",
        "if fees.Fee(fees.Rate) != 4 {}",
        "limit := fees.Rate",
        "for n := 0; n < fees.Rate; n++ {}",
        "t.Errorf(`%v`, fees.Rate)",
        "assert.Equal(t, fees.Rate, 0.2)",
        "_ = []row{{in: fees.Rate, want: 2}}",
    ],
)
def test_another_use_of_a_constant_in_go_is_not_pinned(source):
    test = f"{GO_HEAD}func TestF(t *testing.T) {{ {source} }}\n"
    assert pinned_go.pin_go(test.encode(), {"fees.Rate": b"0.5"}) is None
