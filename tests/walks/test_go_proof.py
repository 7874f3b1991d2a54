"""Loops in Go: an assertion that can't fail any more holds the work, whatever else its test asserts."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.lies

HEAD = 'package calc\n\nimport (\n\t"errors"\n\t"math"\n)\n\nvar _, missing = math.Pi, errors.New("missing")\n\n'
# What the work changes, apart from the function that the test of the task shows to be wrong.
PARTS = {
    "each": "func Each(names []string, call func(string)) { for _, name := range names { call(name) } }",
    "rows": "func Rows() []int { return []int{1, 2} }",
    "half": "func Half(n float64) float64 { return n / 2 }",
    "find": "func Find(name string) error { return missing }",
}
WRONG = "func Double(n int) int { return n }"
RIGHT = "func Double(n int) int { return n + n }"
TESTS = """\
package calc

import (
	"errors"
	"testing"
)

func check(t *testing.T, got, want int) {
	t.Helper()
	if got != want {
		t.Fatalf("%d is not %d", got, want)
	}
}

func TestDouble(t *testing.T) {
	for _, c := range []struct{ name string; in, want int }{{"two", 2, 4}, {"none", 0, 0}} {
		c := c
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			check(t, Double(c.in), c.want)
		})
	}
}

func TestParts(t *testing.T) {
	Each([]string{"a"}, func(name string) {
		if name != "a" {
			t.Errorf("%s is not a", name)
		}
	})
	for _, row := range Rows() {
		check(t, row-row, 0)
	}
	if rest := Half(2)*2 - 2; rest > 0.1 || rest < -0.1 {
		t.Error("no half")
	}
	if err := Find("b"); !errors.Is(err, missing) {
		t.Error(err)
	}
	check(t, Double(0), 0)
}

func TestElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long")
	}
	check(t, len("a"), 1)
}
"""


def product(double, **parts):
    return HEAD + "\n".join([double, *(PARTS | parts).values()]) + "\n"


@pytest.fixture
def go_calc(loops):
    """A module with a bug, a test that shows it, and a test with one assertion for each other part."""

    def make(work, files=None):
        loops.configure([{"role": "builder", "run": f"cat > calc.go <<'END'\n{work}END\n"}])
        config = loops.project.own / "config.toml"
        config.write_text(config.read_text().replace("test -e done", "go test ./..."))
        loops.project.write("go.mod", "module example.org/calc\n\ngo 1.14\n")
        loops.project.write("calc.go", product(WRONG))
        loops.project.write("calc_test.go", TESTS)
        for name, text in (files or {}).items():
            loops.project.write(name, text)
        loops.project.commit("a bug, and tests")
        return loops.new("--task", "double doubles")

    return make


@pytest.mark.needs("go")
@pytest.mark.parametrize(
    "parts",
    [
        {"each": "func Each(names []string, call func(string)) {}"},
        {"rows": "func Rows() []int { return nil }"},
        {"half": "func Half(n float64) float64 { return n * math.NaN() }"},
    ],
    ids=["drops a callback", "returns no rows", "is no number"],
)
def test_an_assertion_that_lost_its_effect_holds_the_work(loops, go_calc, parts):
    loop_id = go_calc(product(RIGHT, **parts))
    loops.run("start", loop_id, code=14)
    (hold,) = loops.shown(loop_id)["loopwright"]["holds"]
    assert hold["code"] == "vacuous_tests"
    assert "example.org/calc::TestParts (calc_test.go, line " in hold["message"]


# Other code for the same parts. Tests of the second package can't see the first one.
HONEST = {
    "each": "func Each(names []string, call func(string)) { for n := 0; n < len(names); n++ { call(names[n]) } }",
    "rows": "func Rows() []int { return []int{1, 2, 3} }",
    "half": "func Half(n float64) float64 { return 0.5 * n }",
}
OUTSIDE = """\
package calc_test

import (
	"os"
	"testing"

	. "example.org/calc"
)

func TestMain(m *testing.M) { os.Exit(m.Run()) }

func TestOutside(t *testing.T) {
	if Half(2) != 1 {
		t.Fatal("no half")
	}
}
"""


@pytest.mark.needs("go")
@pytest.mark.parametrize("files", [{}, {"outside_test.go": OUTSIDE}], ids=["one package", "two packages"])
def test_honest_work_passes_and_leaves_nothing(loops, go_calc, files):
    loop_id = go_calc(product(RIGHT, **HONEST), files)
    loops.run("start", loop_id)
    assert loops.shown(loop_id)["status"] == "completed"
    patch = (loops.project.own / "loops" / f"{loop_id}.progress" / "changes.patch").read_text()
    assert "+++ b/calc.go" in patch
    assert "_test.go" not in patch
    # The run with probes also serves the tests that prove the work; the other one changes them slightly.
    controls = controls_of(loops)
    assert (controls.count("probed-tests"), controls.count("inverted-tests")) == (2, 1)


# A probe converts conditions to the type that usually has this name.
UNBUILDABLE = """\
package calc

import "testing"

type truth bool

func TestTruth(t *testing.T) {
	type bool int
	if truth(Double(0) != 0) {
		t.Fatal("no truth")
	}
}
"""


@pytest.mark.needs("go")
def test_files_that_go_cannot_build_with_probes_are_inverted_as_a_whole(loops, go_calc):
    loop_id = go_calc(product(RIGHT, **HONEST), {"truth_test.go": UNBUILDABLE})
    loops.run("start", loop_id)
    assert loops.shown(loop_id)["status"] == "completed"
    assert controls_of(loops).count("probed-tests-without-go") == 2


def controls_of(loops):
    """What was altered in each run, by its name."""
    paths = (loops.project.own / "runs").glob("*/evidence.json")
    return [json.loads(path.read_bytes()).get("control", "") for path in paths]
