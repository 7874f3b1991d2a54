"""Expectations that change slightly: what changes, what stays, and that no assertion hides the next one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from loopwright.judging.controls.called_expectations import in_command
from loopwright.judging.controls.invert import invert
from loopwright.judging.controls.shell import expects_failure


def near(path, source):
    """The source with fixed marks: each letter and number goes two steps on."""
    return invert(path, source.encode(), salt="", is_near=True).source.decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("assert f('A') == 'hello Ann'", "assert f('A') == 'hello Anp'"),
        ("assert 'hello Ann\\n' == f('A')", "assert 'hello Anp\\n' == f('A')"),
        ("assert f() == 42 and g() == [1, {'a': 'b'}]", "assert f() == 44 and g() == [3, {'a': 'd'}]"),
        ("assert f() == b'x'", "assert f() == b'z'"),
        ("assert f() == ''", "assert f() == 'Q'"),
        ("assert 'Ann' in f()", "assert 'Anp' in f()"),
        ("self.assertEqual(f(), 'a9')", "self.assertEqual(f(), 'a1')"),
        ("self.assertTrue(f() == 1)", "self.assertTrue(f() == 3)"),
        ("f() == 1 or exit(1)", "f() == 3 or exit(1)"),
        ("want = 'x'\nassert f() == want, f'not {want}'", "want = 'z'\nassert f() == want, f'not {want}'"),
        (
            "for a, b in [(1, 2), (3, 4)]: assert f(a) == b",
            "for a, b in [(1, 4), (3, 6)]: assert f(a) == b",
        ),
    ],
)
def test_an_exact_expectation_of_python_changes_slightly(before, after):
    lines = near("check.py", f"import f\n{before}\n").splitlines()
    assert all(any(part in line for line in lines) for part in after.split("\n"))


@pytest.mark.parametrize(
    "source",
    [
        "assert f() != 1",
        "assert f() == approx(1)",
        "assert f() == {1, 2}",
        "self.assertAlmostEqual(f(), 1.5)",
        "self.assertCountEqual(f(), [1, 2])",
        "assert f() is None",
        "want = 1\nassert f(want) == want",
        "for a, b in [(1, None), (3, 4)]: assert f(a) == b",
        "assert 'a1' in f()",
    ],
)
def test_what_has_a_tolerance_or_is_an_input_stays(source):
    assert near("check.py", f"{source}\n") == f"{source}\n"


# Two functions of a file, and what becomes of them.
SCOPES = [
    # A name stands for the values of its own function.
    (["want = 'x'", "assert f() == want"], ["want = 'y'", "assert f() == want"], ["want = 'z'", "want = 'a'"]),
    (["want = 'x'", "assert f() == want"], ["want = 'y'", "assert f(want) == want"], ["want = 'z'", "want = 'y'"]),
    (["want = 'x'", "assert f() == want"], ["assert f(TABLE) == 'y'"], ["want = 'z'", "'a'", "TABLE = 'x'"]),
    (["assert f() == TABLE"], ["assert f() == 'y'"], ["TABLE = 'z'", "'a'"]),
    # A name of the module may be used in each function, unless that has one of its own.
    (["assert f() == TABLE"], ["assert f(TABLE) == 'y'"], ["TABLE = 'x'", "'a'"]),
    (["assert f() == TABLE"], ["TABLE = 'y'", "assert f(TABLE) == 'y'"], ["TABLE = 'z'", "    TABLE = 'y'", "== 'a'"]),
    (["global TABLE", "TABLE = 'y'"], ["assert f() == TABLE"], ["TABLE = 'z'", "    TABLE = 'a'"]),
]


@pytest.mark.parametrize(("first", "second", "changed"), SCOPES)
def test_a_name_stands_for_the_values_of_its_scope(first, second, changed):
    tests = (["def test_a():", *first], ["def test_b():", *second])
    body = "".join("\n    ".join(lines) + "\n" for lines in tests)
    made = near("test_a.py", f"TABLE = 'x'\n{body}")
    assert [part for part in changed if part not in made] == [], made


SOFT = """\
import unittest
from pathlib import Path

