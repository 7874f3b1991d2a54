"""Changed parts of the source by which tests fail."""

from __future__ import annotations

import pytest

from loopwright.judging.warning_signs.parts_of_tests import PartsOfTests, changed_parts_of_tests

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
