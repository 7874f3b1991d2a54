"""Changed parts of the source by which tests fail."""

from __future__ import annotations

import pytest

from loopwright.judging.warning_signs.parts_of_tests import PartsOfTests, changed_parts_of_tests, classes_and_bases

HELPER = (
    "def check(got, want):\n    assert same(got, want)\n\n"
    "def same(a, b):\n    return a == b\n\ndef other():\n    pass\n"
)
RAISES = "def check(got):\n    if not got:\n        raise AssertionError(got)\n"
DELEGATES = "def check(case, got):\n    case.assertEqual(got, 1)\n"
INVARIANT = "LIMIT = 3\n\ndef product(n):\n    assert LIMIT > 2\n    return n\n"
FIXTURE = "import pytest\n\n@pytest.fixture(scope='module')\ndef wanted():\n    return 6\n"
HOOK = "def pytest_runtest_call(item):\n    item.run()\n"
SCRIPT = "export function check(got) { assert.equal(got, 1); }\nexport const add = (a) => a + 1;\n"


@pytest.mark.parametrize(
    ("path", "source", "old", "new", "loaded", "asserting"),
    [
        ("a.py", HELPER, "assert same(got, want)", "pass", (), ("check",)),
        ("a.py", HELPER, "a == b", "True", (), ("check",)),
        ("a.py", HELPER, "def other", "check = print\n\ndef other", (), ("check",)),
        ("a.py", HELPER, "    pass", "    return 1", (), ()),
        ("a.py", HELPER, "    assert", "    'Compare.'\n    # both\n    assert", (), ()),
        ("a.py", RAISES, "not got", "got is None", (), ("check",)),
        ("a.py", DELEGATES, "assertEqual", "assertIsNotNone", (), ("check",)),
        ("a.py", INVARIANT, "return n", "return n + 1", (), ()),
        ("a.py", FIXTURE, "6", "7", ("wanted",), ()),
        ("a.py", HOOK, "item.run()", "pass", ("pytest_runtest_call",), ()),
        ("a.mjs", SCRIPT, "got, 1", "got, got", (), ("check",)),
        ("a.mjs", SCRIPT, "a + 1", "a + 2", (), ()),
        ("a.go", "func f() {}", "f", "g", (), ()),
    ],
)
def test_a_changed_function_by_which_tests_fail_is_named(path, source, old, new, loaded, asserting):
    after = source.replace(old, new)
    assert after != source
    found = changed_parts_of_tests(path, source.encode(), after.encode())
    assert found == PartsOfTests(frozenset(loaded), frozenset(asserting))


CASE = """\
import unittest

class AppCase(unittest.TestCase):
    'Compares.'
    def rows(self, got, want):
        self.assertEqual(listed(got), want)

def listed(rows):
    return list(rows)

def other():
    pass
"""
MIXIN = """\
class Rows:
    def close(self, a, b):
        return a == b
    def rows(self, a, b):
        self.assertTrue(self.close(a, b))
"""
PRODUCT = """\
class Shape:
    def scale(self, n):
        assert n > 0
        return n
    def area(self):
        return 1
"""


@pytest.mark.parametrize(
    ("source", "old", "new", "inherited"),
    [
        (CASE, "listed(got), want", "len(got), len(want)", ("AppCase",)),
        (CASE, "list(rows)", "rows", ("AppCase",)),
        (CASE, "AppCase(unittest.TestCase)", "AppCase(Lax)", ("AppCase",)),
        (CASE, "    'Compares.'", "    assertEqual = print", ("AppCase",)),
        (CASE, "    'Compares.'", "    failureException = None", ("AppCase",)),
        (CASE, "    'Compares.'", "    columns = print", ()),
        (CASE, "def rows", "def columns", ("AppCase",)),
        (CASE, "'Compares.'", "'Compares rows.'", ()),
        (CASE, "    pass", "    return 1", ()),
        (MIXIN, "a == b", "True", ("Rows",)),
        (PRODUCT, "n > 0", "n >= 0", ("Shape",)),
        (PRODUCT, "return 1", "return 2", ()),
    ],
)
def test_a_changed_class_that_asserts_is_named(source, old, new, inherited):
    after = source.replace(old, new)
    assert after != source
    assert changed_parts_of_tests("a.py", source.encode(), after.encode()).inherited == frozenset(inherited)


def test_the_bases_of_a_class_have_their_own_names():
    source = b"from a import Case as C, D\nimport b\nclass X(C, b.E):\n    class Y(D): pass\n"
    assert list(classes_and_bases(source)) == [("X", "Case"), ("X", "E"), ("Y", "D")]
