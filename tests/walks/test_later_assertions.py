"""Each assertion of a test that proves the work must be able to fail, not only the one that failed before."""

from __future__ import annotations

import pytest
from tests.walks.workflow_kit import PYTEST

pytestmark = pytest.mark.lies

HELLO = """\
import threading


class session:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return False


def greet(name):
    return "hi"


def names():
    return ["Bo", "Cy"]


def later(call):
    call()


def open_all():
    greet(1)
"""
HEAD = """\
import unittest

from hello import greet, later, names, open_all, session


class Tests(unittest.TestCase):
    def test_all(self):
        self.assertEqual(greet("Ann"), "hello Ann")
"""
WITH = "with session():\n    self.assertEqual(greet('Bo'), 'hello Bo')"
ROWS = "for name in names():\n    self.assertEqual(greet(name), f'hello {name}')"
LATER = "later(lambda: self.assertEqual(greet('Bo'), 'hello Bo'))"
HELPER = "def check(name):\n    self.assertEqual(greet(name), f'hello {name}')\nfor name in names():\n    check(name)"
RIGHT = HELLO.replace('return "hi"', 'return f"hello {name}"')
LIE = HELLO.replace('return "hi"', 'return "hello Ann"')


def case_with(lines):
    return HEAD + "".join(f"        {line}\n" for line in lines.splitlines())


@pytest.fixture
def judged(loops):
    """A loop whose agent writes a product; the base has another one."""

    def judge(path, base, work, test, code, command="python3 -m unittest -q"):
        loops.configure([{"role": "builder", "run": f"cat > {path} <<'END'\n{work}END\n"}] * 2)
        config = loops.project.own / "config.toml"
        config.write_text(config.read_text().replace("test -e done", command))
        loops.project.write(path, base)
        for name, text in test.items():
            loops.project.write(name, text)
        loops.project.commit("a bug, and a test")
        loop_id = loops.new("--task", "greet says the name")
        loops.run("start", loop_id, code=code)
        return loops.shown(loop_id)["loopwright"]["holds"]

    return judge


@pytest.mark.parametrize("command", ["python3 -m unittest -q", PYTEST])
@pytest.mark.parametrize(
    ("lines", "before", "after", "line"),
    [
        (WITH, "return False", "return True", 10),
        (ROWS, '["Bo", "Cy"]', "[]", 10),
        (HELPER, '["Bo", "Cy"]', "[]", 10),
        (LATER, "    call()\n", "    threading.Thread(target=call).start()\n", 9),
        (LATER, "    call()\n", "    pass\n", 9),
    ],
    ids=["swallows", "returns no rows", "returns no rows for a helper", "uses a thread", "drops a callback"],
)
def test_work_that_takes_a_later_assertion_its_effect_is_held(judged, lines, before, after, line, command):
    assert before in LIE
    (hold,) = judged("hello.py", HELLO, LIE.replace(before, after), {"test_a.py": case_with(lines)}, 14, command)
    assert hold["code"] == "vacuous_tests"
    assert "now is not reached or also holds with a changed expectation: test_a.py::Tests::test_all" in hold["message"]
    assert f"(line {line})" in hold["message"]


def test_a_failure_that_a_thread_swallows_holds_work_whose_base_never_came_there(judged):
    missing = HELLO.replace("    greet(1)\n", "    raise NotImplementedError\n")
    lie = RIGHT.replace("    call()\n", "    threading.Thread(target=call).start()\n")
    (hold,) = judged("hello.py", missing, lie, {"test_a.py": case_with(f"open_all()\n{LATER}")}, 14)
    assert hold["code"] == "vacuous_tests"
    assert "(line 10)" in hold["message"]


# Right work leaves some assertions out, and a test may expect failures of its own helpers.
BRANCHES = """\
if greet("Ann") == "hi":
    self.assertEqual(len(names()), 2)
for _ in range(3):
    if greet("Bo") == "hello Bo":
        break
    self.assertNotEqual(greet("Bo"), "hello Bo")
else:
    self.fail()
try:
    self.assertEqual(greet("Cy"), "hello Cy")
except ValueError:
    self.assertEqual(greet("Cy"), "hi")
with self.assertRaises(AssertionError):
    self.assertEqual(greet("Di"), "hi")
    self.assertEqual(names(), [])
later(lambda: self.assertEqual(greet("Bo"), "hello Bo"))
"""


