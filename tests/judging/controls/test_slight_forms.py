"""A slightly changed expectation is evidence only if it differed from the right one before the work, too."""

from __future__ import annotations

import pytest
from tests.judging.controls.test_python_probes import probed
from tests.judging.controls.test_weakened_products import probed_run

from loopwright.judging.controls.probe_records import dead_proofs, weakened_assertions
from loopwright.judging.controls.python_probes import probe_python

# An assertion, and the forms that follow the inverted one. A form with a twin is in brackets.
FORMS = [
    ("f() == 12345678", ["a == 12345690", "a == 12345702"]),
    ("f() == 0.5", ["a == 0.5000015", "a == 0.546875"]),
    ("f() == 'a'", ["a == 'b'", "a == 'c'", "a == 'A'", "a == 'a '"]),
    ("f() == [1, 'a']", ["a == [2, 'a']", "a == [1, 'b']", "a == [1, 'A']", "a == [1, 'a ']"]),
    ("f() == [D('1')]", ["(a == [D('2')], [D('1')] == [D('2')])", "(a == [D('3')], [D('1')] == [D('3')])"]),
    ("f() == D(1, x=2)", ["(a == D(2, x=2), D(1, x=2) == D(2, x=2))", "(a == D(1, x=3), D(1, x=2) == D(1, x=3))"]),
    ("f() == D(x(), 1)", ["(a == D(c, 2), b == D(c, 2))", "(a == D(c, 3), b == D(c, 3))"]),
]  # fmt: skip
OTHERS = [
    ("self.assertEqual(f(), 1)", ["self.assertEqual(a, 2)", "self.assertEqual(a, 3)"]),
    ("self.assertJSONEqual(f(), '1', x())", [
        "(self.assertJSONEqual(a, '2', b), (self.assertJSONEqual('1', '2'), True)[1])",
        "(self.assertJSONEqual(a, '3', b), (self.assertJSONEqual('1', '3'), True)[1])",
        "(self.assertJSONEqual(a, '1 ', b), (self.assertJSONEqual('1', '1 '), True)[1])",
    ]),
    ("if x != D(1): self.fail()", ["(x != D(2), not D(1) != D(2))", "(x != D(3), not D(1) != D(3))"]),
]  # fmt: skip


@pytest.mark.parametrize(("assertion", "forms"), [(f"assert {text}", forms) for text, forms in FORMS] + OTHERS)
def test_each_literal_changes_slightly_and_a_twin_compares_it_with_the_right_value(assertion, forms):
    line = probed(f"import x\ndef test_a(self):\n    {assertion}\n").splitlines()[2].replace("__2", "c")
    assert line.count("lambda: ") == sum(2 if form[0] == "(" else 1 for form in forms) + 1
    assert [form for form in forms if form not in line.replace("lambda: ", "")] == []


# Each product does the work, and its expected values have literals that equality does not tell apart.
BASE = """\
import dataclasses, decimal, struct
from dataclasses import dataclass, field
def single(x): return struct.unpack("f", struct.pack("f", x))[0]
class Single(float):
    def __eq__(self, other): return float(self) == single(other)
@dataclass
class User:
    name: str; seen: int = field(default=0, compare=False)
@dataclass
class Bill:
    count: int; total: float = 0.0
@dataclass
class Point:
    x: int
def prices(): raise NotImplementedError
def half(): return None
def user(): return None
def bill(): return Bill(2, 3.5)
def point(): return Point(0)
def ratio(): return 1
"""
HONEST = {
    "def prices(): raise NotImplementedError": "def prices(): return [decimal.Decimal(1.5), decimal.Decimal(2)]",
    "def half(): return None": "def half(): return Single(single(0.3))",
    "def user(): return None": "def user(): return User('ann', 7)",
    "def bill(): return Bill(2, 3.5)": "def bill(): return Bill(2, 4.5)",
    "def point(): return Point(0)": "def point(): return Point(1)",
    "def ratio(): return 1": "def ratio(): return decimal.Decimal('0.5')",
}
LIES = {
    "total: float = 0.0": "total: float = field(default=0.0, compare=False)",
    "class Point:": "class Point:\n    def __eq__(self, other): return True",
    "def ratio(): return 1": "def ratio(): return Near(0.5)\nclass Near(float):\n"
    "    def __eq__(self, other): return abs(self - other) < 0.01",
}
TESTS = """\
import decimal, uuid, unittest
from decimal import Decimal
from product import *
def test_prices(): assert prices() == [Decimal('1.5'), Decimal('2')]
def test_table(): assert {"price": prices()[0]} == {"price": Decimal("1.50")}
def test_ids(): assert [uuid.UUID(int=bill().count)] == [uuid.UUID("00000000-0000-0000-0000-000000000002")]
def test_half(): assert half() == 0.3
def test_user(): assert user() == User('ann', seen=3)
class Tests(unittest.TestCase):
    def test_users(self): self.assertEqual([user()], [User("ann", seen=len("abc") * 2)])
    def test_now(self): self.assertEqual([user()], [User("".join(["ann"]), seen=3)])
def test_guard():
    if user() != User('ann', seen=3): raise AssertionError
def test_bill(): assert bill() == Bill(2, 4.5)
def test_point(): assert point() == Point(1)
def test_ratio(): assert ratio() == 0.5
"""
SPANS = {"test_it.py": probe_python("test_it.py", TESTS.encode(), salt="ab12").assertions}


def changed(changes: dict[str, str]) -> str:
    work = BASE
    for before, after in changes.items():
        assert before in work
        work = work.replace(before, after)
    return work


def test_forms_that_nothing_can_tell_apart_are_no_evidence(tmp_path):
    base, results = probed_run(tmp_path / "base", BASE, TESTS)
    work, _ = probed_run(tmp_path / "work", changed(HONEST), TESTS)
    assert all(work.came_to_end(test) for test in results)
    assert weakened_assertions(base, work, results) == {}
    assert dead_proofs(base, work, results, SPANS) == {}


def test_what_the_work_made_equal_is_still_found(tmp_path):
    base, results = probed_run(tmp_path / "base", BASE, TESTS)
    work, _ = probed_run(tmp_path / "work", changed({**HONEST, **LIES}), TESTS)
    lost = {**weakened_assertions(base, work, results), **dead_proofs(base, work, results, SPANS)}
    assert sorted(lost) == ["test_it.py::test_bill", "test_it.py::test_point", "test_it.py::test_ratio"]
