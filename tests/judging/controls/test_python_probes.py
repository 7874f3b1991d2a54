"""Each assertion of a Python test is tried with a changed expectation, in one run, and the test goes on."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from loopwright.judging.controls.marks import records_name
from loopwright.judging.controls.probe_records import read_records
from loopwright.judging.controls.python_probes import probe_python

SALT = "ab12"
# A statement of a test, what becomes of it, and its probe. `a` and `b` are kept values.
STATEMENTS = [
    ("assert f(3) == 4  # why", "assert (a := (f(3))) == 4", "condition (a == 9)"),
    ("assert x == 4, 'why'", "assert x == 4, 'why'", "condition (x == 9)"),
    ("assert f() and g != 1", "assert (a := (f())) and g != 1", "condition (not a) or (g == 1)"),
    ("assert f() or g()", "assert (a := (f())) or (b := (g()))", "condition (a and False or (b and False))"),
    ("assert [1, f()] == await g", "assert [1, (a := (f()))] == (b := (await g))", "condition ([3, a] == b)"),
    ("assert x == approx(0.3)", "assert x == approx(0.3)", "condition (x == approx(1.6))"),
    ("assert f(g()) is None", "assert (a := (f((b := (g()))))) is None", "condition (a is not None)"),
    ("if x: assert y > 1", "if x: assert y > 1", "condition (y <= 1)"),
    ("self.assertEqual(f(), 1, x)", "self.assertEqual((a := (f())), 1, x)", "call self.assertEqual(a, 3, x)"),
    ("self.assertIs(f(), x)", "self.assertIs((a := (f())), x)", "call self.assertIs(a, "),
    ("f().assert_called()", "(a := (f())).assert_called()", "call a.assert_called_with(..., ...)"),
    ("e = pytest.raises(E, f, 1)", "e = pytest.raises(E, f, 1)", "expects pytest.raises(E)"),
]  # fmt: skip


def probed(source: str) -> str:
    """The probed source, with short names and without the support code."""
    text = probe_python("tests/test_a.py", source.encode(), salt="").source.decode()
    text = re.sub(r"_ = \{\}; exec.*?\}\)", "LOAD", text)
    return re.sub(r"\b__0\b", "a", re.sub(r"\b__1\b", "b", text))


@pytest.mark.parametrize(("before", "after", "probe"), STATEMENTS)
def test_an_assertion_keeps_its_values_and_a_probe_follows(before, after, probe):
    source = "import pytest\n\nasync def test_a(self):\n    {}\n    # é\n"
    made = probed(source.format(before)).splitlines()[3].strip()
    method, _, altered = probe.partition(" ")
    assert made.startswith(f"{after}; _.{method}('4:")
    assert f", lambda: {altered}" in made
    assert ("a = None" in made) == ("a := " in after), "kept objects must not stay alive"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("with pytest.raises(E) as e: f()", "with _.expects('2:9', lambda: (pytest.raises(E))) as e: f()"),
        ("with f() as x: x()", "with f() as x: x()"),
        ("if f(): pytest.fail()", "if _.guard('2:7', (f())): pytest.fail()"),
        ("if x > f(): pytest.fail()", "if _.guard('2:7', (x > (a := (f()))), lambda: x <= a): pytest.fail()"),
        ("if x < 1 or y: self.fail()", "if _.guard('2:7', (x < 1 or y), lambda: x >= 1): self.fail()"),
        ("if x != 4: self.fail()", "if _.guard('2:7', (x != 4), lambda: x != 9, lambda: x != 5, lambda: x != 6): "),
        ("if x == 4: f()\n    else: self.fail()", "if _.branch('2:7', (x == 4), lambda: x == 9, lambda: x == 5, "),
        ("f() == g or self.fail()", "_.branch('2:4', ((a := (f())) == g), lambda: a == "),
        ("f() < 1 and self.fail()", "_.guard('2:4', ((a := (f())) < 1), lambda: a >= 1) and self.fail()"),
        ("assert 1", "assert 1"),
        ("f(lambda x: self.assertEqual(x, 1))", "f(lambda x: (self.assertEqual(x, 1), _.call('2:16', lambda: self."),
        ("f(lambda: self.assertEqual(g(), 1))", "(self.assertEqual((a := (g())), 1), _.call('2:14', lambda: self."),
        ("f([self.assertEqual(g(x), 1) for x in y])", "f([self.assertEqual(g(x), 1) for x in y])"),
        ("f([self.assertEqual(x, 1) for x in y])", "[(self.assertEqual(x, 1), _.call('2:7', lambda: self."),
        ("assert (x := f()) or (await g(x))", "assert ((a := (x := f()))) or ((b := (await g(x))))"),
    ],
)
def test_other_statements_are_wrapped_or_stay(before, after):
    assert after in probed(f"async def test_a():\n    {before}\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"""Doc."""  # why\n', '"""Doc."""; LOAD  # why\n'),
        ('"""Doc."""\nfrom __future__ import annotations\n', '"""Doc."""\nfrom __future__ import annotations; LOAD\n'),
        ("# why\nimport pytest\n", "# why\nLOAD; import pytest\n"),
        ("@mark\ndef test_a(): pass\n", "LOAD\n@mark\ndef test_a(): pass\n"),
    ],
)
def test_probes_are_loaded_where_python_allows_it(before, after):
    assert probed(before) == after


@pytest.mark.parametrize("source", [b"not python (", b"\xff\xfe", b"a\0b", b"x = " + b"(" * 5000])
def test_an_unreadable_file_stays(source):
    assert probe_python("test_a.py", source, salt=SALT).source == source


PRODUCT = """\
import contextlib
class Error(Exception): pass
class Weak:
    def __eq__(self, other): return True
