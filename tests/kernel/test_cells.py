"""Text in a terminal: how wide it is, cut and wrapped, and never a command to the terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.kernel.cells import cut, one_line, padded, width_of, wrapped


@pytest.mark.parametrize(
    ("text", "width"),
    [("abc", 3), ("日本", 4), ("e\u0301", 1), ("", 0), ("ｆｕｌｌ", 8), ("é", 1), ("🚀", 2), ("a\u20dd", 1)],
)
def test_width(text, width):
    assert width_of(text) == width


@pytest.mark.parametrize(
    ("text", "width", "short"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
    ],
)
def test_cut(text, width, short):
    assert cut(text, width) == short


@given(st.text(st.characters(exclude_categories=("Cc", "Cf", "Cs", "Co", "Cn", "Mn", "Me", "Mc"))), st.integers(2, 40))
def test_what_is_cut_padded_or_wrapped_fits_and_loses_no_word(text, width):
    assert width_of(cut(text, width)) <= width
    assert width_of(padded(text, width)) == width
    lines = wrapped(text, width)
    assert all(width_of(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(one_line(text).split())


def test_nothing_that_steers_a_terminal_is_left_and_it_is_one_line():
    evil = "a\x1b]0;owned\x07b\x1b[2Jc\r\nd\te\u202ef\x9b31mg\x00"
    assert one_line(evil) == "abc\\r d   e\\u202ef\\x9b31mg\\x00"


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("aa bb cc", 5, ["aa bb", "cc"]),
        ("aa bb cc", 8, ["aa bb cc"]),
        ("abc", 3, ["abc"]),
        ("abcdefgh", 3, ["abc", "def", "gh"]),
        ("a bcdefg h", 3, ["a", "bcd", "efg", "h"]),
        ("日本語", 4, ["日本", "語"]),
        ("a  b", 4, ["a  b"]),
        ("abc  ", 3, ["abc"]),
        ("ab", 0, ["a", "b"]),
        ("日本", 1, ["日", "本"]),
        ("a 日本 b", 1, ["a", "日", "本", "b"]),
        ("", 5, [""]),
    ],
)
def test_wrapped(text, width, lines):
    assert wrapped(text, width) == lines


def test_every_kind_of_invisible_character_is_written_out():
    assert one_line("\x01\u200b\ue000\u2028\u2029\ud800") == "\\x01\\u200b\\ue000\\u2028\\u2029\\ud800"
