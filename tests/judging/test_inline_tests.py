"""Tests inside source files."""

from __future__ import annotations

import pytest

from loopwright.judging.inline_tests import has_inline_tests, lost_test_code, lost_tests

PYTHON = '"""M."""\n\n\ndef f():\n    """Say one.\n\n    >>> f()\n    1\n    """\n    return 1\n'
RUST = (
    "/// Adds.\n///\n/// ```\n/// assert_eq!(x::sum(1, 2), 3);\n/// ```\n"
    "pub fn sum(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n"
    "#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        let brace = '}';\n"
    '        assert_eq!(sum(1, 2), 3, "}}} {}", brace);\n        assert!(true);\n    }\n}\n'
)
VITEST = (
    "export const sum = (a, b) => a + b\n\nif (import.meta.vitest) {\n  const { it, expect } = import.meta.vitest\n"
    "  it('adds }', () => { expect(sum(1, 2)).toBe(3) })\n}\n"
)


@pytest.mark.parametrize(
    ("path", "before", "was", "now", "is_lost"),
    [
        ("a.py", PYTHON, "    1\n", "    2\n", True),
        ("a.py", PYTHON, ">>> f()", ">>> f() # doctest: +SKIP", True),
        ("a.py", PYTHON, "return 1", "return 2", False),
        ("a.py", PYTHON, "Say one.", "Return one.", False),
        ("a.py", PYTHON, "    1\n", "    1\n    >>> f() + 1\n    2\n", False),
        ("a.rs", RUST, "a + b", "b + a", False),
        ("a.rs", RUST, "assert!(true)", "assert!(1 == 1)", True),
        ("a.rs", RUST, "#[test]", "#[test]\n    #[ignore]", True),
        ("a.rs", RUST, "#[cfg(test)]", "#[cfg(any())]", True),
        ("a.rs", RUST, "sum(1, 2), 3);\n/// ```", "sum(1, 2), 4);\n/// ```", True),
        ("a.rs", RUST, "Adds.", "Adds two numbers.", False),
        ("a.ts", VITEST, "toBe(3)", "toBe(4)", True),
        ("a.ts", VITEST, "a + b", "b + a", False),
    ],
)
def test_a_changed_or_removed_inline_test_is_noticed(path, before, was, now, is_lost):
    assert was in before
    assert has_inline_tests(path, before.encode())
    assert lost_tests(path, before.encode(), before.replace(was, now, 1).encode()) is is_lost


CASES = (
    "import unittest\n\nA = 1\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(A, 1)\n"
)


@pytest.mark.parametrize(("was", "now", "is_lost"), [("(A, 1)", "(A, 2)", True), ("A = 1", "A = 2", False)])
def test_a_changed_test_case_in_a_source_file_is_lost(was, now, is_lost):
    assert lost_test_code(CASES.encode(), CASES.replace(was, now).encode()) is is_lost
