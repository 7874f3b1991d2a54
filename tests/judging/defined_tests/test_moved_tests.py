"""Which tests are the same test after they moved or got another name."""

from __future__ import annotations

import pytest

from loopwright.judging.defined_tests.moved import Moves, TestFileChange, find_same_tests, moves_of
from loopwright.judging.defined_tests.packages import GoPackages
from loopwright.judging.defined_tests.read import read_tests

PY = """\
import unittest

from app import hello


def check(name, wish):
    assert hello.bye(name) == wish


def test_one():
    check('Ann', 'bye Ann')


class TestBye(unittest.TestCase):
    def setUp(self):
        self.name = 'Bob'

    def test_two(self):
        assert hello.bye(self.name)
"""
JS = """\
const assert = require('node:assert')
const { test, describe } = require('node:test')
const hello = require('../src/hello.js')

test('one', () => {
  assert.equal(hello.bye('Ann'), 'bye Ann')
})

describe('bye', () => {
  let name
  beforeEach(() => { name = 'Bob' })

  it('two', () => { assert(hello.bye(name)) })
})
"""
GO = """\
package x

import "testing"

func check(t *testing.T, got string) {
	if got == "" {
		t.Fatal("nothing")
	}
}

// TestOne says goodbye.
func TestOne(t *testing.T) {
	check(t, Bye("Ann"))
}

func TestTwo(t *testing.T) {
	check(t, Bye("Bob"))
}
"""
TWO = "class TestBye(unittest.TestCase):" + PY.partition("class TestBye(unittest.TestCase):")[2]
WITHOUT_TWO = PY.replace(TWO, "")
IN_ANOTHER_FILE = f"import unittest\n\nfrom app import hello\n\n\n{TWO}"
JS_HEAD = JS.partition("test('one'")[0]
JS_TWO = "describe('bye'" + JS.partition("describe('bye'")[2]
JS_WITHOUT_TWO = JS.replace(JS_TWO, "")
GO_TWO = "func TestTwo" + GO.partition("func TestTwo")[2]


def change(path, before, after):
    package = "example.org/x" if path.endswith(".go") else ""
    sides = (read_tests(path, side.encode(), package) if side is not None else None for side in (before, after))
    return TestFileChange(path, *sides)


@pytest.mark.parametrize(
    ("path", "before", "after", "names"),
    [
        ("t.py", PY, PY.replace("test_one", "test_first"), {"t.py::test_one": "t.py::test_first"}),
        ("t.py", PY, PY.replace("test_two", "test_2"), {"t.py::TestBye::test_two": "t.py::TestBye::test_2"}),
        ("t.py", PY, PY.replace("TestBye", "TestGone"), {"t.py::TestBye::test_two": "t.py::TestGone::test_two"}),
        ("t.py", PY, f"# more\n{PY}", {}),
        ("t.py", PY, PY.replace("== wish", "!= wish"), None),
        ("t.py", PY, PY.replace("import hello", "import hullo as hello"), None),
        ("t.py", PY, PY.replace("'Bob'", "'Al'"), None),
        ("t.py", PY, PY.replace("def test_one", "@skip\ndef test_one"), None),
        ("t.py", PY, PY.replace("test_one", "one"), None),
        ("t.py", PY, PY + "\n\ndef test_new():\n    pass\n", None),
        ("t.py", PY, PY + "\n\npytestmark = skip\n", None),
        ("t.py", PY, PY.replace("import unittest\n", "import unittest\nimport guard\n"), None),
        ("t.py", PY, PY.replace("from app import hello\n", ""), None),
        # The new name hides a helper, and the second test of a name hides the first.
        ("t.py", PY, PY.replace("class TestBye", "class check"), None),
        ("t.py", f"{PY}\n\ndef test_x():\n    pass\n", f"{PY}\n\ndef test_one():\n    pass\n", None),
        ("t.py", '"""No example."""\n', '"""\n>>> 1\n1\n"""\n', None),
        ("t.py", PY, "def test_one(:", None),
        ("a.test.js", JS, JS.replace("'one'", "'first'"), {"a.test.js::one": "a.test.js::first"}),
        ("a.test.ts", JS, JS.replace("'two'", '"second"'), {"a.test.ts::bye::two": "a.test.ts::bye::second"}),
        ("a.js", JS, JS.replace("describe('bye'", "describe('gone'"), {"a.js::bye::two": "a.js::gone::two"}),
        ("a.test.js", JS, JS.replace("'bye Ann'", "'bye'"), None),
        ("a.test.js", JS, JS.replace("'Bob'", "'Al'"), None),
        ("a.test.js", JS, JS.replace("../src/hello", "./hello"), None),
        ("a.test.js", JS, JS.replace("test('one'", "test.skip('one'"), None),
        ("a.test.js", JS, f"// @ts-nocheck\n{JS}", None),
        ("a.test.js", JS, JS.replace("test('one'", "test(`one ${1}`"), None),
        ("a.test.js", JS, JS + "\nafterEach(() => {})\n", None),
        # A test with tests inside: their names would change, too.
        ("a.js", "test('a', t => { t.test('b', () => {}) })\n", "test('c', t => { t.test('b', () => {}) })\n", None),
        ("a_test.go", GO, GO.replace("TestOne", "TestFirst"), {"example.org/x::TestOne": "example.org/x::TestFirst"}),
        ("a_test.go", GO, GO.replace('"Ann"', '"Al"'), None),
        ("a_test.go", GO, GO.replace('got == ""', 'got == "x"'), None),
        ("a_test.go", GO, f"//go:build linux\n\n{GO}", None),
        ("a_test.go", GO, GO.replace("package x", "package x_test"), None),
    ],
)  # fmt: skip
def test_a_file_has_the_same_tests_if_only_their_names_differ(path, before, after, names):
    same = find_same_tests([change(path, before, after)])
    assert (same.names if same.paths else None) == names


