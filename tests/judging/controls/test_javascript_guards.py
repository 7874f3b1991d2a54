"""Conditions that fail JavaScript tests can fail on the base and on right work, but not with NaN."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from loopwright.judging.controls.invert import invert
from loopwright.judging.controls.javascript_tests import probe_javascript
from loopwright.judging.controls.marks import records_name
from loopwright.judging.controls.probe_records import (
    Assertions,
    as_results,
    cut_short,
    read_records,
    weakened_assertions,
)

SALT = "ab12"
FUNCTION = "function check(got, want) { if (got !== want) throw new Error(`${got} is not ${want}`) }\n"
STATEMENTS = {
    "throws": "if (Math.abs(mean() - 2) > 1e-9) throw new Error('no')",
    "fails": "const got = mean(); if (got < 1.9 || got > 2.1) { assert.fail(`${got}`) }",
    "helper": "check(mean(), 2)",
    "or": "mean() === 2 || assert.fail()",
    "and": "mean() !== 2 && assert.fail()",
    "else": "if (mean() === 2) { check(1, 1) } else { assert.fail() }",
    "chain": "const got = mean(); if (got === 2) check(1, 1); else if (got > 9) check(1, 1); else assert.fail()",
    "ternary": "mean() === 2 ? check(1, 1) : assert.fail()",
    "switch": "switch (mean()) { case 2: break; default: throw new Error('no') }",
    "rejects": "await new Promise((done, reject) => { if (mean() !== 2) return reject(new Error('no')); done() })",
    "false": "if (mean() !== 2) assert(false, 'no')",
}
# These comparisons are false with NaN.
ORDERED = {"throws", "fails"}


def source_of(names, *, parameter: str = "") -> str:
    head = "const { test } = require('node:test'), assert = require('node:assert');\n"
    tests = "".join(f"test('{name}', async ({parameter}) => {{ {STATEMENTS[name]} }});\n" for name in names)
    return f"{head}const mean = require('./product.js').mean;\n{FUNCTION}{tests}"


def run(folder: Path, source: str, value: str) -> set[str]:
    """The tests that pass."""
    folder.mkdir()
    (folder / "product.js").write_text(f"exports.mean = () => {value};\n")
    (folder / "a.test.js").write_text(source)
    command = ["node", "--test", "--test-reporter=tap", "a.test.js"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return {line.rpartition(" - ")[2] for line in done.stdout.splitlines() if line.strip().startswith("ok ")}


def probed(folder: Path, value: str) -> Assertions:
    made = probe_javascript("a.test.js", source_of(STATEMENTS).encode(), salt=SALT)
    assert made is not None
    assert run(folder, made.source.decode(), value) == set()
    records = read_records("a.test.js", (folder / records_name("a.test.js", SALT)).read_bytes())
    return Assertions({result.id: result.status for result in as_results(records)})


@pytest.fixture(autouse=True)
def _node():
    if shutil.which("node") is None:
        pytest.skip("needs node")


def test_right_work_comes_to_the_end_of_each_test_and_nan_does_not_count(tmp_path):
    base, work = probed(tmp_path / "base", "0"), probed(tmp_path / "work", "2")
    tests = [f"a.test.js::{name}" for name in STATEMENTS]
    assert [test for test in tests if base.came_to_end(test)] == []
    assert [test for test in tests if not work.came_to_end(test)] == []
    assert cut_short(base, work, tests) == ()
    assert weakened_assertions(base, work, tests) == {}
    assert {test for test in tests if not work.of(test)} == set(), "nothing shows that the test can fail"
    lie = probed(tmp_path / "lie", "NaN")
    assert set(weakened_assertions(base, lie, tests)) == {f"a.test.js::{name}" for name in ORDERED}


def test_an_inverted_condition_fails_with_right_work_and_not_with_nan(tmp_path):
    made = invert("a.test.js", source_of(STATEMENTS).encode())
    assert made.altered == set(STATEMENTS)
    assert run(tmp_path / "work", made.source.decode(), "2") == set()
    assert run(tmp_path / "lie", made.source.decode(), "NaN") == ORDERED


def test_tests_that_are_not_probed_are_inverted_in_a_probed_file(tmp_path):
    probed_test = "test('probed', () => { assert.equal(mean(), 2) });\n"
    source = source_of(STATEMENTS, parameter="t, done") + probed_test
    made = probe_javascript("a.test.js", source.replace(" }});\n", "; done() }});\n").encode(), salt=SALT)
    assert made is not None
    assert made.probed == {"probed"}
    assert run(tmp_path / "work", made.source.decode().replace("async (t, done)", "async (t)"), "2") == set()
