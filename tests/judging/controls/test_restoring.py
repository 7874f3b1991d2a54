"""Changed code goes back to the base; new constants stay."""

from __future__ import annotations

from loopwright.judging.controls.restoring import restore_code

BEFORE = b"LIMIT = 1\n\ndef f():\n    return 1\n"
AFTER = b"import os\nLIMIT = 2\nNAMES: list[str] = ['a']\nHOME = os.getcwd()\n\ndef f():\n    return 2\n"


def test_constants_are_kept_and_code_is_not():
    space = {}
    exec(restore_code("a.py", BEFORE, AFTER), space)
    assert (space["LIMIT"], space["NAMES"], space["f"]()) == (2, ["a"], 1)
    assert "HOME" not in space
    assert restore_code("a.py", None, b"def f():\n    return 2\n") is None
    assert restore_code("a.py", None, b"A = 1\n") == b"\nA = 1\n"
    assert restore_code("a.js", BEFORE, AFTER) == BEFORE