def call(function): return function()
def call_safely(function):
    with contextlib.suppress(AssertionError): function()
def skip(function): pass
@contextlib.contextmanager
def block(): yield
@contextlib.contextmanager
def swallowing():
    with contextlib.suppress(AssertionError): yield
"""
TESTS = """\
import asyncio, gc, os, threading, unittest, weakref
import hypothesis, hypothesis.strategies, pytest, product

numbers = iter([1, 2])
class Thing: pass

def check(value): assert value == 1

def test_each(): assert next(numbers) == 1; assert next(numbers) == 2
def test_helper(): check(1); check(1)
def test_weak(): assert product.Weak() == 3
def test_callback(): product.call(lambda: check(1))
def test_swallowed(): product.call_safely(lambda: check(1))
def test_skipped(): product.skip(lambda: check(1))
def test_block():
    with product.block(): assert id(3)
    with product.swallowing(): assert id(3)
    assert id(4)
def test_handled():
    try: assert id(3)
    except product.Error: pass
def test_thread():
    thread = threading.Thread(target=check, args=(1,)); thread.start(); thread.join()
def test_raises():
    with pytest.raises(ValueError): int("a")
def test_forgotten():
    thing = Thing(); reference = weakref.ref(thing)
    assert reference() is not None; del thing
    assert reference() is None
def test_loop():
    for number in range(1000): assert number >= 0
@pytest.mark.parametrize("n", [1, 2])
def test_rows(n): assert n == int(str(n))
class Base(unittest.TestCase):
    def test_a(self): self.assertEqual(int("1"), 1)
class Derived(Base): pass
class Later(unittest.IsolatedAsyncioTestCase):
    async def test_a(self):
        self.assertEqual(await asyncio.sleep(0, 1), 1)
        await asyncio.gather(later())
