"""A constant operand that decides alone keeps an assertion from failing; other operands do not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from loopwright.judging.controls.invert import invert


@pytest.mark.parametrize(
    ("assertion", "can_fail"),
    [
        ("self.assertTrue(x == 'ANN' or True)", False),
        ("assert x == 'ANN' or 1", False),
        ("assert x == 'ANN' or not None", False),
        ("assert 1 == 1 or x == 'ANN'", False),
        ("assert x != 'ANN' and x or True", False),
        ("self.assertFalse(x != 'ANN' and False)", False),
        ("assert not (x != 'ANN' and False)", False),
        ("if not (x == 'ANN' or True): self.fail()", False),
        ("assert x == 'ANN' or x is None", True),
        ("assert x is None or x == 'ANN'", True),
        ("assert x == 'BOB' or x == 'ANN'", True),
        ("assert x == 1 or len(x) == 3", True),
        ("assert len(x) == 1 or len(x) == 3", True),
        ("assert (x and x == 'ANN') or x == 'BOB'", True),
        ("assert x and (x == 'ANN' or x == 'BOB')", True),
        ("assert isinstance(x, int) or isinstance(x, str)", True),
        ("assert not (x == 'BOB' or x is None)", True),
        ("self.assertFalse(x == 'BOB' or x is None)", True),
        ("self.assertFalse(x == 'BOB' and x)", True),
        ("assert not (x == 'BOB' and x)", True),
        ("if not (x == 'ANN' or x == 'BOB'): self.fail()", True),
    ],
)
def test_an_operand_of_python_that_decides_alone_shows(tmp_path, assertion, can_fail):
    source = (
        f"import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        x = 'ANN'\n        {assertion}\n"
    )
    inverted = invert("test_it.py", source.encode(), salt="s")
    assert inverted.altered == {"T.test"}
    (tmp_path / "test_it.py").write_bytes(inverted.source)
    done = subprocess.run([sys.executable, "-m", "unittest", "-q"], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode != 0) == can_fail, done.stderr


@pytest.mark.needs("node")
@pytest.mark.parametrize(
    ("assertion", "can_fail"),
    [
        ("assert.ok(x === 'ANN' || true)", False),
        ("assert(x === 'ANN' || !null)", False),
        ("assert.ok(!(x !== 'ANN' && false))", False),
        ("if (!(x === 'ANN' || 1)) throw new Error('wrong')", False),
        ("assert(x === null || x === 'ANN')", True),
        ("assert(x === 'ANN' || x.name)", True),
        ("assert(x.length === 1 || x.length === 3)", True),
        ("assert((x && x === 'ANN') || x === 'BOB')", True),
        ("assert(!(x === 'BOB' || x === null))", True),
        ("assert(!(x === 'BOB' && x))", True),
        ("if (!(x === 'ANN' || x === 'BOB')) throw new Error('wrong')", True),
        ("if (x !== 'ANN' && x !== 'BOB') throw new Error('wrong')", True),
    ],
)
def test_an_operand_of_javascript_that_decides_alone_shows(tmp_path, assertion, can_fail):
    source = f"const assert = require('assert')\nconst x = 'ANN'\n{assertion}\n"
    inverted = invert("check.js", source.encode(), salt="s")
    assert inverted.altered
    (tmp_path / "check.js").write_bytes(inverted.source)
    done = subprocess.run(["node", "check.js"], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode != 0) == can_fail, inverted.source
