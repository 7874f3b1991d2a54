"""Work that takes one assertion of a test its effect is found, although another assertion can still fail."""

from __future__ import annotations

import re
import subprocess
import sys

from loopwright.judging.controls.marks import records_name
from loopwright.judging.controls.probe_records import (
    Assertions,
    as_results,
    read_records,
    weakened_assertions,
)
from loopwright.judging.controls.python_probes import probe_python, probes_name
from loopwright.judging.controls.time_limits import with_time_limit

BASE = """\
import contextlib, dataclasses, decimal, threading
@dataclasses.dataclass
class Bill: count: int; total: float = dataclasses.field(compare=True)
class Error(Exception): pass
class Value:
    def __init__(self, x): self.x = x
    def __eq__(self, other): return self.x == other.x
def call(function): function(1); return 1
def call_in_thread(function):
    failed = []
    def run():
        try: function(1)
        except AssertionError as error: failed.append(error)
    thread = threading.Thread(target=run); thread.start(); thread.join()
    if failed: raise failed[0]
    return 1
@contextlib.contextmanager
def session(): yield 1
def items(): return [1, 2]
class Cents(float):
    def __eq__(self, other): return float(self) == other
class Name(str):
    def __eq__(self, other): return str(self) == other
def cents(): return Cents(1.9133)
def price(): return decimal.Decimal("1.5")
def mean(): return 2.5
class Code(str):
    def __ne__(self, other): return str(self) != other
def code(): return Code("de-4")
def name(): return Name("Ann Lee 7")
"""
CHANGES = {
    "compare=True": "compare=False",
    "class Error(Exception): pass": "Error = Exception",
    "return self.x == other.x": "return True",
    "function(1); return 1": "return 1",
    "    if failed: raise failed[0]\n": "",
    "def session(): yield 1": "def session():\n    with contextlib.suppress(AssertionError): yield 1",
    "return [1, 2]": "return []",
    "return 2.5": 'return float("nan")',
    "return str(self) != other": "return False",
    'Decimal("1.5")': 'Decimal("1.50")',
    "float(self) == other": "abs(float(self) - other) < 0.01",
    "str(self) == other": "str(self).lower().strip() == other.lower().strip()",
}
TESTS = """\
import product
def check(n): assert n == 1
def test_equal():
    assert product.Value(1) == product.Value(1)
    assert product.Value(1).x == 1
def test_callback(): assert product.call(check) == 1
def test_field(): assert product.Bill(product.call(id), 2.5) == product.Bill(1, 2.5)
def test_thread(): assert product.call_in_thread(check) == 1
def test_block():
    with product.session() as n: assert n == 1
    assert n == 1
def test_handled():
    try: assert product.call(id) == 1
    except product.Error: pass
    assert product.call(id) == 1
def test_loop():
    for item in product.items(): assert item
    assert product.call(id) == 1
def test_cents(): assert product.cents() == 1.9133
def test_name(): assert product.name() == "Ann Lee 7"
def test_price(): assert product.price() == product.decimal.Decimal("1.5")
def close(got, want):
    if abs(got - want) > 1e-9: raise AssertionError(got)
def test_mean(): close(product.mean(), 2.5)
def test_code():
    if product.code() != "de-4": raise AssertionError
def test_sound(): assert product.call(id) == 1
"""


def probed_run(folder, product: str, tests: str = TESTS, soft=()) -> tuple[Assertions, dict[str, str]]:
    folder.mkdir()
    (folder / "product.py").write_text(product)
    probed = probe_python("test_it.py", tests.encode(), salt="ab12", soft=soft)
    source = with_time_limit(probed.source, probed.tests, 10, probes=probes_name("ab12"))
    (folder / "test_it.py").write_bytes(source)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-qrA", "-p", "no:cacheprovider", "--tb=no", "test_it.py"],
        cwd=folder, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    results = {test: word.lower() for word, test in re.findall(r"^(PASSED|FAILED) (\S+)", done.stdout, re.MULTILINE)}
    records = read_records("test_it.py", (folder / records_name("test_it.py", "ab12")).read_bytes())
    return Assertions({result.id: result.status for result in as_results(records)}), results