class Tests(unittest.TestCase):
    def test_both(self):
        "Both."
        self.assertEqual(honest('Ann'), 'hello Ann')  # first
        for name in ['Bob']:
            self.assertEqual({0}(name), 'hello Bob')

    def test_returns(self):
        self.assertEqual(honest('Ann'), 'hello Ann')
        return

def honest(name):
    return f'hello {{name}}'

def reads(name):
    return Path(__file__).read_text().split("(name), '")[1].split("'")[0]
"""


@pytest.mark.parametrize(("function", "passes"), [("honest", False), ("reads", True)])
def test_a_near_assertion_that_fails_does_not_hide_the_next_one(tmp_path, function, passes):
    inverted = invert("test_a.py", SOFT.format(function).encode(), salt="any", is_near=True)
    assert inverted.altered == {"Tests.test_both", "Tests.test_returns"}
    (tmp_path / "test_a.py").write_bytes(inverted.source)
    command = [sys.executable, "-m", "unittest", "-v", "test_a"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stderr
    assert ("test_both (test_a.Tests.test_both)\nBoth. ... ok" in said) is passes
    assert "test_returns (test_a.Tests.test_returns) ... FAIL" in said


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.js", "assert.equal(f(), 'hello Ann')", "assert.equal(f(), 'hello Anp')"),
        ("a.ts", "expect(f()).toEqual([1, 2.5, 'a\\n'])", "expect(f()).toEqual([3, 2.71875, 'c\\n'])"),
        ("a.js", "expect(f()).toContain('text')", "expect(f()).toContain('texv')"),
        ("a.js", "expect(f()).toBeCloseTo(1.5)", "expect(f()).toBeCloseTo(1.5)"),
        ("a.js", "expect(f()).not.toBe(1)", "expect(f()).not.toBe(1)"),
        ("a.js", "assert.closeTo(f(), 1, 5)", "assert.closeTo(f(), 1, 5)"),
        ("a.js", "if (f() !== 'a') { process.exit(1) }", "if (f() !== 'c') { process.exit(1) }"),
        ("a_test.go", 'if f() != "hello Ann" {t.Fatal()}', 'if f() != "hello Anp" {t.Fatal()}'),
        ("a_test.go", "if f() != 4 {t.Fatal()}", "if f() != 6 {t.Fatal()}"),
        ("a_test.go", "if f() != true {t.Fatal()}", "if f() != true {t.Fatal()}"),
        ("a.sh", 'test "$(f)" = "hello Ann"', 'test "$(f)" = "hello Anp"'),
        ("a.sh", "f | grep -q 'hello Ann'", "f | grep -q 'hello Anp'"),
        ("a.sh", "f | grep -q 'hello [A-Z]'", "f | grep -q 'hello [A-Z]'"),
        ("a.sh", 'echo Ä; [ "$(f)" = "Grüße" ]', 'echo Ä; [ "$(f)" = "Grüßg" ]'),
        ("a.sh", "echo Ä; f | grep -q 'naïve café'", "echo Ä; f | grep -q 'naïve cahé'"),
        ("a.sh", 'test "$(f)" = "äöü"', 'test "$(f)" = "äöü"'),
    ],
)
def test_other_languages_change_slightly(path, before, after):
    go = "package a\n\nfunc TestA(t *testing.T) {{\n\t{}\n}}\n"
    whole = go.format if path.endswith("go") else "{}\n".format
    assert near(path, whole(before)) == whole(after)


def test_the_near_forms_of_a_command_come_last():
    texts = [changed.command for changed in in_command("test $(f) = 1 && grep -q abc d", salt="")]
    assert texts == [
        "test $(f) != 1 && grep -q abc d", "test $(f) = 1 && grep -q Qzabc d",
        "test $(f) = 3 && grep -q abc d", "test $(f) = 1 && grep -q abe d",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("! python3 -c 'f()'", True),
        ("python3 a.py && ! python3 b.py", True),
        ("if ! python3 a.py; then exit 1; fi", False),
        ("if python3 a.py; then exit 1; fi", True),
        ("python3 a.py; [ $? -ne 0 ]", True),
        ("python3 a.py; test $? = 0", False),
        ("test ! -e x", False),
    ],
)
def test_a_command_may_expect_that_its_program_fails(command, expected):
    assert expects_failure(command) is expected
