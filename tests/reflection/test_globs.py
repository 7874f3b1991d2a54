"""Globs of a project's own rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.reflection.project_rules import LONGEST, matches, part_matches, problem_of


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "a/b.py", True),
        ("*.py", "a/b.pyc", False),
        ("*.PY", "a/B.py", True),
        ("pay", "src/pay/card.ts", True),
        ("pay", "src/payments/card.ts", False),
        ("pay/", "src/pay/card.ts", True),
        ("pay/", "src/pay", False),
        ("/pay", "pay/x", True),
        ("/pay", "src/pay/x", False),
        ("src/pay", "src/pay/a/b", True),
        ("src/pay", "lib/src/pay/a", False),
        ("src/*/x.ts", "src/a/x.ts", True),
        ("src/*/x.ts", "src/a/b/x.ts", False),
        ("src/**/x.ts", "src/x.ts", True),
        ("src/**/x.ts", "src/a/b/x.ts", True),
        ("src/**/x.ts", "lib/x.ts", False),
        ("**/x.ts", "x.ts", True),
        ("**", "anything", True),
        ("src/pay", "src\\pay\\card.cs", True),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("a*b*c", "aXbYc", True),
        ("a*b*c", "aXbYd", False),
        ("*", "", False),
    ],
)
def test_a_glob_means_what_the_docs_say(pattern, path, expected):
    assert matches(pattern, path) is expected


@pytest.mark.parametrize(
    ("pattern", "said"),
    [("", "empty"), ("/", "empty"), ("[ab]", "may contain"), ("{a,b}", "may contain"), ("!x", "may contain"),
     ("a\\b", "may contain"), ("a**", "whole parts"), ("x" * (LONGEST + 1), "longer")],
)  # fmt: skip
def test_what_can_not_be_used_is_said(pattern, said):
    assert said in problem_of(pattern)
    assert problem_of("src/**/*.p?") is None


def slow_but_plain(piece, part):
    if not piece:
        return not part
    if piece[0] == "*":
        return slow_but_plain(piece[1:], part) or (part != "" and slow_but_plain(piece, part[1:]))
    return part != "" and piece[0] in ("?", part[0]) and slow_but_plain(piece[1:], part[1:])


@given(st.text(alphabet="ab*?", max_size=7), st.text(alphabet="ab", max_size=8))
def test_a_part_is_matched_as_by_trying_everything(piece, part):
    assert part_matches(piece, part) is slow_but_plain(piece, part)


def test_a_hostile_pattern_takes_no_more_than_pattern_times_path():
    class Counted(str):
        __slots__ = ()
        looked = 0

        def __getitem__(self, at):
            Counted.looked += 1
            return super().__getitem__(at)

    pattern, part = "*a" * 99, Counted("a" * 2000 + "b")
    assert not part_matches(pattern, part)
    assert Counted.looked <= 2 * len(pattern) * len(part)
