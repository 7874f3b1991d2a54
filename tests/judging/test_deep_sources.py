"""A source that is nested too deeply for Python's stack is left alone, or counts as changed: nothing fails by it."""

from __future__ import annotations

import pytest

from loopwright.judging.changed_tests import ChangedTestFile, changed_tests
from loopwright.judging.controls.called_expectations import in_command
from loopwright.judging.controls.invert import invert
from loopwright.judging.controls.python_probes import probe_python
from loopwright.judging.controls.raising import raise_in_changed
from loopwright.judging.controls.restoring import restore_code
from loopwright.judging.controls.static_text import unrunnable
from loopwright.judging.controls.watched_values import watch
from loopwright.judging.defined_tests.moved import Moves
from loopwright.judging.defined_tests.read import read_tests
from loopwright.judging.flags import flags
from loopwright.judging.inline_tests import lost_test_code
from loopwright.judging.verdict import TreeResult
from loopwright.judging.warning_signs.parts_of_tests import changed_parts_of_tests

TREE = TreeResult(exited_with_0=True)
LONG = {
    "sum": " + ".join(f"'x{number}'" for number in range(990)),
    "calls": "f" + ".a()" * 990,
    "items": "f" + "[0]" * 990,
}


def source(name: str) -> bytes:
    return f"from app import f\n\n\ndef test_a():\n    x = 0\n    assert f() == {LONG[name]}\n".encode()


def other(text: bytes) -> bytes:
    return text.replace(b"x = 0", b"x = 1")


READERS = {
    "changed tests": lambda text: changed_tests(ChangedTestFile("t.py", text, other(text)), TREE, TREE, Moves()),
    "tests of a file": lambda text: read_tests("t.py", text),
    "inverted": lambda text: invert("t.py", text, salt="any"),
    "near": lambda text: invert("t.py", text, salt="any", is_near=True),
    "probes": lambda text: probe_python("t.py", text, salt="any"),
    "watched": lambda text: watch(text, frozenset(["test_a"]), lambda _: lambda *_: True, frozenset(), name="_record"),
    "raising": lambda text: raise_in_changed("t.py", text, other(text)),
    "restored": lambda text: restore_code("t.py", text, other(text)),
    "unrunnable": lambda text: unrunnable("t.py", text),
    "flags": lambda text: flags("t.py", text, other(text)),
    "lost tests": lambda text: lost_test_code(text, other(text)),
    "parts of tests": lambda text: changed_parts_of_tests("t.py", text, other(text)),
    "a command": lambda text: list(in_command(f'python3 -c "{text.decode()}"', salt="any")),
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize("name", LONG)
def test_a_long_expression_ends_nothing(name, read):
    read(source(name))


def test_what_cannot_be_compared_counts_as_changed():
    text = source("sum")
    assert lost_test_code(text, other(text))
    assert not lost_test_code(text, text)
    assert changed_parts_of_tests("conftest.py", b"def pytest_x(): pass\n", source("sum")).loaded == {"pytest_x"}
