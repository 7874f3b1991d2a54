"""Each assertion of a Go test records whether it could fail, in one run, and the test takes its own path."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from loopwright.judging.controls.go_tests import functions_of, probe_go
from loopwright.judging.controls.marks import records_name
from loopwright.judging.controls.probe_records import (
    Assertions,
    as_results,
    cut_short,
    dead_proofs,
    read_records,
    weakened_assertions,
)

SALT = "ab12"
PATH = "a/x_test.go"
AROUND = (
    "package x\nfunc check(t *testing.T, n int) {{ if n < 0 {{ t.Error() }} }}\nfunc TestA(t *testing.T) {{ {} }}\n"
)
needs_go = pytest.mark.needs("go")


def probed(source: str) -> str:
    """The probed source without the support code."""
    made = probe_go(PATH, source.encode(), salt="", helpers=functions_of(source.encode()))
    assert made is not None
    assert b"\tprobeEnded" in made.source
    return re.sub(r"; import \(.*\)", "", made.source.decode()[: len(source) + 2000])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if F() != 1 { t.Fatal() }", 'if probeGuard(t, "3:27", "failed", bool(F() != 1)) { t.Fatal() }'),
        (
            "if v, err := F(); err != nil || v != 1 { t.Errorf(err.Error()) }",
            'if v, err := F(); probeGuard(t, "3:27", "failed", bool(err != nil || v != 1)) { t.Errorf(err.Error()) }',
        ),
        (
            "if f > 0.1 || f < -0.1 { t.Error() }",
            'bool(probeOrder(t, "3:27", f > 0.1, f <= 0.1) || probeOrder(t, "3:27", f < -0.1, f >= -0.1))) { t.Error',
        ),
        (
            "if math.Abs(F()) > e { t.Error() }",
            'func() bool { probeleft := math.Abs(F()); return probeOrder(t, "3:27", probeleft > e, probeleft <= e) }()',
        ),
        (
            "if F() > G() { t.Error() }",
            'probeleft, proberight := F() , G(); return probeOrder(t, "3:27", probeleft > proberight, probeleft <= ',
        ),
        ("if 1 > F() { t.Error() }", "bool(1 > F())) { t.Error() }"),
        ("if !(f < 0.1) { t.Error() }", "bool(!(f < 0.1))) { t.Error() }"),
        ("if !a.Equal(b) { t.Fail() }", 'bool(!probeEqual(t, "3:27", a.Equal(b), a.Equal, b))) { t.Fail() }'),
        ("if !errors.Is(e, E) { t.Fail() }", 'bool(!probeEqual(t, "3:27", errors.Is(e, E), errors.Is, e, E))) {'),
        ("if !F().Equal(b) { t.Fail() }", "bool(!F().Equal(b))) { t.Fail() }"),
        (
            "if err == nil { g() } else { t.Fatal() }",
            'if probeSeen(t, "3:27", "failed", bool(err == nil)) { g() } else { t.Fatal() }',
        ),
        (
            "if a { g() } else if b { t.Error() } else { g() }",
            '{ g() } else if probeGuard(t, "3:45", "failed", bool(b)) { t.Error() } else { g() }',
        ),
        (
            "switch v := F(); v { case 1: g(); default: t.Fatal() }",
            'probeStep(t, "3:27", "failed"); switch v := F(); v { case 1: g(); default: t.Fatal() }',
        ),
        ("select { case <-c: case <-d: t.Fatal() }", 'probeStep(t, "3:27", "failed"); select { case <-c: case <-d:'),
        ("check(t, F())", 'probeStep(t, "3:27", "failed"); check(t, F())'),
        ("assert.Equal(t, 1, F())", 'probeStep(t, "3:27", "failed"); assert.Equal(t, 1, F())'),
        ("assert.False(t, f > 1)", 'assert.False(t, probeOrder(t, "3:27", f > 1, f <= 1))'),
        ("assert.True(t, a.Equal(b))", 'assert.True(t, probeEqual(t, "3:27", a.Equal(b), a.Equal, b))'),
        (
            "if !assert.NoError(t, err) { return }",
            'if !probeSeen(t, "3:31", "failed", bool(assert.NoError(t, err))) { return }',
        ),
        (
            't.Run("b", func(t *testing.T) { if F() != 1 { t.Fatal() } })',
            't.Run("b", func(t *testing.T) { defer probeSubtest(t); if probeGuard(t, "3:59", "failed", bool(F()',
        ),
        (
            "for F() { if time.Since(b) > c { t.Fatal() } }; check(t, 1)",
            "for F() { if time.Since(b) > c { t.Fatal() } }; ",
        ),
        # Another run may not come to it.
        ("go func() { if a { t.Error() } }(); check(t, 1)", 'if probeGuard(t, "3:39", "sampled", bool(a)) {'),
        # They fail no test, or not always.
        ("if err != nil { log(err.Error()) }; check(t, 1)", "if err != nil { log(err.Error()) }; "),
        ("if a { if b { t.Fatal() } }; check(t, 1)", "if a { if probeGuard("),
        ("if a { t.Log(1) }; check(t, 1)", "if a { t.Log(1) }; "),
        ("if t := fake(); a { t.Fatal() }; check(t, 1)", "if t := fake(); a { t.Fatal() }; "),
    ],
)
def test_an_assertion_records_that_a_test_reached_it(body, expected):
    made = probed(AROUND.format(body))
    assert expected in made
    assert "func TestA(t *testing.T) { defer probeTest(t); " in made
    assert made.startswith("package x\nfunc check(t *testing.T, n int) { if probePassed(t, ")


@pytest.mark.parametrize(
    "source",
    [
        "package x\nfunc TestA(t *testing.T) { F() }\n",
        "package x\nfunc TestA(t *testing.T) { other.Check(t, F(), 1) }\n",
        "package x\nfunc TestA(t *testing.T) {",
    ],
)
def test_tests_without_an_assertion_of_their_own_are_not_probed(source):
    assert probe_go(PATH, source.encode(), salt=SALT) is None


def test_a_test_that_only_calls_foreign_helpers_is_changed_as_a_whole():
    source = AROUND.format("check(t, 1)") + 'func TestB(t *testing.T) { other.Check(t, F(), "b") }\n'
    made = probe_go(PATH, source.encode(), salt=SALT, helpers=functions_of(source.encode()))
    assert made is not None
    assert (made.probed, made.altered) == ({"TestA"}, {"TestA", "TestB"})
    assert b'other.Check(t, F(), "b")' not in made.source


PRODUCT = """\
package x

