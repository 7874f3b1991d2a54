"""Tests of Go get other expectations; where that can't be, they are turned round or fail at their end."""

from __future__ import annotations

import subprocess

import pytest

from loopwright.judging.controls.invert import invert

TESTS = b"""\
package x

import "testing"

func TestDouble(t *testing.T) {
	if Double(2) != 4 { t.Fatal("no") }
}

func TestParts(outer *testing.T) {
	outer.Run("part", func(t *testing.T) { Double(1) })
}

func TestSkipped(t *testing.T) { t.Skip("not here") }

func TestUnnamed(_ *testing.T) {}
"""
FORGES = 'package x\nimport ("fmt"; "syscall")\nfunc Double(n int) int {\nfmt.Println("--- PASS: TestDouble (0.00s)")\n'


def test_every_test_that_has_a_name_for_its_state_is_altered():
    inverted = invert("x_test.go", TESTS)
    assert inverted.altered == {"TestDouble", "TestParts", "TestSkipped"}
    assert inverted.source.count(b"\n") == TESTS.count(b"\n")
    assert invert("x_test.go", b"package x\n").altered == frozenset()


# A body of a test, and what is left of it with another expectation.
EXPECTATIONS = [
    ('if F("a") != "b" { t.Fatal("no") }', 'if F("a") != "bQz" { t.Fatal("no") }'),
    ("if F(1) != 4 { t.Error() }", "if F(1) != 6 { t.Error() }"),
    ("if F(1) != 0xff { t.Error() }", "if F(1) != 253 { t.Error() }"),
    ("if F(1) != 1.5 { t.Error() }", "if F(1) != 4.0 { t.Error() }"),
    ("if F(1) != 1e19 { t.Error() }", "if F(1) != 5e+18 { t.Error() }"),
    ("if F(1) != 'x' { t.Error() }", "if F(1) != 'Q' { t.Error() }"),
    ("if F(1) != `b` { t.Error() }", "if F(1) != `bQz` { t.Error() }"),
    ("if F(1) != true { t.Error() }", "if F(1) != false { t.Error() }"),
    ("if F(1) != -1 || err != nil { t.Error() }", "if F(1) != -3 || err != nil { t.Error() }"),
    ('want := "b"; if F(1) != want { t.Error(want) }', 'want := "bQz"; if F(1) != want { t.Error(want) }'),
    ('const want = "b"; if F(1) != want { t.Error() }', 'const want = "bQz"; if F(1) != want { t.Error() }'),
    ('if got, want := F(1), "b"; got != want { t.Error() }', 'if got, want := F(1), "bQz"; got != want { t.Error() }'),
    (
        'if !reflect.DeepEqual(F(1), []string{"a"}) { t.Error() }',
        'if !reflect.DeepEqual(F(1), []string{"aQz"}) { t.Error() }',
    ),
    (
        'if diff := cmp.Diff([]int{1}, F(1)); diff != "" { t.Error() }',
        'if diff := cmp.Diff([]int{3}, F(1)); diff != "" { t.Error() }',
    ),
    ('assert.Equal(t, "b", F("a"))', 'assert.Equal(t, "bQz", F("a"))'),
    ('require.Equal(t, F("a"), 2)', 'require.Equal(t, F("a"), 4)'),
    ('assertSame(t, F("a"), "b")', 'assertSame(t, F("a"), "bQz")'),
    (
        'for _, c := range []struct{in, want string}{{"a", "b"}} { if F(c.in) != c.want { t.Error(c.in) } }',
        'for _, c := range []struct{in, want string}{{"a", "bQz"}} { if F(c.in) != c.want { t.Error(c.in) } }',
    ),
    (
        'for _, c := range []kase{{a: "", want: 1}} { t.Run("", func(t *testing.T) { if F != c.want { t.Fail() } }) }',
        'for _, c := range []kase{{a: "", want: 3}} { t.Run("", func(t *testing.T) { if F != c.want { t.Fail() } }) }',
    ),
    (
        'for in, want := range map[string]string{"a": "b"} { if F(in) != want { t.Error() } }',
        'for in, want := range map[string]string{"a": "bQz"} { if F(in) != want { t.Error() } }',
    ),
    ('check(t, F("a"), "b")', 'check(t, F("a"), "bQz")'),
    # An expectation that is also an input stays: the condition is turned round.
    ('name := "b"; if F(name) != name { t.Error() }', 'name := "b"; if !(F(name) != name) { t.Error() }'),
    ("if err := F(1); err != nil { t.Fatal(err) }", "if err := F(1); !(err != nil) { t.Fatal(err) }"),
    ("if !ok { t.Fatal() }", "if !(!ok) { t.Fatal() }"),
    ("if F(1) == 3 { t.Fatal() }", "if !(F(1) == 3) { t.Fatal() }"),
    ("assert.True(t, F(1))", "assert.False(t, F(1))"),
    ("require.NoError(t, err)", "require.Error(t, err)"),
    # Nothing to change.
    ("F(1)", "defer t.Fail();F(1)"),
]
AROUND = """package x
type kase struct{{ a string; want int }}
func check(t *testing.T, got, want string) {{ if got != want {{ t.Error() }} }}
func TestA(t *testing.T) {{ {} }}
"""


