"""Comments that the work added lose their words, and all others stay."""

from __future__ import annotations

import pytest

from loopwright.judging.controls.added_comments import without_added_comments


@pytest.mark.parametrize(
    ("path", "before", "after", "neutral"),
    [
        ("a.py", "import os\n", "import os  # noqa\n", "import os  # oooo\n"),
        ("a.py", "x = 1\n", "# ruff: noqa\nx = '# é'  # type: ignore[a]\n",
         "# ooooo oooo\nx = '# é'  # ooooo ooooooooo\n"),
        ("a.py", "\ufeffx = 1\n", "\ufeffé = 1  # é noqa\n", "\ufeffé = 1  # o oooo\n"),
        ("a.py", "x = 1\r\n", "x = 1  # a\r\n", "x = 1  # o\r\n"),
        ("a.pyi", "", "x: int  # a\n", "x: int  # o\n"),
        ("a.py", "x = 1\n", "#!/bin/python # ruff: noqa\nx = 1\n", "#!/bin/python #ooooooooooo\nx = 1\n"),
        ("a.js", "f()\n", "/* eslint-disable */\nf() // why\n", "/* oooooooooooooo */\nf() // ooo\n"),
        ("a.ts", "", "/**\n * A b.\n */\nf('// c')\n", "/**\n * o oo\n */\nf('// c')\n"),
        ("a.go", "", "package a\n\n//go:build x\n//nolint:all\nvar a = 1 // b\n",
         "package a\n\n//go:build x\n//oooooooooo\nvar a = 1 // o\n"),
        ("a.go", "", 'package a\n\n// int f();\nimport "C"\n\n// d\n',
         'package a\n\n// int f();\nimport "C"\n\n// o\n'),
        ("a.sh", "echo $1\n", "# shellcheck disable=A\necho '#' $1#2 # b\n",
         "# oooooooooo ooooooooo\necho '#' $1#2 # o\n"),
        ("a.sh", "", "cat <<END\n# text\nEND\n# b\n", "cat <<END\n# text\nEND\n# o\n"),
        ("a.rs", "", "#[test]\n// a\nf(); // b\ng('\"'); // c\n", "#[test]\n// o\nf(); // o\ng('\"'); // c\n"),
        ("a.rb", "", "# a\nf 'x' # b\n", "# o\nf 'x' # b\n"),
    ],
)  # fmt: skip
def test_a_new_comment_says_nothing_and_keeps_its_place(path, before, after, neutral):
    found = without_added_comments(path, before.encode(), after.encode())
    assert found is not None
    assert found.decode() == neutral
    assert without_added_comments(path, after.encode(), after.encode()) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# old\nx = 1\n", "y = 0\n# old\nx = 2\n"),
        # A changed line keeps its comment, and moved code takes it along.
        ("import a, b  # noqa\n", "import a, c  # noqa\n"),
        ("def f():\n    import a  # noqa\n\n\nb = 1\nc = 2\n", "b = 1\nc = 2\n\n\ndef f():\n    import a  # noqa\n"),
        ("x = 1\n", "x = 2\n"),
        ("x = 1\n", "x = ( # broken\n"),
    ],
)
def test_a_comment_of_the_base_stays(before, after):
    assert without_added_comments("a.py", before.encode(), after.encode()) is None


def test_a_comment_of_the_base_excuses_no_other_place():
    before = "# fmt: off\nx = 1\ny = 2  # noqa\nz = 3\n"
    moved = "x = 1\ny = 2\nz = 3\n# fmt: off\nw = 4  # noqa\n"
    assert without_added_comments("a.py", before.encode(), moved.encode()) == (
        b"x = 1\ny = 2\nz = 3\n# oooo ooo\nw = 4  # oooo\n"
    )


@pytest.mark.parametrize("path", ["a.py", "a.js", "a.go", "a.txt"])
@pytest.mark.parametrize("source", [b"\xff # a", b"(" * 100_000, b"#" * (1 << 21)])
def test_an_unreadable_source_stays(path, source):
    assert without_added_comments(path, None, source) is None
