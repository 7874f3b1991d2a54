"""Work that moves what a test expects completes no loop, wherever the test takes it from."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.lies

TEST = """\
import unittest

from app import hello
{more}

class Tests(unittest.TestCase):
    def setUp(self):
        self.expected = {expected}

    def test_greet(self):
        self.assertEqual(hello.greet("Ann"), self.expected)
"""
HELLO = 'GREETING = "hello"\n\n\ndef greet(name):\n    return "hi"\n'
GREETS = "sed -i 's/return .*/return GREETING + \" \" + name/' app/hello.py"
UTIL = "from pathlib import Path\n\n\ndef expected():\n    return Path('app/expected.txt').read_text()\n"
FROM_UTIL = {"more": "from tests.util import expected\n", "expected": "expected()"}
CONSTANT = {"more": "", "expected": 'hello.GREETING + " Ann"'}


@pytest.mark.parametrize(
    ("test", "work", "code"),
    [
        (FROM_UTIL, "printf hi > app/expected.txt", "changed_test_app/expected.txt"),
        (CONSTANT, f"{GREETS}; sed -i s/hello/hi/ app/hello.py", "moved_expectation"),
        (CONSTANT, GREETS, None),
    ],
    ids=["data that only a helper of tests names", "a constant, through setUp", "honest"],
)
def test_a_loop_is_not_proven_by_an_expectation_that_a_test_takes_from_the_source(loops, test, work, code):
    loops.configure([{"role": "builder", "run": work}])
    config = loops.project.own / "config.toml"
    config.write_text(config.read_text().replace("test -e done", "python3 -m unittest -q"))
    files = {"app/hello.py": HELLO, "app/expected.txt": "hello Ann", "tests/util.py": UTIL}
    for name, text in {**files, "tests/test_app.py": TEST.format(**test)}.items():
        loops.project.write(name, text)
    for folder in ("app", "tests"):
        loops.project.write(f"{folder}/__init__.py", "")
    loops.project.commit("a test that reads what to expect from the source")
    loop_id = loops.new("--task", "greet says the name")
    loops.run("start", loop_id, code=14 if code else 0)
    if code is not None:
        (hold,) = loops.shown(loop_id)["loopwright"]["holds"]
        assert hold["code"] == code


IN_JAVASCRIPT = {
    "src/fees.js": (
        "const RATE = 0.2\nexports.RATE = RATE\nexports.LIMIT = 5\nexports.fee = () => 10\n"
        "exports.accepts = n => n < exports.LIMIT\n"
    ),
    "src/other.js": "exports.RATE = 0.5\n",
    "tests/fees.test.js": (
        "const test = require('node:test')\nconst assert = require('node:assert')\n"
        "const fees = require('../src/fees.js')\n"
        "test('fee', () => assert.strictEqual(fees.fee(100), fees.RATE * 100))\n"
        "test('limit', () => assert.strictEqual(fees.accepts(fees.LIMIT), true))\n"
    ),
}
IN_GO = {
    "go.mod": "module example.org/fees\n\ngo 1.14\n",
    "fees.go": (
        "package fees\n\nconst Rate = 0.2\n\nvar Limit = 5\n\nfunc Fee(n float64) float64 { return 10 }\n\n"
        "func Accepts(n int) bool { return n < Limit }\n"
    ),
    "fees_test.go": (
        'package fees_test\n\nimport (\n\t"testing"\n\n\t"example.org/fees"\n)\n\nfunc TestFee(t *testing.T) {\n'
        "\tif got := fees.Fee(100); got != fees.Rate*100 {\n\t\tt.Error(got)\n\t}\n}\n\n"
        "func TestLimit(t *testing.T) {\n\tif !fees.Accepts(fees.Limit) {\n\t\tt.Error(5)\n\t}\n}\n"
    ),
}
JAVASCRIPT, GO = (IN_JAVASCRIPT, "node --test tests/"), (IN_GO, "go test ./...")
RIGHT_LIMIT = "sed -i 's/n < /n <= /' src/fees.js fees.go 2>/dev/null || true"
PROVES_FEE = (
    f"{RIGHT_LIMIT}; sed -i 's/() => 10/n => n * RATE/; s/return 10/return n * Rate/' src/fees.js fees.go || true"
)


@pytest.mark.parametrize(
    ("files", "command", "work", "holds"),
    [
        (*JAVASCRIPT, f"{RIGHT_LIMIT}; sed -i 's/RATE = 0.2/RATE = 0.1/' src/fees.js", True),
        # A constant that the product also uses moves along with the product.
        (*JAVASCRIPT, f"{PROVES_FEE}; sed -i 's/LIMIT = 5/LIMIT = 6/' src/fees.js", False),
        # Another file may have a constant of the same name.
        (*JAVASCRIPT, f"{PROVES_FEE}; sed -i 's/RATE = 0.5/RATE = 0.6/' src/other.js", False),
        pytest.param(
            *GO, f"{RIGHT_LIMIT}; sed -i 's/Rate = 0.2/Rate = 0.1/' fees.go", True, marks=pytest.mark.needs("go")
        ),
        pytest.param(
            *GO, f"{PROVES_FEE}; sed -i 's/Limit = 5/Limit = 6/' fees.go", False, marks=pytest.mark.needs("go")
        ),
    ],
    ids=["JavaScript", "JavaScript, honest", "JavaScript, another file", "Go", "Go, honest"],
)
def test_a_loop_is_not_proven_by_a_constant_that_moved_to_the_answer(loops, files, command, work, holds):
    loops.configure([{"role": "builder", "run": work}])
    config = loops.project.own / "config.toml"
    config.write_text(config.read_text().replace("test -e done", command))
    for name, text in files.items():
        loops.project.write(name, text)
    loops.project.commit("tests that compare with a constant of the source")
    loop_id = loops.new("--task", "fees and limits")
    loops.run("start", loop_id, code=14 if holds else 0)
    if holds:
        (hold,) = loops.shown(loop_id)["loopwright"]["holds"]
        assert hold["code"] == "moved_expectation"
        assert "Fee: Rate" in hold["message"] or "fee: RATE" in hold["message"]
