"""Controls look at each node of a test file a limited number of times, however long the file is."""

from __future__ import annotations

import ast

import pytest

from loopwright.judging.controls.invert import invert

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