import ("errors"; "math"; "runtime")

type Money struct { cents int }
func (m Money) Equal(other Money) bool { return m == other }
type failure struct{}
func (failure) Error() string { return "" }
func (failure) Is(other error) bool { return other == Missing }
var Missing = errors.New("missing")
func Each(names []string, call func(string)) { for _, name := range names { call(name) } }
func Rows() []int { return []int{1, 2} }
func Half(n float64) float64 { return n / 2 }
func Price() Money { return Money{5} }
func Get() error { return failure{} }
func Later(call func()) { call() }
func Double(n int) int { return n }
func None() float64 { return math.Inf(1) }
func Kind() interface{} { return 1 }
type kind struct{ code int }
func (*kind) Error() string { return "" }
func (*kind) Is(other error) bool { _, isKind := other.(*kind); return isKind }
func Caller() string { at, _, _, _ := runtime.Caller(1); return runtime.FuncForPC(at).Name() }
"""
CHANGES = {
    "{ for _, name := range names { call(name) } }": "{}",
    "[]int{1, 2}": "nil",
    "return n / 2": "return n * math.NaN()",
    "return m == other": "return true",
    "return other == Missing": "return true",
    "func Later(call func()) { call() }": "func Later(call func()) { go func() { select {} }() }",
    "int { return n }": "int { return n + n }",
}
TESTS = """\
package x

import ("errors"; "math"; "testing"; "time")

