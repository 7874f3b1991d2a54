"""Python tests get another expectation, and nothing else of their file changes."""

from __future__ import annotations

import pytest

from loopwright.judging.controls.invert import invert
from loopwright.judging.controls.model import SCRIPT

# What the tests below write as other(x).
OTHER = (
    "(lambda v: abs(v) * 2 + 1 if type(v) in (int, float) and abs(v) < 1e300 "
    'else v + "Qz" if type(v) is str else "Qz")('
)
# A statement of a test, and its inverted form.
STATEMENTS = [
    ("assert f(3) == 4  # why", "assert f(3) == 9  # why"),
    ("assert 4 == f(3), 'why'", "assert 9 == f(3), 'why'"),
    ("assert f() == -1.5", "assert f() == -4.0"),
    ("assert f() == 'a'", "assert f() == 'Qza'"),
    ('assert f() == rb"""x"""', 'assert f() == rb"""Qzx"""'),
    ("assert f() == f'{x}'", "assert f() == f'Qz{x}'"),
    ("assert f() == [1, x, {'a': True}]", "assert f() == [3, x, {'a': False}]"),
    ("assert f() == pytest.approx(0.3)", "assert f() == pytest.approx(1.6)"),
    ("assert f() == []", "assert f() == other(([]))"),
    ("assert f(1) == g(1)", "assert f(1) == other((g(1)))"),
    ("assert f() == b == 2", "assert f() == b == 5"),
    ("assert f() != 2", "assert f() == 2"),
    ("assert f() is None", "assert f() is not None"),
    ("assert f() is True", "assert f() is False"),
    ("assert f() is not None", "assert f() is None"),
    ("assert f() <= 2", "assert f() > 2"),
    ("assert 0 < f() <= 2", "assert (not (0 < f() <= 2))"),
    ("assert 'a' in f()", "assert 'Qza' in f()"),
    ("assert 1 in f()", "assert 1 not in f()"),
    ("assert f() in ('a', 'b')", "assert f() in ('Qza', 'Qzb')"),
    ("assert f() not in x", "assert f() in x"),
    ("assert f()", "assert (not (f()))"),
    ("assert not f()", "assert (not (not f()))"),
    ("assert f() and g() == 1", "assert (not (f())) and g() == 3"),
    ("assert f() or g()", "assert ((f()) and False) or ((g()) and False)"),
    ("assert await f() == 1", "assert await f() == 3"),
    ("self.assertEqual(f(), 1)", "self.assertEqual(f(), 3)"),
    ("self.assertEqual(1, f(), 'why')", "self.assertEqual(3, f(), 'why')"),
    ("self.assertAlmostEqual(f(), x)", "self.assertAlmostEqual(f(), other((x)))"),
    ("self.assertCountEqual(f(), x)", "self.assertCountEqual(f(), [(x), ...])"),
    ("self.assertNotEqual(f(), x)", "self.assertEqual(f(), x)"),
    ("self.assertTrue(f() == 1)", "self.assertTrue(f() == 3)"),
    ("self.assertFalse(f())", "self.assertFalse((not (f())))"),
    ("self.assertIsNone(f())", "self.assertIsNone(other((f())))"),
    ("self.assertIsNotNone(f())", "self.assertIsNotNone([(f()), None][1])"),
    ("self.assertIn('a', f())", "self.assertIn('Qza', f())"),
    ("self.assertIn(1, f())", "self.assertIn(((1), ...), f())"),
    ("self.assertIsInstance(f(), int)", "self.assertIsInstance(f(), type(...))"),
    ("self.assertGreater(f(), 1)", "self.assertLessEqual(f(), 1)"),
    ("self.assertRegex(f(), 'a|b')", 'self.assertRegex(f(), "(?!)")'),
    ("self.assertRaises(ValueError, f)", "self.assertRaises(GeneratorExit, f)"),
    ("with pytest.raises(ValueError, match='x'): f()", "with pytest.raises(GeneratorExit, match='x'): f()"),
    ("with pytest.warns(UserWarning): f()", "with pytest.warns(BytesWarning): f()"),
    ("with self.subTest(i=1): self.assertEqual(f(), 1)", "with self.subTest(i=1): self.assertEqual(f(), 3)"),
    ("m.assert_called_once_with(1)", "m.assert_called_once_with(..., 1)"),
    ("m.assert_called_once()", "m.assert_called_with(..., ...)"),
    ("m.assert_not_called()", "m.assert_called()"),
    ("if f() != 1: pytest.fail('no')", "if f() != 3: pytest.fail('no')"),
    ("assert f() == snapshot", "assert f() == other((snapshot))"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), STATEMENTS)
