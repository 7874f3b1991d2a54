"""Controls look at each node of a test file a limited number of times, however long the file is."""

from __future__ import annotations

import ast

import pytest

from loopwright.judging.controls.invert import invert
from loopwright.judging.controls.watched_values import watch
from loopwright.judging.defined_tests.moved import TestFileChange, moves_of
from loopwright.judging.defined_tests.read import read_tests

SALT = "ab12"


@pytest.fixture
def visits(monkeypatch):
    """Counts how often a call asks for the children of a node."""

    def count(call, *args, **options) -> int:
        counted = [0]
        children = ast.iter_child_nodes

        def counting(node):
            counted[0] += 1
            return children(node)

        with monkeypatch.context() as patched:
            patched.setattr(ast, "iter_child_nodes", counting)
            call(*args, **options)
        return counted[0]

    return count


def file_of(count: int) -> bytes:
    """Tests that compare variables, with names of their own and with the same names."""
    own = (
        f"def test_{n}():\n    actual_{n} = f({n})\n    expected_{n} = {n}\n    assert actual_{n} == expected_{n}\n"
        for n in range(count)
    )
    same = (
        f"def test_same_{n}():\n    actual = f({n})\n    expected = {n}\n    assert actual == expected\n"
        for n in range(count)
    )
    return ("from m import f\n" + "".join((*own, *same))).encode()


@pytest.mark.parametrize("is_near", [False, True])
def test_twice_the_tests_take_twice_the_visits(visits, is_near):
    few, many = (visits(invert, "t.py", file_of(count), salt=SALT, is_near=is_near) for count in (40, 80))
    assert many < 2.2 * few


def renamed_file(count: int, name: str) -> bytes:
    return "".join(f"def test_{name}_{n}():\n    assert f({n}, '{name}') == {n}\n" for n in range(count)).encode()


def moves(count: int) -> dict[str, str]:
    sides = (read_tests("t.py", renamed_file(count, name)) for name in "ab")
    return moves_of([TestFileChange("t.py", *sides)]).same


def test_each_body_is_read_once_to_find_renamed_tests(monkeypatch):
    dumped = []
    dump = ast.dump

    def counting(node):
        dumped.append(node)
        return dump(node)

    monkeypatch.setattr(ast, "dump", counting)
    assert moves(20) == {}
    few = len(dumped)
    assert moves(40) == {}
    assert len(dumped) - few <= 2.2 * few


def sums(count: int) -> str:
    return "    v0 = TABLE\n" + "".join(f"    v{n} = v{n - 1} + v{n - 1}\n" for n in range(1, count))


def mutual(count: int) -> str:
    names = [f"v{n}" for n in range(count)]
    return "".join(f"    {name} = 1\n    {name} = {' + '.join(names)}\n" for name in names)


EXPECTED = {
    "sums": lambda count: f"{sums(count)}    assert f() == v{count - 1}\n",
    "mutual": lambda count: f"{mutual(count)}    assert f() == v0\n",
    "methods": lambda count: f"    assert f() == TABLE{'.strip()' * count}\n",
    "items": lambda count: f"    assert f() == TABLE{'[0]' * count}\n",
}


@pytest.mark.parametrize("body", EXPECTED.values(), ids=EXPECTED)
def test_the_origin_of_a_value_is_found_in_linear_time(visits, body):
    def watch_value(count):
        source = f"from m import f, TABLE\ndef test_a():\n{body(count)}".encode()
        watch(source, frozenset(["test_a"]), lambda _: lambda module, *_: module == "m", frozenset(), name="_r")

    few, many = (visits(watch_value, count) for count in (6, 12))
    assert many < 4.5 * few  # mutual names have four times the text
