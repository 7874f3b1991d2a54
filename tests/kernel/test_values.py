"""Values as text: names that are safe in a path, times, digests, JSON and YAML."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import msgspec
import pytest

from loopwright.kernel import clock, codec, digest, ids

EVENING = datetime(2026, 11, 16, 23, 59, 58, 700_000, tzinfo=timezone(timedelta(hours=-2)))


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("plan-1.a_B", "plan-1.a_B"),
        ("X", "X"),
        ("two words", "two-words"),
        ("a / b", "a-b"),
        ("../../etc", "etc"),
        (".hidden.", "hidden"),
        ("-option-", "option"),
        ("é", "unnamed"),
        ("", "unnamed"),
        ("...", "unnamed"),
        ("a" * 65, "a" * 64),
        ("a" * 63 + ".b", "a" * 63),
        ("a" * 63 + "X.b", "a" * 63 + "X"),
    ],
)
def test_any_text_becomes_a_name_that_is_safe_in_a_path(text, safe):
    assert ids.sanitised(text) == safe
    assert ids.is_identifier(safe)


@pytest.mark.parametrize("text", ["", ".", "..", "a/b", "a b", "é", "a\n", "a" * 65])
def test_a_text_that_is_not_safe_in_a_path_is_no_identifier(text):
    assert not ids.is_identifier(text)


@pytest.fixture
def tokyo(monkeypatch):
    """A machine whose clock shows the time of Tokyo."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "JST-9")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("tokyo")
def test_times_are_written_in_utc_with_whole_seconds():
    assert clock.stamp(EVENING) == "2026-11-17T01:59:58Z"
    assert clock.compact_stamp(EVENING) == "20261117T015958Z"
    assert clock.utc_now().tzinfo is UTC
    assert re.fullmatch(r"run-20261117T015958Z-[0-9a-f]{6}", ids.new_run_id(EVENING))


def test_equal_data_has_equal_canonical_bytes(tmp_path):
    assert digest.canonical({"b": [1, None], "a": "é\ud800"}) == b'{"a":"\xc3\xa9\xed\xa0\x80","b":[1,null]}'
    assert digest.digest_of({"b": 1, "a": 2}) == digest.digest_of({"a": 2, "b": 1}) == digest.sha256(b'{"a":2,"b":1}')
    with pytest.raises(ValueError, match="JSON"):
        digest.canonical(float("nan"))
    (tmp_path / "file").write_bytes(b"content")
    assert digest.sha256_of_file(tmp_path / "file") == digest.sha256(b"content")


class Point(msgspec.Struct):
    x: int
    place: Path | None = None


def test_a_record_is_written_and_read_with_its_hooks():
    point = Point(1, Path("/a"))
    assert codec.to_json_line(point, str) == b'{"x":1,"place":"/a"}\n'
    assert codec.to_json(point, str) == b'{\n  "x": 1,\n  "place": "/a"\n}\n'
    assert codec.to_builtins(point, str) == {"x": 1, "place": "/a"}
    assert codec.from_json(b'{"x": 1, "place": "/a"}', Point, lambda kind, value: Path(value)) == point


def test_a_file_that_holds_no_record_has_none(tmp_path):
    file = tmp_path / "file"
    assert codec.read_json(file, Point) is None
    file.write_bytes(b'{"x": "1"}')
    assert codec.read_json(file, Point) is None
    file.write_bytes(b'{"x": 1}')
    assert codec.read_json(file, Point) == Point(1)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b'{"x": "1"}', r"Expected `int`, got `str` - at `\$.x`"),
        (b"{", "truncated"),
        (b'{"x": 1, "place": "\xff"}', "utf-8"),
        (b"[" * 100_000, "recursion"),
    ],
)
def test_a_text_that_is_no_record_is_undecodable(data, problem):
    with pytest.raises(codec.Undecodable, match=f"(?i){problem}"):
        codec.from_json(data, Point if b"x" in data else object)


def test_yaml_keeps_the_order_the_lines_and_the_characters():
    shared = ["é 日本"]
    record = {"b": shared, "a": shared, "text": "one\ntwo\n", "long": "a " * 120 + "end"}
    written = codec.to_yaml(record).decode()
    assert written.startswith("b:\n- é 日本\na:\n- é 日本\ntext: |\n  one\n  two\nlong: a a ")
    assert max(map(len, written.splitlines())) == 101, "PyYAML breaks a line behind column 100"
    assert codec.to_yaml({"a": {"b": [Path("/c")]}}, str) == b"a:\n  b:\n  - /c\n"
    assert codec.to_yaml({"a\ud800": "\udcff\n"}) == b'"a\\uD800": "\\uDCFF\\n"\n'
    assert codec.to_yaml({"a": "\udcff"}) == b'a: "\\uDCFF"\n'


@pytest.mark.parametrize(
    ("data", "fields"),
    [
        (b'{"a": [1]}', {"a": [1]}),
        ("{}", {}),
        (b"[1]", None),
        (b'{"a":', None),
        (b'{"a": "\xff"}', None),
        (b"", None),
        (b'{"a":' * 100_000, None),
    ],
)
def test_untrusted_json_is_an_object_or_nothing(data, fields):
    assert codec.json_object(data) == fields
