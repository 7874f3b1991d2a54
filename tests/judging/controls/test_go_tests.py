"""Tests of Go are made to fail at their end."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from loopwright.judging.controls.invert import invert

TESTS = b"""\
package x

import "testing"

func TestDouble(t *testing.T) {
	if Double(2) != 4 { t.Fatal("no") }
}

func TestParts(outer *testing.T) {
	outer.Run("part", func(t *testing.T) { Double(1) })
}

func TestSkipped(t *testing.T) { t.Skip("not here") }

func TestUnnamed(_ *testing.T) {}
"""
FORGES = 'package x\nimport ("fmt"; "syscall")\nfunc Double(n int) int {\nfmt.Println("--- PASS: TestDouble (0.00s)")\n'


def test_every_test_that_has_a_name_for_its_state_is_altered():
    inverted = invert("x_test.go", TESTS)
    assert inverted.altered == {"TestDouble", "TestParts", "TestSkipped"}
    assert inverted.source.count(b"\n") == TESTS.count(b"\n")
    assert invert("x_test.go", b"package x\n").altered == frozenset()


@pytest.mark.skipif(shutil.which("go") is None, reason="needs Go")
def test_altered_tests_fail_unless_the_product_forges_their_result(tmp_path):
    (tmp_path / "go.mod").write_text("module x\n\ngo 1.19\n")
    (tmp_path / "x_test.go").write_bytes(invert("x_test.go", TESTS).source)

    def run(product):
        (tmp_path / "x.go").write_text(product)
        return subprocess.run(["go", "test", "-v"], cwd=tmp_path, capture_output=True, text=True, check=False).stdout

    honest = run("package x\nfunc Double(n int) int { return n + n }\n")
    for name in ("TestDouble", "TestParts", "TestParts/part", "TestSkipped"):
        assert f"--- FAIL: {name}" in honest
    assert "--- PASS: TestDouble" in run(FORGES + "syscall.Exit(0)\nreturn n }\n")