@pytest.mark.parametrize(
    ("old", "new", "before", "after", "moved", "names"),
    [
        ("t.py", "u.py", PY, WITHOUT_TWO, IN_ANOTHER_FILE, {"t.py::TestBye::test_two": "u.py::TestBye::test_two"}),
        # An import that only the moved test used may leave with it.
        (
            "t.py", "u.py", PY, WITHOUT_TWO.replace("import unittest\n\n", ""), IN_ANOTHER_FILE,
            {"t.py::TestBye::test_two": "u.py::TestBye::test_two"},
        ),
        (
            "t/a.test.js", "t/b.test.js", JS, JS_WITHOUT_TWO, JS_HEAD + JS_TWO,
            {"t/a.test.js::bye::two": "t/b.test.js::bye::two"},
        ),
        ("a_test.go", "b_test.go", GO, GO.replace(GO_TWO, ""), f'package x\n\nimport "testing"\n\n{GO_TWO}', {}),
        # The same words mean something else there.
        ("t.py", "u.py", PY, WITHOUT_TWO, IN_ANOTHER_FILE.replace("from app", "from fake"), None),
        ("t.py", "u.py", PY, WITHOUT_TWO, IN_ANOTHER_FILE.replace("'Bob'", "''"), None),
        ("t.py", "u.py", PY, WITHOUT_TWO, f"import guard\n{IN_ANOTHER_FILE}", None),
        ("t.py", "u.py", PY, WITHOUT_TWO, f"{IN_ANOTHER_FILE}\n\ndef setUpModule():\n    pass\n", None),
        ("t.py", "u.py", f"pytestmark = db\n{PY}", f"pytestmark = db\n{PY.replace(TWO, '')}", IN_ANOTHER_FILE, None),
        ("t.py", "u/t.py", f"from . import hello\n{TWO}", None, f"from . import hello\n{TWO}", None),
        ("t/a.test.js", "t/b.test.js", JS, JS_WITHOUT_TWO, (JS_HEAD + JS_TWO).replace("hello.js", "fake.js"), None),
        ("t/a.test.js", "t/b.test.js", JS, JS_WITHOUT_TWO, JS_HEAD + JS_TWO.replace("'Bob'", "''"), None),
        ("t/a.test.js", "t/b.test.js", JS, JS_WITHOUT_TWO, f"{JS_HEAD}beforeEach(fake)\n{JS_TWO}", None),
        ("a_test.go", "b_test.go", GO, GO.replace(GO_TWO, ""), f'package x_test\n\nimport "testing"\n\n{GO_TWO}', None),
        # A new test next to the moved one.
        ("t.py", "u.py", PY, WITHOUT_TWO, f"{IN_ANOTHER_FILE}\n\ndef test_new():\n    pass\n", None),
    ],
)  # fmt: skip
def test_a_test_may_move_to_another_file_if_its_names_mean_the_same_there(old, new, before, after, moved, names):
    same = find_same_tests([change(old, before, after), change(new, None, moved)])
    assert (same.names if same.paths else None) == names
    assert same.paths == (frozenset() if names is None else {old, new})


def test_a_test_may_move_to_a_file_with_tests():
    other = PY.replace("test_one", "test_other").replace(TWO, "")
    same = find_same_tests([change("t.py", PY, None), change("u.py", other, other)])
    assert same.paths == {"u.py"}, "the helper of test_one is gone"
    before, after = f"import unittest\nfrom app import hello\n\n\ndef test_x():\n    pass\n\n\n{TWO}", IN_ANOTHER_FILE
    there = "def test_y():\n    pass\n"
    same = find_same_tests(
        [change("t.py", before, None), change("u.py", there, f"{before.replace('x', 'z')}\n\n{there}")]
    )
    assert same.names == {"t.py::TestBye::test_two": "u.py::TestBye::test_two", "t.py::test_x": "u.py::test_z"}
    other_hello = f"import unittest\nfrom fake import hello\n\n\n{there}"
    files = [change("t.py", after, None), change("u.py", other_hello, f"{other_hello}\n\n{TWO}")]
    assert not find_same_tests(files).paths


def test_words_name_a_moved_test_whatever_its_names_mean():
    files = [change("t.py", PY, WITHOUT_TWO), change("u.py", None, IN_ANOTHER_FILE.replace("app", "fake"))]
    assert moves_of(files) == Moves(same={"t.py::TestBye::test_two": "u.py::TestBye::test_two"})
    files = [change("t.py", PY, WITHOUT_TWO), change("u.py", None, "def test_two():\n    assert 1\n")]
    assert moves_of(files) == Moves(rewritten={"t.py::TestBye::test_two": "u.py::test_two"})
    assert moves_of(files[:1]) == Moves()


def test_a_package_of_go_has_the_path_of_its_module():
    modules = {"go.mod": b"// x\nmodule example.org/x\n", "tools/go.mod": b'module "example.org/tools"\n'}
    packages = GoPackages(modules.get)
    paths = ["a_test.go", "in/b_test.go", "tools/a_test.go", "tools/deep/in/a_test.go", "t.py"]
    assert [packages.package_of(path) for path in paths] == [
        "example.org/x", "example.org/x/in", "example.org/tools", "example.org/tools/deep/in", ""
    ]  # fmt: skip
    assert GoPackages({}.get).package_of("in/a_test.go") == ""