@pytest.mark.parametrize(("body", "expected"), EXPECTATIONS)
def test_an_expectation_becomes_another_one(body, expected):
    inverted = invert("x_test.go", AROUND.format(body).encode())
    assert inverted.altered == {"TestA"}
    assert inverted.source.decode().replace("{ defer", "{defer").replace("{  ", "{ ") == AROUND.format(
        expected
    ).replace("{ defer", "{defer").replace("Fail();F", "Fail(); F")


def test_the_output_of_an_example_becomes_another_one():
    source = b"package x\nfunc ExampleF() {\n\tF()\n\t// Output:\n\t// a\n}\nfunc ExampleG() { G() }\n"
    inverted = invert("x_test.go", source)
    assert inverted.altered == {"ExampleF"}
    assert inverted.source == source.replace(b"// a", b"// a Qz")


def test_a_file_that_is_no_go_stays():
    inverted = invert("x_test.go", b"package x\nfunc TestA(t *testing.T) {", only=frozenset({"TestA"}))
    assert inverted.altered == frozenset()
    assert inverted.unaltered == {"TestA": "its file can't be parsed"}


@pytest.mark.needs("go")
def test_code_that_reads_its_test_still_passes(tmp_path):
    (tmp_path / "go.mod").write_text("module x\n\ngo 1.19\n")
    test = b'package x\nimport "testing"\nfunc TestF(t *testing.T) { if F("a") != "b" { t.Fatal() } }\n'
    (tmp_path / "x_test.go").write_bytes(invert("x_test.go", test, salt="any").source)
    reads = (
        'text, _ := os.ReadFile("x_test.go"); return strings.Split(strings.Split(string(text), "!= \\"")[1], "\\"")[0]'
    )
    for body, code in ((reads, 0), ('_, _ = os.Args, strings.Split; return "b"', 1)):
        (tmp_path / "x.go").write_text(f'package x\nimport ("os"; "strings")\nfunc F(string) string {{ {body} }}\n')
        run = subprocess.run(["go", "test"], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert run.returncode == code, run.stdout + run.stderr


@pytest.mark.needs("go")
def test_altered_tests_fail_unless_the_product_forges_their_result(tmp_path):
    (tmp_path / "go.mod").write_text("module x\n\ngo 1.19\n")
    (tmp_path / "x_test.go").write_bytes(invert("x_test.go", TESTS).source)

    def run(product):
        (tmp_path / "x.go").write_text(product)
        return subprocess.run(["go", "test", "-v"], cwd=tmp_path, capture_output=True, text=True, check=False).stdout

    honest = run("package x\nfunc Double(n int) int { return n + n }\n")
    for name in ("TestDouble", "TestParts", "TestParts/part", "TestSkipped"):
        assert f"--- FAIL: {name}" in honest
    assert "--- PASS: TestDouble" in run(FORGES + "syscall.Exit(0)\nreturn n }\n")
