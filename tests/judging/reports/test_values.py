"""Percentages, numbers in human notation, and text in bounded space."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loopwright.judging.reports.model import TestReport, TestResult
from loopwright.judging.reports.numbers import parse_count, parse_decimal, percentage, rounded
from loopwright.judging.reports.read import merge
from loopwright.judging.reports.safe_xml import Excerpt, cut


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.5", 0.5),
        ("14,029.255", 14029.255),  # JUnit 5 and surefire, above a thousand seconds
        ("1,234,567.8", 1234567.8),
        ("0,03", 0.03),  # surefire with a French or German locale
        ("1,078", 1.078),
        ("1.234,5", 1234.5),
        ("1.234.567", 1234567),
        ("1\u202f234,5", 1234.5),
        ("1'234.5", 1234.5),
        ("1e-05", 0.00001),
        ("9.8E-4", 0.00098),
        (".25", 0.25),
        ("7.", 7),
        (" 3 ", 3),
        ("-1", -1),
        ("", None),
        ("NaN", None),
        ("inf", None),
        ("1e999", None),
        ("0x10", None),
        ("12 s", None),
        ("1" * 500, None),
        ("٣", None),
    ],
)
def test_numbers_in_human_notation_are_read(text, number):
    assert parse_decimal(text) == number


@pytest.mark.parametrize(
    ("text", "count"), [("12", 12), ("12.0", 12), ("1,234,567", 1234567), ("1.5", None), ("-1", None)]
)
def test_a_count_is_whole_and_not_negative(text, count):
    assert parse_count(text) == count


@given(st.text(max_size=60))
def test_no_text_crashes_the_number_reader(text):
    assert parse_decimal(text) is None or isinstance(parse_decimal(text), float)


def test_100_percent_means_all_and_0_percent_means_none():
    assert percentage(2, 3) == 66.67
    assert percentage(99_999, 100_000) == 99.99
    assert percentage(1, 1_000_000) == 0.01
    assert (percentage(5, 5), percentage(0, 5)) == (100, 0)
    assert rounded(90.625) == 90.62


def result(name, status="passed", suite="s"):
    return TestResult(name, suite, status)


def test_skipped_tests_do_not_count_in_the_pass_rate():
    report = TestReport((result("a"), result("b", "failed"), result("c", "skipped"), result("d")))
    assert report.pass_rate == 66.67
    assert report.failed_tests == ("b",)
    assert TestReport((result("c", "skipped"),)).pass_rate == 0
    assert TestReport(()).pass_rate == 0


def test_a_short_text_stays_unchanged_and_a_long_text_keeps_both_ends():
    assert cut("abc", 3) == "abc"
    assert cut("a" * 500 + "b" * 500, 60) == "aaaaaaaaa\n[… 982 characters left out …]\nbbbbbbbbb"
    assert cut(cut("a" * 1_000_000, 10_000), 10_000) == cut("a" * 1_000_000, 10_000), "a note is not cut out again"


@given(st.lists(st.text(max_size=60), max_size=30), st.integers(50, 120))
# Generated texts are rarely longer than the limit.
@example(["first ", "a" * 100, " last"], 60)
@example(["a" * 51], 50)
def test_an_excerpt_depends_only_on_the_text_and_not_on_its_pieces(pieces, limit):
    excerpt, text = Excerpt(limit), "".join(pieces)
    for piece in pieces:
        excerpt.add(piece)
    assert excerpt.text() == cut(text, limit)
    assert bool(excerpt) == bool(text)
    assert len(excerpt.text()) <= limit
    if len(text) > limit:
        first, note, last = excerpt.text().partition("[… ")[0][:-1], "left out", excerpt.text().rpartition("…]\n")[2]
        assert text.startswith(first)
        assert note in excerpt.text()
        assert text.endswith(last)


def test_the_same_test_in_two_files_counts_once_with_the_worse_result():
    first = TestReport((result("a"), result("b", "failed"), result("c", "skipped"), result("only first")))
    second = TestReport((result("a", "failed"), result("b"), result("c"), result("a", suite="other")), ("half of it",))
    merged = merge((first, second))
    assert [(one.suite, one.test_name, one.status) for one in merged.results] == [
        ("s", "a", "failed"),
        ("s", "b", "failed"),
        ("s", "c", "passed"),
        ("s", "only first", "passed"),
        ("other", "a", "passed"),
    ]
    assert merged.gaps == ("half of it",)


def test_a_repeated_name_in_one_file_is_two_tests_even_if_the_file_exists_twice():
    report = TestReport((result("p", "failed"), result("p"), result("p")))
    assert merge((report, report)) == report
