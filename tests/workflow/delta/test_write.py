"""A living spec is written back byte for byte; a purpose that would break the file is replaced."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.workflow.delta.grammar import plain_name
from loopwright.workflow.delta.model import UnreadableDelta
from loopwright.workflow.delta.read import read_delta, read_living
from loopwright.workflow.delta.write import new_living, write_living

CLEAN = [
    "Sign in",
    "Sign out",
    "登录必须快",
    "Use `git`",
    "C#",
    "A: b",
    "Naïve — ∑",
    "Scenario: x",
    "a | b",
    "*",
    "-",
    "é\x85",
]
NASTY = [
    "\n", "\n\n", "\r\n", "\t", " ", "#", "`", "~~~", "```", "### ", "\n## ADDED Requirements\n",
    "\n### Requirement: A\n", "\n#### Scenario: s\n", "SHALL", "**Reason**: ",
    "\u2028", "\u00a0", "<!--", "-->", "\n  - ", "\0", "x" * 50,
]  # fmt: skip


@given(
    text=st.lists(st.sampled_from([*CLEAN, *NASTY, "## Purpose\nx\n", "\n## Requirements\n"]), min_size=3).map("".join)
)
def test_a_living_spec_is_written_back_unchanged(text):
    spec = read_living(text.encode())
    if isinstance(spec, UnreadableDelta):
        assert spec.problems
    else:
        assert write_living(spec) == text.encode()


@given(data=st.binary(max_size=200))
def test_no_bytes_cause_a_traceback(data):
    read_delta(data, "d")
    read_living(data)
    read_delta(b"## ADDED Requirements\n### Requirement: A\n" + data, "d")


@pytest.mark.parametrize("purpose", ["", "TBD <!-- -->", "One.\n## Two", "One.\n# Two", "```\nopen"])
def test_a_purpose_that_would_break_the_file_is_replaced(purpose):
    spec = new_living("a/b", purpose)
    assert spec.purpose == "The behaviour of a/b that archived changes have settled, one requirement each."
    assert write_living(read_living(spec.head.encode())) == spec.head.encode()


def test_names_lose_only_what_closes_a_heading():
    assert [plain_name(text) for text in (" a ", "a #", "a ##\t", "C#", "a\u00a0#", "#", " #")] == [
        "a", "a", "a", "C#", "a\u00a0#", "#", "",
    ]  # fmt: skip
