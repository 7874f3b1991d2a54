"""YAML within limits."""

from __future__ import annotations

import pytest
import yaml

from loopwright.kernel import yaml_nodes
from loopwright.kernel.yaml_nodes import Mapping, Scalar, Sequence, YamlProblem, read_nodes

BOMB = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
)


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        (BOMB, "more than 200,000 values after expanding aliases", 6),
        ("- &a b\n" + "- *a\n" * 101, "more than 100 aliases", 102),
        ("a: &a [b, *a]", "alias *a is undefined, or its anchor contains the alias itself", 1),
        ("a: 1\nb: *c", "alias *c is undefined, or its anchor contains the alias itself", 2),
        ("-\n  " + "[" * 33 + "]" * 33, "nested deeper than 32 levels", 2),
        ("a: 1\nb: 2\na: 3", "duplicate key 'a' (first in line 1)", 3),
        ("{a: " * 33 + "b" + "}" * 33, "nested deeper than 32 levels", 1),
        ("a: 1\n? [a]\n: b", "a key must be plain text", 2),
        ("a: [", "expected", 1),
        ("a: 1\nb: [\n\n", "expected", 4),
        ("a: 1\nb: }\nc: 1", "expected", 2),
        ("a\n---\nb", "more than one document in the file", 2),
        ("", "the file is empty", 1),
        ("a: 1\nb: \xff\nc: 1".encode("latin-1"), "the file is not UTF-8", 2),
        ("a" * (4 << 20) + "b", "the file has 4,194,305 bytes; the limit is 4,194,304", 1),
        ("a: \x01", "control characters are not allowed", 1),
    ],
    ids=["a bomb", "many aliases", "in itself", "no anchor", "deep", "deep maps", "twice", "a list as key", "open",
         "open for lines", "never opened", "two documents", "empty", "no UTF-8", "large", "a control character"],
)  # fmt: skip
def test_what_is_not_acceptable_is_named_with_its_line(text, message, line):
    with pytest.raises(YamlProblem) as caught:
        read_nodes(text if isinstance(text, bytes) else text.encode())
    assert message in caught.value.message
    assert str(caught.value) == caught.value.message
    assert caught.value.line == line


@pytest.mark.parametrize(
    "text",
    ["- &a b\n" + "- *a\n" * 100, "[" * 33 + "]" * 33, "{a: " * 32 + "b" + "}" * 32, "a" * (4 << 20), "\ufeffa: 1"],
    ids=["aliases", "depth", "depth of maps", "bytes", "a byte order mark"],
)
def test_what_reaches_a_limit_is_read(text):
    assert read_nodes(text.encode()).line == 1


def test_values_are_counted(monkeypatch):
    monkeypatch.setattr(yaml_nodes, "_MOST_NODES", 3)
    assert read_nodes(b"[a, b]").line == 1
    for text in (b"[a, b, c]", b"[&a b, *a]\n"):
        monkeypatch.setattr(yaml_nodes, "_MOST_NODES", text.count(b",") + 1)
        with pytest.raises(YamlProblem, match="more than"):
            read_nodes(text)


def test_every_node_has_its_line_and_every_scalar_its_style():
    root = read_nodes(b"a:\n  - x\n  - 'y'\nb: {}\n")
    assert root == Mapping(
        (
            (Scalar("a", True, 1), Sequence((Scalar("x", True, 2), Scalar("y", False, 3)), 2)),
            (Scalar("b", True, 4), Mapping((), 4)),
        ),
        1,
    )


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
