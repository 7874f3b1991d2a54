"""A change of settings touches the bytes of what is changed, and no others."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopwright.install.json_text import edited, parse, render
from loopwright.install.model import NotEditable

THEIRS = (
    '{\r\n\t"a": ["Bash(ls)","Read"],\r\n\t"n": 1e3, "e": "\\u00e9\\"}",\r\n'
    '\t"hooks": {"Stop": [ {"hooks": []} ]}\r\n}\r\n'
)
GROUP = {"hooks": [{"type": "command", "command": "ours"}]}


@pytest.mark.parametrize(
    "text", [THEIRS, THEIRS.replace("\r\n", "\n"), THEIRS.replace("\r\n", " "), '{"hooks":{"Stop":[1]}}']
)
def test_an_addition_is_in_its_place_and_its_removal_leaves_nothing(text):
    before = parse(text)
    after = {**before, "hooks": {"Stop": [*before["hooks"]["Stop"], GROUP], "Start": [GROUP]}, "mcp": {"ours": {}}}
    added = render(after, text)
    assert json.loads(added) == after
    kept, _, _ = text.partition("]}")
    assert added.startswith(kept.rstrip())
    assert ("\n" in added.replace("\r\n", "")) == ("\n" in text.replace("\r\n", ""))
    assert render(before, added) == text


def test_an_empty_document_is_written_as_others_write_them():
    assert render({"a": {"b": [1]}}, "{}\n") == '{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}\n'
    assert render({"a": 1}, None) == '{\n  "a": 1\n}\n'


# Words from a list: to draw characters takes longer than all the rest.
_WORDS = st.sampled_from(["", "a", 'b"', "}]", "\\", ",é\n"])
_VALUES = st.recursive(
    st.none() | st.integers(0, 3) | _WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_WORDS, inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(_VALUES, _VALUES, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_any_text_can_be_made_to_say_anything(before, after, indent, ascii_only):
    text = json.dumps(before, indent=indent, ensure_ascii=ascii_only)
    assert json.loads(edited(text, before, after, "  ")) == after


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('{"a": 1e400}', "1e400"),
        ('{"a": -1e400}', "-1e400"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "-Infinity"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', '"c" appears twice'),
        ('{"a": "\\ud800"}', "surrogate"),
        ('{"\\udfff": 1}', "surrogate"),
        ('{"a": ' + "[" * 50_000 + "]" * 50_000 + "}", "deep"),
        ('{"a": ' + "[" * 100 + "]" * 100 + "}", "deep"),
        ('{"a": ' + "1" * 5_000 + "}", "not plain JSON"),
    ],
    ids=range(10),
)
def test_what_would_not_survive_being_written_again_is_refused(text, cause):
    with pytest.raises(NotEditable, match=cause):
        parse(text)


@pytest.mark.parametrize("text", [None, "", " \n"])
def test_nothing_is_an_empty_document(text):
    assert parse(text) == {}