async def later(): check(1)
@hypothesis.settings(max_examples=2, database=None)
@hypothesis.given(hypothesis.strategies.integers())
def test_random(n): assert isinstance(n, int)
"""
LINE = {name: number for number, line in enumerate(TESTS.splitlines(), 1) for name in re.findall(r"def (\w+)", line)}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The records of each test, and how it ended, with both runners."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "product.py").write_text(PRODUCT)
    (folder / "test_it.py").write_bytes(probe_python("test_it.py", TESTS.encode(), salt=SALT).source)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-qrA", "-p", "no:cacheprovider", "--tb=short", "test_it.py"],
        cwd=folder, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    results = {
        test: result for result, test in re.findall(r"^(PASSED|FAILED) test_it.py::(\S+)", done.stdout, re.MULTILINE)
    }
    records = folder / records_name("test_it.py", SALT)
    found: dict[str, list[str]] = {}
    for record in read_records("test_it.py", records.read_bytes()):
        found.setdefault(record.test.partition("::")[2], []).append(f"{record.position} {record.outcome}")
    assert results, done.stdout + done.stderr
    return results, found


HELPER = f"{LINE['check']}:18"


@pytest.mark.parametrize(
    ("test", "result", "records"),
    [
        ("test_each", "PASSED", ["9:17 failed", "9:44 failed"]),
        ("test_helper", "PASSED", [f"{HELPER} failed"]),
        ("test_weak", "PASSED", ["11:17 passed"]),
        ("test_callback", "FAILED", [f"{HELPER} raised"]),
        ("test_swallowed", "PASSED", [f"{HELPER} raised"]),
        ("test_skipped", "PASSED", []),
        ("test_block", "PASSED", ["16:26 failed", "16:9 failed", "17:31 failed", "17:9 passed", "18:4 failed"]),
        ("test_handled", "PASSED", ["20:9 failed", "20:9:handled failed"]),
        ("test_raises", "PASSED", ["25:9 failed"]),
        ("test_forgotten", "PASSED", ["28:4 failed", "29:4 failed"]),
        ("test_loop", "PASSED", ["31:31 failed"]),
        ("test_rows[1]", "PASSED", ["33:18 failed"]),
        ("test_rows[2]", "PASSED", ["33:18 failed"]),
        ("Base::test_a", "PASSED", ["35:22 failed"]),
        ("Derived::test_a", "PASSED", ["35:22 failed"]),
        ("Later::test_a", "FAILED", ["39:8 failed", f"{HELPER} raised"]),
        ("test_random", "PASSED", ["44:20 sampled"]),
    ],
)
def test_records_tell_about_each_assertion(run, test, result, records):
    results, found = run
    assert (results[test], found.get(test, [])) == (result, records)


def test_a_failure_in_a_thread_belongs_to_the_running_test(run):
    assert run[1]["test_thread"] == [f"{HELPER} raised"]


@pytest.mark.parametrize(("folder", "outcomes"), [("others", ["failed"]), ("own", ["failed", "failed"])])
def test_only_managers_of_the_project_are_tried(tmp_path, folder, outcomes):
    """An installed copy of the project is recognised by its name in the project's folder."""
    installed = tmp_path / "site-packages" / folder / "__init__.py"
    for place in (installed, tmp_path / "src" / "own" / "__init__.py"):
        place.parent.mkdir(parents=True)
        place.write_text("")
    space: dict[str, object] = {"__file__": str(tmp_path / "tests" / "test_it.py")}
    exec(compile(PRODUCT, str(installed), "exec"), product := {})
    source = b"def test_a(block):\n    with block(): assert id(3)\n"
    (tmp_path / "tests").mkdir()
    exec(compile(probe_python("tests/test_it.py", source, salt=SALT).source, space["__file__"], "exec"), space)
    space["test_a"](product["block"])
    records = (tmp_path / "tests" / records_name("test_it.py", SALT)).read_bytes()
    assert [record.outcome for record in read_records("test_it.py", records)] == outcomes


def test_unittest_names_tests_by_their_classes(tmp_path):
    source = (
        TESTS.replace("import hypothesis, hypothesis.strategies, pytest, product", "").partition("def test_each")[0]
        + TESTS[TESTS.index("class Base") : TESTS.index("@hypothesis")]
    )
    (tmp_path / "test_it.py").write_bytes(probe_python("test_it.py", source.encode(), salt=SALT).source)
    subprocess.run([sys.executable, "-m", "unittest", "-q", "test_it"], cwd=tmp_path, timeout=60, check=False)
    lines = (tmp_path / records_name("test_it.py", SALT)).read_text().splitlines()
    tests = [json.loads(line)[1:] for line in lines]
    assert tests == [
        ["test_it.py::Base::test_a", "failed"],
        ["test_it.py::Derived::test_a", "failed"],
        ["test_it.py::Later::test_a", "failed"],
        ["", "raised"],
    ]


def test_only_an_assertion_that_right_work_must_reach_has_lines():
    source = (
        b"import pytest\ndef test_a():\n    with pytest.raises(E):\n        assert f() == 1\n"
        b"    try: g()\n    except E: pass\n    else:\n        if x:\n            assert False\n"
        b"    assert (\n        g() == 2)\n"
    )
    lines = probe_python("t.py", source, salt="ab").assertions
    assert lines == {"3:9": (3, 4), "4:8": (0, 0), "8:11": (8, 8), "10:4": (10, 11)}
