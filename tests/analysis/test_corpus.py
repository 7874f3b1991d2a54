from __future__ import annotations

import hashlib
import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.analysis.corpus import read_corpus, without_duplicates
from loopwright.analysis.input_files import LONGEST_LINE, InputFile, MalformedParts
from loopwright.analysis.preregistered import SURFACE_WEIGHTS, Series
from loopwright.errors import InputInvalid
from loopwright.reflection.model import SurfaceName


@pytest.fixture
def corpus(tmp_path):
    def read(data):
        path = tmp_path / "corpus.jsonl"
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return read_corpus(InputFile(path))

    return read


def test_lines_with_all_that_may_be_known(corpus):
    found = corpus(
        '{"confidence": 0.9, "correct": true}\n'
        '{"confidence": 1, "correct": 0, "point": "before", "task_ref": "T-1", "churn": 12, "surface": "auth"}\n'
        '{"confidence": 0, "correct": 1, "series": "adversarial", "task_ref": 7, "session_id": "s", "model": "m"}\n'
    )
    first, second, third = found.judged
    assert (first.series, first.confidence, first.right, first.identity) == (Series.REPORTED, 0.9, True, ())
    assert (second.series, second.right, second.churn, second.surface_weight) == (Series.BEFORE, False, 12, 1.0)
    assert (third.series, third.identity) == (Series.ADVERSARIAL, ("7", "s"))
    assert found.ignored_fields == ("model",)
    assert found.malformed.count == 0


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "[]",
        "0.5",
        "{}",
        '{"confidence": 0.5}',
        '{"correct": true}',
        '{"confidence": "0.5", "correct": true}',
        '{"confidence": true, "correct": true}',
        '{"confidence": null, "correct": true}',
        '{"confidence": NaN, "correct": true}',
        '{"confidence": Infinity, "correct": true}',
        '{"confidence": 1e999, "correct": true}',
        '{"confidence": 1.0001, "correct": true}',
        '{"confidence": -0.1, "correct": true}',
        '{"confidence": 0.5, "correct": 2}',
        '{"confidence": 0.5, "correct": "yes"}',
        '{"confidence": 0.5, "correct": true, "point": "during"}',
        '{"confidence": 0.5, "correct": true, "point": "after", "series": "before"}',
        '{"confidence": 0.5, "correct": true, "churn": -1}',
        '{"confidence": 0.5, "correct": true, "surface": "moon"}',
        '{"confidence": 0.5, "correct": true} trailing',
        '{"confidence": 0.5, "correct": true',
    ],
)
def test_a_malformed_line_is_counted_and_named_and_the_others_are_read(corpus, line):
    good = '{"confidence": 0.5, "correct": true}\n'
    found = corpus(good + line + "\n" + good)
    assert len(found.judged) == 2
    assert (found.malformed.count, found.malformed.where) == (1, "lines 2")
    assert found.malformed.reasons[0].startswith("line 2: ")


def test_a_byte_order_mark_windows_line_ends_blank_lines_and_no_last_newline(corpus):
    line = b'{"confidence": 0.5, "correct": true}'
    found = corpus(b"\xef\xbb\xbf" + line + b"\r\n\r\n   \n" + line)
    assert len(found.judged) == 2
    assert found.malformed.count == 0


def test_bytes_that_are_no_text_are_malformed(corpus):
    found = corpus(b'\xff\xfe\n{"confidence": 0.5, "correct": true, "task_ref": "\xff"}\n')
    assert found.malformed.where == "lines 1-2"


def test_a_line_without_end_is_not_held(corpus):
    good = b'{"confidence": 0.5, "correct": true}\n'
    data = good + b"x" * (3 * LONGEST_LINE + 5) + b"\n" + good
    found = corpus(data)
    assert len(found.judged) == 2
    assert found.malformed.reasons == ("line 2: it is longer than 1 MiB",)
    assert found.sha256 == hashlib.sha256(data).hexdigest()


def test_what_is_not_a_file_is_an_error_with_a_way_on(tmp_path):
    for path in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(InputInvalid) as raised:
            read_corpus(InputFile(path))
        assert raised.value.hint


def test_the_last_of_duplicates_counts_and_series_do_not_mix(corpus):
    lines = [
        {"confidence": 0.1, "correct": True, "task_ref": "T"},
        {"confidence": 0.2, "correct": True, "task_ref": "T", "point": "before"},
        {"confidence": 0.3, "correct": True, "task_ref": "T"},
        {"confidence": 0.4, "correct": True, "task_ref": "T", "session_id": "other"},
        {"confidence": 0.5, "correct": True},
        {"confidence": 0.6, "correct": True},
    ]
    judged, duplicates = without_duplicates(corpus("".join(json.dumps(line) + "\n" for line in lines)).judged)
    assert [one.confidence for one in judged] == [0.2, 0.3, 0.4, 0.5, 0.6]
    assert duplicates == 1


@given(st.lists(st.floats(0, 1), max_size=30))
def test_what_json_writes_is_what_is_read(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("corpus") / "c.jsonl"
    path.write_text("".join(json.dumps({"confidence": value, "correct": False}) + "\n" for value in values))
    assert [one.confidence for one in read_corpus(InputFile(path)).judged] == values


def test_the_surfaces_are_those_of_the_reflection_record():
    assert set(SURFACE_WEIGHTS) == set(get_args(SurfaceName))


def test_numbers_of_malformed_parts_are_joined_and_bounded():
    parts = MalformedParts()
    for number in (1, 2, 3, 7):
        parts.add(number, "x")
    assert parts.collected().where == "lines 1-3, 7"
    for number in range(100, 5000, 2):
        parts.add(number, "x")
    found = parts.collected()
    assert found.count == 4 + 2450
    assert found.where.endswith("and 1452 more ranges")
    assert len(found.reasons) == 20
