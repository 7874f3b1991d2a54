"""Bytes of a keyboard as keys."""

from __future__ import annotations

import pytest

from loopwright.cli.loop.screen.keys import keys_in


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"q", ("q",)),
        (b"\x1b[A\x1b[B\x1bOA", ("up", "down", "up")),
        (b"jk", ("down", "up")),
        (b"\x1b[5~\x1b[6~ ", ("page up", "page down", "page down")),
        (b"\r\n", ("enter", "enter")),
        (b"\x1b", ("escape",)),
        (b"\x1b[15~p\x1b[1;5C", ("p",)),
        (b"\xc3\xa9s\xff", ("s",)),
        (b"", ()),
        (b"gG?", ("home", "end", "?")),
    ],
)
def test_keys(data, keys):
    assert keys_in(data) == keys