def test_an_expectation_becomes_another_one(before, after):
    source = "import pytest\n\nasync def test_a(self):\n    {}\n    # é\n"
    made = invert("test_a.py", source.format(before).encode())
    assert made.source.decode().replace(OTHER, "other(") == source.format(after)
    assert made.altered == {"test_a"}


@pytest.mark.parametrize(
    "statement",
    [
        "f()",
        "assert True",
        "assert 1 == 1",
        "assert (f(), 'a message in brackets')",
        "self.assertEqual(1, 1)",
        "self.assertEqual(*both)",
        "self.assertEqual(first=f(), second=1)",
        "with pytest.raises(KeyboardInterrupt): f()",
        "check_elsewhere(f())",
    ],
)
def test_a_test_without_a_changed_expectation_is_named(statement):
    source = f"def test_a(self):\n    {statement}\n".encode()
    made = invert("test_a.py", source)
    assert (made.source, made.altered, set(made.unaltered)) == (source, frozenset(), {"test_a"})


def test_an_expected_exception_in_a_try_statement_becomes_another_one():
    made = invert(
        "t.py", b"def test_a(self):\n    try:\n        f()\n        self.fail()\n    except KeyError:\n        pass\n"
    )
    assert b"except GeneratorExit:" in made.source


SHARED = b"""
import pytest

def check(value):
    assert value == 1

@pytest.fixture
def checked():
    assert set_up() == 1
    def look(value):
        assert value == 1
    return look

def test_helper(): check(f())
def test_fixture(checked): checked(f())

class Base:
    def test_inherited(self): self.verify(f())
    def verify(self, value): assert value == 1

class Derived(Base):
    @pytest.mark.parametrize("n", [1, 2])
    def test_own(self, n): assert f(n) == n

class Overriding(Base):
    def test_inherited(self): f()
"""


def test_helpers_fixtures_and_base_classes_of_the_file_change_too():
    made = invert("tests/test_a.py", SHARED)
    assert made.altered == {
        "test_helper", "test_fixture", "Base.test_inherited", "Derived.test_inherited", "Derived.test_own",
    }  # fmt: skip
    assert set(made.unaltered) == {"Overriding.test_inherited"}
    assert b"assert set_up() == 1" in made.source
    assert b'("n", [1, 2])' in made.source, "ids of parametrized tests must stay"
    assert made.source.count(b"\n") == SHARED.count(b"\n")


@pytest.mark.parametrize(
    ("rows", "body", "changed_rows", "changed_body"),
    [
        ("[(1, 2), (-3, 'a')]", "f(x) == y", "[(1, 5), (-3, 'Qza')], ids=['1-2', '-3-a']", "f(x) == y"),
        ("[([1], 2.5),]", "f(x) == y", "[([1], 6.0),], ids=['x0-2.5']", "f(x) == y"),
        # A second use, a value without literals, and names that only pytest knows: the assertion changes.
        ("[(1, 2)]", "f(x, y) == y", "[(1, 2)]", "f(x, y) == other((y))"),
        ("[(1, None)]", "f(x) == y", "[(1, None)]", "f(x) == other((y))"),
        ("[(A, 2)]", "f(x) == y", "[(A, 2)]", "f(x) == other((y))"),
        ("[('é', 2)]", "f(x) == y", "[('é', 2)]", "f(x) == other((y))"),
        ("[(1, 2)], ids=['a']", "f(x) == y", "[(1, 2)], ids=['a']", "f(x) == other((y))"),
    ],
)
def test_an_expected_parameter_changes_in_its_rows_if_names_of_tests_can_stay(rows, body, changed_rows, changed_body):
    source = "@pytest.mark.parametrize('x, y', {})\ndef test_a(x, y):\n    assert {}\n"
    made = invert("t.py", source.format(rows, body).encode())
    assert made.source.decode().replace(OTHER, "other(") == source.format(changed_rows, changed_body)


