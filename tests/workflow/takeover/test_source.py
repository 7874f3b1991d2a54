"""Another tool's folder with any content: no link is followed, and unreadable files are named once."""

from __future__ import annotations

import json
import os

import pytest

from loopwright.workflow.takeover.source import Fields, Source


@pytest.fixture
def source(tmp_path):
    (tmp_path / "top").mkdir()
    return Source(tmp_path / "top")


def told(source):
    return [(one.path, one.line, one.message) for one in source.troubles]


def test_a_link_is_named_and_never_followed(source, tmp_path):
    (tmp_path / "secret.md").write_text("outside")
    (source.top / "inside.md").write_text("x")
    (source.top / "out.md").symlink_to(tmp_path / "secret.md")
    (source.top / "in.md").symlink_to("inside.md")
    (source.top / "folder").symlink_to(tmp_path)
    (source.top / "loop").symlink_to(".")
    assert source.files() == ["inside.md"]
    assert source.folders() == []
    assert source.read("out.md") is None
    assert {path for path, _, _ in told(source)} == {"out.md", "in.md", "folder", "loop"}


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"a\nb\0c", 2, "NUL"),
        (b"a\n\n\xff\xfe", 3, "UTF-8"),
        (b"x" * ((4 << 20) + 1), 0, "larger than 4 MiB"),
    ],
)
def test_a_file_that_is_not_text_is_named_with_its_line(source, data, line, words):
    (source.top / "a.md").write_bytes(data)
    assert source.read("a.md") is None
    assert source.read("a.md") is None
    ((path, at, message),) = told(source)
    assert (path, at) == ("a.md", line)
    assert words in message


def test_a_picture_is_no_problem(source):
    (source.top / "shot.png").write_bytes(b"PNG\0\0")
    assert source.read("shot.png") is None
    assert source.troubles == []
    assert [one.path for one in source.others] == ["shot.png"]


def test_a_fifo_does_not_block(source):
    os.mkfifo(source.top / "pipe.md")
    assert source.read("pipe.md") is None
    assert told(source)[0][0] == "pipe.md"


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"", 1, "JSON"),
        (b'{\n "a": 1,\n}', 3, "not JSON"),
        (b"[1]", 1, "not a JSON object"),
        (b"[" * 100_000, 1, "JSON"),
    ],
)
def test_damaged_json_is_named_with_its_line(source, data, line, words):
    (source.top / "a.json").write_bytes(data)
    assert source.fields("a.json") is None
    ((_, at, message),) = told(source)
    assert at == line
    assert words in message


def test_a_byte_order_mark_and_windows_line_ends_are_read(source):
    (source.top / "a.json").write_bytes(b'\xef\xbb\xbf{\r\n"a": "b"\r\n}\r\n')
    (source.top / "a.md").write_bytes(b"\xef\xbb\xbf# T\r\n\r\n## Why\r\n\r\nso\r\n")
    assert source.fields("a.json").text("a") == "b"
    assert source.page("a.md").text_of("Why") == "so"
    assert source.troubles == []


def test_names_of_any_length_and_bytes_are_handled(source):
    name = "x" * 250
    (source.top / name).write_text("a")
    (source.top / "new\nline.md").write_text("a")
    (source.top / os.fsdecode(b"\xff.md")).write_text("a")
    assert source.files() == [name]
    assert [message for _, _, message in told(source)] == ["has a name that is not text; it is not imported"] * 2


def test_a_tree_that_is_too_deep_is_abandoned(source):
    deep = source.top
    for _ in range(14):
        deep = deep / "d"
        deep.mkdir()
    (deep / "a.md").write_text("a")
    assert source.files() == []
    assert "too deep" in told(source)[0][2]


def test_fields_of_an_unexpected_type_count_as_empty():
    found = Fields({"a": 1, "b": ["x", 2, {"title": "y"}, ""], "c": {"k": "v", "n": 1}, "d": None, "e": " ", "f": True})
    assert found.text("d", "e", "a") == "1"
    assert found.texts("b") == ("x", "y")
    assert found.texts("c") == ("k: v",)
    assert found.texts("a", "d") == ()
    assert found.inner("a").text("x") == ""
    assert found.claims("a", "c", "d", "f") == {"a": "1", "c.k": "v", "c.n": "1", "f": "true"}
    assert Fields([1]).text("a") == ""


def test_half_a_character_becomes_text_that_can_be_written():
    found = Fields(json.loads('{"a": "x\\ud800"}'))
    assert found.text("a").encode() == b"x\\ud800"