func check(t *testing.T, got, want int) {
	t.Helper()
	if got != want { t.Fatalf("%d is not %d", got, want) }
}
func sound(t *testing.T) { check(t, len("a"), 1) }
func TestCallback(t *testing.T) {
	Each([]string{"a"}, func(name string) { if name != "a" { t.Error(name) } })
	sound(t)
}
func TestRows(t *testing.T) { t.Parallel(); for _, row := range Rows() { check(t, row - row, 0) }; sound(t) }
func TestHalf(t *testing.T) {
	for _, n := range []float64{2, 4} {
		missing := Half(n)*2 - n
		if missing > 0.1 || missing < -0.1 { t.Errorf("%v is wrong", n) }
	}
	sound(t)
}
func TestAbs(t *testing.T) { if math.Abs(Half(2) - 1) > 0.1 { t.Error() }; if Half(4) > Half(5) { t.Error() } }
func TestEqual(t *testing.T) { got := Price(); if !got.Equal(Money{5}) { t.Error() }; sound(t) }
func TestIs(t *testing.T) { err := Get(); if !errors.Is(err, Missing) { t.Error() }; sound(t) }
func TestLater(t *testing.T) { Later(func() { sound(t); if len(Rows()) > 5 { t.Fatal() } }); sound(t) }
func TestParts(t *testing.T) {
	for _, name := range []string{"a", "b"} {
		name := name
		t.Run("part "+name, func(t *testing.T) {
			t.Parallel()
			Each([]string{name}, func(got string) { if got != name { t.Errorf("%s", got) } })
			sound(t)
		})
	}
}
func TestDouble(t *testing.T) { if Double(2) != 4 { t.Fatal() }; sound(t) }
func TestSound(t *testing.T) {
	defer func() { if recover() == nil { t.Error("no panic") } }()
	switch Kind().(type) { case int: sound(t); default: t.Fatal() }
	select { case <-time.After(0): case <-time.After(time.Hour): t.Fatal() }
	if v := None(); math.IsNaN(v) { t.Error() } else if v < 1 { t.Error() }
	if Price() != (Money{5}) { t.Error() }
	panic("done")
}
func TestKind(t *testing.T) { if err := error(&kind{1}); !errors.Is(err, &kind{}) { t.Error(err) } }
func TestNamed(t *testing.T) {
	func() { if name := Caller(); name[len(name)-15:] != "TestNamed.func1" { t.Error(name) } }()
}
func TestSkipped(t *testing.T) { t.Skip("not here"); sound(t) }
func TestUnnamed(_ *testing.T) {}
"""
OUTSIDE = """\
package x_test

import (
	"testing" // no other imports

	x "example.org/go.x"
)

func TestOutside(t *testing.T) { x.Each([]string{"a"}, func(name string) { if name != "a" { t.Error(name) } }) }
"""
LOST = ["Callback", "Rows", "Half", "Abs", "Equal", "Is", "Later", "Parts/part_a", "Parts/part_b", "Outside"]


def probed_run(folder: Path, product: str, tests: str = TESTS) -> tuple[Assertions, dict[str, tuple[int, int]], str]:
    (folder / "a").mkdir(parents=True)
    (folder / "go.mod").write_text("module example.org/go.x\n\ngo 1.14\n")
    (folder / "x.go").write_text(product)
    spans = {}
    for name, source in (("x_test.go", tests), ("outside_test.go", OUTSIDE)):
        made = probe_go(name, source.encode(), salt=SALT, helpers=functions_of(source.encode()))
        assert made is not None
        spans[name] = made.assertions
        (folder / name).write_bytes(made.source)
    done = subprocess.run(["go", "test", "-v"], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert "--- PASS: TestDouble" not in done.stdout
    places = [(name, folder / records_name(name, SALT)) for name in spans]
    assert all(place.exists() for _, place in places), done.stdout + done.stderr
    records = [record for name, place in places for record in read_records(name, place.read_bytes())]
    return Assertions({result.id: result.status for result in as_results(records)}), spans, done.stdout


@needs_go
def test_each_assertion_that_lost_its_effect_is_found(tmp_path):
    work = PRODUCT
    for before, after in CHANGES.items():
        assert before in work
        work = work.replace(before, after)
    base, spans, said = probed_run(tmp_path / "base", PRODUCT)
    after, _, _ = probed_run(tmp_path / "work", work)
    names = re.findall(r"=== RUN   (\S+)", said)
    tests = [f"example.org/go.x::{name}" for name in names]
    ends = [name for name, test in zip(names, tests, strict=True) if not base.came_to_end(test)]
    assert ends == ["TestDouble", "TestSkipped", "TestUnnamed"]
    assert set(weakened_assertions(base, after, tests)) == {f"example.org/go.x::Test{name}" for name in LOST}
    assert cut_short(base, after, tests) == ()
    # The test that failed on the base proves the work.
    assert base.stopped_at("example.org/go.x::TestDouble", spans)[0].startswith("x_test.go:")
    assert dead_proofs(base, after, ["example.org/go.x::TestDouble"], spans) == {}
    # Equal trees differ in nothing, and each assertion of the base can fail.
    assert "passed" not in base.outcomes.values()
    assert weakened_assertions(base, base, tests) == {}


@needs_go
def test_the_assertion_by_which_a_test_failed_must_be_reached(tmp_path):
    test = "example.org/go.x::TestRows"
    base, spans, _ = probed_run(tmp_path / "base", PRODUCT, TESTS.replace("row - row, 0", "row, 2"))
    after, _, _ = probed_run(
        tmp_path / "work", PRODUCT.replace("[]int{1, 2}", "nil"), TESTS.replace("row - row, 0", "row, 2")
    )
    assert not base.came_to_end(test)
    assert dead_proofs(base, after, [test], spans) == {test: base.stopped_at(test, spans)}
