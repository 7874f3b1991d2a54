"""YAML within limits."""

from __future__ import annotations

import pytest
import yaml

from loopwright.kernel import yaml_nodes
from loopwright.kernel.yaml_nodes import Mapping, Scalar, YamlProblem, read_nodes

BOMB = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BOMB, "aliases"),
        ("a: &a [b, *a]", "is undefined"),
        ("[" * 100 + "]" * 100, "nested deeper"),
        ("a: 1\nb: 2\na: 3", "duplicate"),
        ("? [a]\n: b", "plain text"),
        ("a: [", "expected"),
        ("a\n---\nb", "more than one document"),
        ("", "empty"),
        ("a: *b", "is undefined"),
    ],
)
def test_what_is_not_acceptable_is_named_with_a_line(text, said):
    with pytest.raises(YamlProblem) as caught:
        read_nodes(text.encode())
    assert said in caught.value.message
    assert caught.value.line >= 1


def test_an_alias_that_stays_within_limits_works():
    root = read_nodes(b"a: &x {k: v}\nb: *x\n")
    assert isinstance(root, Mapping)
    assert root.entries[0][1] == root.entries[1][1]


def test_scalars_stay_what_was_written():
    root = read_nodes(b"[no, 1.10, 0777, 2026-01-01, 'null', ~]")
    assert [item.text for item in root.items] == ["no", "1.10", "0777", "2026-01-01", "null", "~"]
    assert [item.is_null for item in root.items] == [False, False, False, False, False, True]
    assert isinstance(root.items[0], Scalar)


@pytest.mark.parametrize("text", ["[", "a: 'never closed", "a: 1\nb: {"])
def test_what_is_never_closed_is_reported_in_a_line_of_the_file(text):
    with pytest.raises(YamlProblem) as caught:
        read_nodes(text.encode())
    assert caught.value.line <= text.count("\n") + 1


def test_files_are_read_by_libyaml_where_pyyaml_has_it():
    """Python's own parser is ten times slower, and `status` reads thirty files."""
    assert yaml_nodes._Parser is (yaml.CBaseLoader if yaml.__with_libyaml__ else yaml.BaseLoader)
