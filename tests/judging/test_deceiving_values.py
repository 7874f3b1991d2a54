"""Changed code that could make values or assertions lie."""

from __future__ import annotations

import pytest

from loopwright.judging.warning_signs.deceiving_values import may_deceive


@pytest.mark.parametrize(
    ("path", "added", "expected"),
    [
        ("a.py", "class A:\n    def __eq__(self, other):\n        return other == other\n", True),
        ("a.py", "A = type('A', (int,), {'__eq__': f})\n", True),
        ("a.py", "Report.result = f\n", True),
        ("a.py", "class A:\n    def __exit__(self, *error):\n        return True\n", True),
        ("a.py", "def rows(n):\n    for i in range(0):\n        yield i, n\n", True),
        ("a.py", "setattr(x, name, f)\n", True),
        ("a.py", "for kind in object.__subclasses__():\n    pass\n", True),
        ("a.py", "class A:\n    def __init__(self):\n        self.x.y = 1\n", False),
        ("a.py", "def f(a):\n    return a.b + 1\n", False),
        ("a.js", "const a = { asymmetricMatch: () => true };\n", True),
        ("a.ts", "export const a = new Proxy({}, {});\n", True),
        ("a.js", "export const add = (a, b) => a + b;\n", False),
        ("a.go", "func (a A) Equal(b B) bool { return true }", False),
    ],
)
def test_new_code_may_deceive_if_it_answers_assertions_or_changes_other_objects(path, added, expected):
    assert may_deceive(path, b"", added.encode()) is expected
    assert not may_deceive(path, added.encode(), b"\n" + added.encode()), "it is not new"