def test_each_weakened_assertion_is_found(tmp_path):
    work = BASE
    for before, after in CHANGES.items():
        assert before in work
        work = work.replace(before, after)
    base, base_results = probed_run(tmp_path / "base", BASE)
    after, work_results = probed_run(tmp_path / "work", work)
    weakened = weakened_assertions(base, after, base_results)
    assert {test: tuple({place.partition("~")[0]: None for place in places}) for test, places in weakened.items()} == {
        "test_it.py::test_equal": ("test_it.py:4:4",),
        "test_it.py::test_thread": ("test_it.py:2:14",),
        "test_it.py::test_field": ("test_it.py:7:18",),
        "test_it.py::test_block": ("test_it.py:10:9",),
        "test_it.py::test_handled": ("test_it.py:13:9:handled",),
        "test_it.py::test_callback": ("test_it.py:2:14",),
        "test_it.py::test_loop": ("test_it.py:17:33",),
        "test_it.py::test_cents": ("test_it.py:19:18",),
        "test_it.py::test_name": ("test_it.py:20:17",),
        "test_it.py::test_mean": ("test_it.py:23:7",),
        "test_it.py::test_code": ("test_it.py:26:7",),
    }
    # Each test fails at its end, whatever its assertions do: a product that forges results is found by that.
    assert set(base_results.values()) == set(work_results.values()) == {"failed"}
    assert len(base_results) == len(work_results) == 13


FAILS_FIRST = """\
import pytest, product
def check(n):
    assert n == 1
def test_first():
    assert product.call(id) == 2
    assert product.missing(), "an error, too"
    for item in product.items():
        check(item)
    with pytest.raises(ValueError):
        product.call(id)
    with product.session() as n:
        assert n == 1
    assert await_nothing() is None
    if product.call(id) == 1:
        assert product.call(id) == 1
    with pytest.raises(AssertionError):
        check(5)
    product.call(lambda n: check(n + 1))
    assert product.call(id) == 5
def await_nothing(): return None
def test_other():
    assert product.call(id) == 1
"""


def test_a_test_that_failed_goes_on_to_its_later_assertions(tmp_path):
    test = "test_it.py::test_first"
    base, results = probed_run(tmp_path / "base", BASE, FAILS_FIRST, soft=[test])
    assert set(results.values()) == {"failed"}
    found = {place: str(outcome) for (name, place), outcome in base.outcomes.items() if name == test}
    assert {place.removeprefix("test_it.py:"): outcome for place, outcome in found.items()} == {
        "5:4": "failed", "6:4": "failed", "9:9": "failed", "11:9": "failed", "12:8": "failed", "13:4": "failed",
        "15:8": "branched", "16:9": "failed",
        # The callback fails inside the product, so the test ends there. Elsewhere the helper is in a branch, too.
        "3:4": "raised",
    }  # fmt: skip
    assert base.went_on(test)
    assert not base.came_to_end(test)
    assert base.came_to_end("test_it.py::test_other")
    spans = {"test_it.py": probe_python("test_it.py", FAILS_FIRST.encode(), salt="ab12").assertions}
    assert base.stopped_at(test, spans) == ("test_it.py:5:4", "test_it.py:3:4")


LOCKED = """\
import contextlib, product
@contextlib.contextmanager
def locked(): yield
def test_locked():
    with locked():
        product.missing()
        assert product.call(id) == 1
"""


def test_an_error_inside_a_block_is_no_failure_of_the_block(tmp_path):
    base, _ = probed_run(tmp_path / "base", BASE, LOCKED, soft=["test_it.py::test_locked"])
    spans = {"test_it.py": probe_python("test_it.py", LOCKED.encode(), salt="ab12").assertions}
    assert base.went_on("test_it.py::test_locked")
    assert base.stopped_at("test_it.py::test_locked", spans) == ()