def test_a_test_that_runs_when_its_file_is_loaded_stays():
    source = b"""\
def check(): assert f() == 1
def test_a(): check()
def test_b(): assert f() == 1
test_a()
if __name__ == "__main__":
    test_b()
"""
    made = invert("t.py", source)
    assert made.source == source.replace(b"test_b(): assert f() == 1", b"test_b(): assert f() == 3")
    assert (made.altered, set(made.unaltered)) == ({"test_b"}, {"test_a"})


def test_only_the_wanted_tests_change():
    made = invert(
        "t.py", b"def test_a(): assert f() == 1\ndef test_b(): assert f() == 1\n", only=frozenset({"test_b[x]"})
    )
    assert made.source == b"def test_a(): assert f() == 1\ndef test_b(): assert f() == 3\n"
    assert made.altered == {"test_b"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"assert f() == 1\n", b"assert f() == 3\n"),
        (b"def main():\n    assert f() == 1\nmain()\n", b"def main():\n    assert f() == 3\nmain()\n"),
        (b"if f() != 1:\n    sys.exit(1)\n", b"if f() != 3:\n    sys.exit(1)\n"),
        (b"f() == 1 or exit(1)\n", b"f() == 3 or exit(1)\n"),
        (b"if f() == 1: print()\nelse: sys.exit('no')\n", b"if f() == 3: print()\nelse: sys.exit('no')\n"),
        (b"sys.exit(0 if f() == 1 else 1)\n", b"sys.exit(0 if f() == 3 else 1)\n"),
        (b"sys.exit(f() != 1)\n", b"sys.exit((not (f() != 1)))\n"),
        (b"raise SystemExit(main())\n", b"raise SystemExit((not (main())))\n"),
        # An assertion changed, so the exit code does not: two changes could cancel each other.
        (b"assert f() == 1\nsys.exit(f())\n", b"assert f() == 3\nsys.exit(f())\n"),
    ],
)
def test_a_script_checks_at_its_top_level(before, after):
    made = invert("check.py", before)
    assert (made.source, made.altered) == (after, {SCRIPT})


@pytest.mark.parametrize(
    "source",
    [
        b"import unittest\nunittest.main(module=None, argv=['x', 'tests.test_a'])\n",
        b"import sys, pytest\nsys.exit(pytest.main(['tests']))\n",
        b"import work\nwork.run()\n",
        b"sys.exit(0)\n",
    ],
)
def test_a_script_without_expectations_of_its_own_stays(source):
    made = invert("check.py", source)
    assert (made.source, set(made.unaltered)) == (source, {SCRIPT})


def test_the_output_of_doctests_changes():
    source = b'def f():\n    """F.\n\n    >>> f(1)\n    2\n    >>> g(\n    ... 1)\n    \'a\'\n\n    >>> h()\n    """\n'
    made = invert("check.py", source)
    assert made.source == source.replace(b"    2\n", b"    Qz2\n").replace(b"    'a'\n", b"    Qz'a'\n")
    assert made.altered == {"doctest:f"}


@pytest.mark.parametrize(
    "source",
    [
        b"not python (",
        b"\xff\xfe",
        b"a\0b",
        b"x = " + b"(" * 5000,
        b"assert " + b"not " * 20000 + b"x",
        b"#" * (2 << 20),
    ],
    ids=["syntax", "not utf-8", "nul", "brackets", "nested", "huge"],
)
def test_an_unreadable_file_stays(source):
    for path in ("test_a.py", "a.test.js", "a.test.ts", "notes.txt"):
        made = invert(path, source)
        assert (made.source, made.altered) == (source, frozenset())