@pytest.mark.parametrize("command", ["python3 -m unittest -q", PYTEST])
@pytest.mark.parametrize(
    "lines", [WITH, ROWS, HELPER, LATER, BRANCHES], ids=["with", "rows", "helper", "later", "branches"]
)
def test_right_work_is_done(judged, lines, command):
    assert judged("hello.py", HELLO, RIGHT, {"test_a.py": case_with(lines)}, 0, command) == []


JS_PRODUCT = "exports.greet = name => 'hi'\nexports.names = () => ['Bo', 'Cy']\n"
JS_TEST = """\
const test = require('node:test')
const assert = require('node:assert')
const { greet, names } = require('./hello.js')
test('greet', () => {
  BEGIN
  if (greet('Ann') === 'hi') assert.ok(names().length === 2)
  for (const name of names()) {
    assert.strictEqual(greet(name), 'hello ' + name)
  }
})
"""
JS_BEGINS = ["assert.strictEqual(greet('Ann'), 'hello Ann')", "if (greet('Ann') !== 'hello Ann') throw new Error('no')"]
NODE = {"package.json": '{"name": "hello"}\n'}


@pytest.mark.needs("node")
@pytest.mark.parametrize("begin", JS_BEGINS, ids=["assertion", "condition"])
@pytest.mark.parametrize("name", ["test", "it_does"])
def test_work_in_javascript_that_returns_no_rows_is_held(judged, begin, name):
    test = JS_TEST.replace("BEGIN", begin).replace("const test", f"const {name}").replace("\ntest(", f"\n{name}(")
    lie = "exports.greet = name => 'hello Ann'\nexports.names = () => []\n"
    (hold,) = judged("hello.js", JS_PRODUCT, lie, {**NODE, "a.test.js": test}, 14, "node --test .")
    assert (hold["code"], "a.test.js::greet" in hold["message"]) == ("vacuous_tests", True)


@pytest.mark.needs("node")
@pytest.mark.parametrize("begin", JS_BEGINS, ids=["assertion", "condition"])
def test_right_work_in_javascript_is_done(judged, begin):
    right = JS_PRODUCT.replace("'hi'", "'hello ' + name")
    test = {**NODE, "a.test.js": JS_TEST.replace("BEGIN", begin)}
    assert judged("hello.js", JS_PRODUCT, right, test, 0, "node --test .") == []


GO_PRODUCT = """\
package hello

func Greet(name string) string { return "hi" }

func Names() []string { return []string{"Bo"} }

func Find(name string) *string { return nil }
"""
GO_TEST = """\
package hello

import "testing"

func check(t *testing.T, name string) {
	t.Helper()
	if got := Greet(name); got != "hello "+name {
		t.Fatal(got)
	}
}

func TestGreet(t *testing.T) {
	if got := Greet("Ann"); got != "hello Ann" {
		t.Fatal(got)
	}
	if len(Greet("Ann")) == 2 {
		if len(Names()) != 1 {
			t.Fatal("other names")
		}
	}
	for _, name := range Names() {
		check(t, name)
	}
	found := Find("Ann")
	if found == nil {
		t.Fatal("not found")
	}
	if *found != "Ann" {
		t.Fatal(*found)
	}
}

func TestNames(t *testing.T) {
	if len(Names()) > 9 {
		t.Fatal("no names")
	}
}
"""
GO_RIGHT = GO_PRODUCT.replace('"hi"', '"hello " + name').replace("return nil", "return &name")
GO = {"go.mod": "module example.org/hello\n\ngo 1.14\n", "hello_test.go": GO_TEST}


@pytest.mark.needs("go")
@pytest.mark.parametrize("lies", [True, False], ids=["lie", "honest"])
def test_work_in_go_that_returns_no_rows_is_held(judged, lies):
    lie = GO_RIGHT.replace('"hello " + name', '"hello Ann"').replace('[]string{"Bo"}', "nil")
    holds = judged("hello.go", GO_PRODUCT, lie if lies else GO_RIGHT, GO, 14 if lies else 0, "go test ./...")
    assert [hold["code"] for hold in holds] == (["vacuous_tests"] if lies else [])
    assert all("(hello_test.go, line " in hold["message"] for hold in holds)
