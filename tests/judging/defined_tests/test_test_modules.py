"""Files that hold tests, whatever their names are."""

from __future__ import annotations

import pytest

from loopwright.judging.defined_tests.test_modules import holds_tests
from loopwright.judging.project_files import find_project_files

SUITE = b"const ms = require('./index.js')\ndescribe('ms', function () {\n  it('works', () => {})\n})\n"


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("behaviour.js", SUITE, True),
        ("behaviour.ts", b"import { test } from 'vitest'\ntest.each([1])('%s', () => {})\n", True),
        ("a.py", b"from unittest import TestCase\nclass A(TestCase):\n    def test_a(self): pass\n", True),
        ("a.js", b"const t = require('node:test')\nt('name', () => {})\n", True),
        ("a.mjs", b"import t from 'node:test'\n", True),
        ("a.js", b"require('tape')('name', t => t.end())\n", True),
        ("a.py", b"def test_a():\n    assert 1\n", True),
        ("a.py", b"class TestA:\n    async def test_a(self):\n        assert 1\n", True),
        # Products have such names, too.
        ("run.js", b"module.exports = test\nfunction test(name) {}\n", False),
        ("run.js", b"test('x')\n", False),
        ("lib.js", b"function f() { describe('x', () => {}) }\n", False),
        ("a.py", b"def test_connection(): pass\n", False),
        ("a.py", b"import unittest\nclass Base(unittest.TestCase):\n    def check(self): pass\n", False),
        ("a.js", b"describe('x', () => {", False),
        ("a.js", b"exports.library = 'node:test'\n", False),
        ("a.py", b"class TestA:\n    def test_a(self): return 1\n", False),
        ("a.txt", SUITE, False),
    ],
)
def test_the_content_says_whether_a_file_is_a_test(path, source, expected):
    assert holds_tests(path, source) is expected


def test_a_flat_file_that_holds_tests_is_no_source():
    files = {"package.json": b"{}", "index.js": b"module.exports = 1\n", "behaviour.js": SUITE, "spec.js": b""}
    found = find_project_files(files, read_all=lambda paths: {path: files[path] for path in paths})
    assert found.source == ("index.js",)
    assert "behaviour.js" in found.tests


def test_a_product_with_its_tests_in_one_file_is_source():
    files = {"calc.py": b"import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n"}
    found = find_project_files(files, read_all=lambda paths: {path: files[path] for path in paths})
    assert found.source == ("calc.py",)
