"""Tests with expressions that are too long for a control: it leaves them alone, and the loop goes on."""

from __future__ import annotations

import pytest

TEST = """\
import unittest

from hello import greet


class Tests(unittest.TestCase):
    def test_greet(self):
        self.assertEqual(greet("Ann"), "hello Ann")

    def test_long(self):
        self.assertNotEqual(greet("Ann"), {sum})
"""
GREETS = "sed -i 's/return .*/return \"hello \" + name/' hello.py"


@pytest.mark.parametrize(
    ("terms", "work", "hold"),
    [
        (600, GREETS, None),
        (990, GREETS, "unaltered_tests"),
        (990, f"{GREETS}; sed -i s/x989/x990/ test_hello.py", "protected_changes"),
    ],
    ids=["in a test", "in a test that no control can read", "in a changed test"],
)
def test_a_long_sum_in_a_test_ends_no_loop(loops, terms, work, hold):
    loops.configure([{"role": "builder", "run": work}])
    config = loops.project.own / "config.toml"
    config.write_text(config.read_text().replace("test -e done", "python3 -m unittest -q"))
    loops.project.write("hello.py", 'def greet(name):\n    return "hi"\n')
    texts = " + ".join(f"'x{number}'" for number in range(terms))
    loops.project.write("test_hello.py", TEST.format(sum=texts))
    loops.project.commit("a test with a long sum")
    loop_id = loops.new("--task", "greet says the name")
    loops.run("start", loop_id, code=14 if hold else 0)
    assert [code for _, code in loops.holds(loop_id)] == ([hold] if hold else [])
