"""Coverage reports in three formats, in the shapes that real tools write, and files that are not coverage reports."""

from __future__ import annotations

import json
import tracemalloc
from itertools import chain, repeat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from loopwright.judging.reports import coverage
from loopwright.judging.reports import coverage as coverage_module
from loopwright.judging.reports.coverage import add_up, read_coverage
from loopwright.judging.reports.model import Coverage, ForeignReport, UnreadableReport


def read(text):
    """The figures of a report; `test_line_marks.py` reads its lines."""
    return replace(read_coverage([text.encode() if isinstance(text, str) else text]), lines=None)


def coverage_json(**totals):
    """As `coverage json` of coverage.py 7 writes it, with `--branch`."""
    whole = {
        "covered_lines": 17,
        "num_statements": 18,
        "percent_covered": 90.625,
        "percent_covered_display": "91",
        "missing_lines": 1,
        "excluded_lines": 0,
        "num_branches": 14,
        "covered_branches": 12,
    }
    files = {"m.py": {"executed_lines": [1, 2], "summary": whole, "missing_lines": [4]}}
    return json.dumps({"meta": {"format": 3, "version": "7.6.1"}, "files": files, "totals": {**whole, **totals}})


LCOV = """TN:
SF:/p/a.c
VER:f293
FN:1,4,f
FNDA:1,f
FNF:1
FNH:1
BRDA:2,0,jump to line 3,1
BRDA:2,0,1,-
BRF:2
BRH:1
DA:1,1,7e7c7608
DA:2,0
DA:3,12
LF:3
LH:2
end_of_record
# a comment
SF:b.c
DA:1,0
DA:2,5
end_of_record
"""

COBERTURA = """<?xml version="1.0" ?>
<!DOCTYPE coverage SYSTEM "http://cobertura.sourceforge.net/xml/coverage-04.dtd">
<coverage version="7" timestamp="1" {attributes} branch-rate="0.5" complexity="0">
<sources><source>/p</source></sources><packages><package name="." line-rate="0.9"><classes>
<class name="m.py" filename="m.py" line-rate="0.75"><methods><method name="f" signature=""><lines>
<line number="1" hits="1"/><line number="2" hits="0"/></lines></method></methods><lines>
<line number="1" hits="1"/><line number="2" hits="0" branch="true" condition-coverage="50% (1/2)"><conditions>
<condition number="0" type="jump" coverage="50%"/></conditions></line><line number="3" hits="7"/></lines></class>
<class name="m.py.inner" filename="m.py"><methods/><lines><line number="3" hits="0"/><line number="9" hits="0"/></lines>
</class></classes></package></packages></coverage>"""


def test_coverage_py_json_with_its_percentage_that_counts_branches():
    assert read(coverage_json()) == Coverage(90.62, 17, 18, "coverage.py")
    assert read(b"\xef\xbb\xbf\n " + coverage_json(percent_covered=99.9999).encode()).percent == 99.99


def test_lcov_by_its_sums_or_by_its_lines_if_it_has_no_sums():
    assert read(LCOV) == Coverage(60.0, 3, 5, "lcov")
    assert read(LCOV.replace("\n", "\r\n")) == Coverage(60.0, 3, 5, "lcov")
    assert read(LCOV.replace("LH:2\n", "")) == Coverage(60.0, 3, 5, "lcov")


def test_lcov_that_names_a_file_once_for_each_test_counts_its_lines_once():
    one = "TN:one\nSF:a\nDA:1,1\nDA:2,0\nLF:2\nLH:1\nend_of_record\n"
    two = "TN:two\nSF:a\nDA:2,3\nDA:3,0\nLF:2\nLH:1\nend_of_record\n"
    assert read(one + two) == Coverage(66.67, 2, 3, "lcov")
    without_lines = "SF:a\nLF:4\nLH:1\nend_of_record\nSF:a\nLF:4\nLH:3\nend_of_record\n"
    assert read(without_lines) == Coverage(75.0, 3, 4, "lcov")


def test_lcov_with_overflowed_counters():
    assert read("SF:a\nDA:1,-4\nDA:2,18446744073709551615\nDA:3,1e+06\nend_of_record") == Coverage(66.67, 2, 3, "lcov")


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('lines-valid="18" lines-covered="17" line-rate="0.9444"', Coverage(94.44, 17, 18, "cobertura")),
        ('lines-valid="1,800,000" lines-covered="17" line-rate="0,9"', Coverage(0.01, 17, 1800000, "cobertura")),
        # Without counts the lines of classes count once each; lines of methods don't count again.
        ('line-rate="0.5"', Coverage(50.0, 2, 4, "cobertura")),
        ('lines-valid="0" lines-covered="0" line-rate="NaN"', Coverage(50.0, 2, 4, "cobertura")),
    ],
)
def test_cobertura_in_its_shapes(attributes, expected):
    assert read(COBERTURA.replace("{attributes}", attributes)) == expected


@pytest.mark.parametrize(("rate", "percent"), [("0.8512", 85.12), ("0,8512", 85.12), ("1", 100), ("1.0E-5", 0.01)])
def test_cobertura_with_only_the_rate(rate, percent):
    assert read(f'<coverage line-rate="{rate}"><packages/></coverage>') == Coverage(percent, 0, 0, "cobertura")


def test_cobertura_in_another_encoding():
    text = '<?xml version="1.0" encoding="utf-16"?><coverage lines-valid="2" lines-covered="1"/>'
    for encoding in ("utf-8", "utf-16", "utf-16-be", "utf-8-sig"):
        assert read(text.encode(encoding)).percent == 50


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("{}", "missing required field `totals`"),
        ('{"totals": {"covered_lines": 1, "num_statements": 2}}', "percent_covered"),
        (coverage_json(percent_covered="91"), "Expected `float`"),
        (coverage_json(percent_covered=101), "not from 0 to 100"),
        (coverage_json(covered_lines=19), "19 of 18"),
        (coverage_json(covered_lines=-1), "-1 of 18"),
        (coverage_json(covered_lines=0, num_statements=0, percent_covered=100), "no line that could be covered"),
        (coverage_json()[:-20], "not the JSON of coverage.py"),
        ("[1]", "not the JSON of coverage.py"),
        ("{" + '"a":[' * 100_000, "not the JSON of coverage.py"),
        ("SF:a\nDA:1,1\n", "the last record does not end"),
        ("SF:a\nSF:b\n", "line 2: a record begins"),
        ("TN:\nend_of_record\n", "line 2: a record ends that never began"),
        ("SF:a\nDA:one,1\nend_of_record", "line 2: 'DA:one,1' is not a line of lcov"),
        ("DA:1,1\n", "line 1: 'DA:1,1'"),
        ("SF:a\nLF:3\nLH:4\nend_of_record", "4 of 3 lines"),
        ("SF:a\nLF:x\n", "no whole number"),
        ("SF:a\nhello\n", "line 2: 'hello' is not a line of lcov"),
        ("SF:a\nend_of_record\n", "no line that could be covered"),
        ("SF:a\nDA:99999999,1\nend_of_record\n", "no line 99999999"),
        ("TN:\n", "no line that could be covered"),
        ("<coverage/>", "no line that could be covered"),
        ('<coverage lines-valid="0" lines-covered="0" line-rate="1"/>', "no line that could be covered"),
        ('<coverage lines-valid="2" lines-covered="3"/>', "3 of 2 lines"),
        ('<coverage lines-valid="many" lines-covered="3"/>', "3 of many lines"),
        ('<coverage line-rate="85.3"/>', "line-rate is '85.3'"),
        ('<coverage line-rate="NaN"/>', "line-rate is 'NaN'"),
        ("<coverage><line hits='1'/></coverage>", "no number or no hits"),
        ('<coverage lines-valid="2" lines-covered="1"><packages>', "line 1: the report breaks off"),
        ('<coverage lines-valid="2" lines-covered="1"><a></b>', "mismatched tag"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><coverage/>", "document type of its own"),
    ],
)
def test_a_problem_is_named(text, said):
    with pytest.raises(UnreadableReport) as caught:
        read(text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<report name="jacoco"><counter type="LINE"/></report>', "<report>, not <coverage>"),
        ('<coverage generated="1" clover="3.2"><project/></coverage>', "Clover"),
        ('<coverage generated="1"><project name="p"/></coverage>', "Clover"),
        ("mode: set\na.go:1.1,2.2 1 1\n", "Go's"),
        ("all fine\n", "neither JSON"),
        (b"\x7fELF\x02\x01", "a program"),
    ],
)
def test_other_formats_are_named(text, said):
    with pytest.raises(ForeignReport, match=said):
        read(text)


def test_reports_of_several_packages_add_up_by_lines():
    parts = [Coverage(50.0, 1, 2, "lcov"), Coverage(100.0, 98, 98, "lcov")]
    assert replace(add_up(parts), lines=None) == Coverage(99.0, 99, 100, "lcov")
    assert add_up(parts[:1]) == parts[0]
    with pytest.raises(UnreadableReport, match="only a rate"):
        add_up([*parts, Coverage(85.0, 0, 0, "cobertura")])


def test_sizes_are_bounded(monkeypatch):
    monkeypatch.setattr(coverage_module, "MOST_JSON_BYTES", 1_000_000)
    with pytest.raises(UnreadableReport, match="more than 1,000,000 bytes"):
        read_coverage(chain([b'{"a":"'], repeat(b"x" * 10_000)))
    with pytest.raises(UnreadableReport, match="a line of more than"):
        read_coverage(chain([b"SF:"], repeat(b"x" * 10_000)))
    monkeypatch.setattr(coverage, "MOST_SOURCES", 100)
    with pytest.raises(UnreadableReport, match="more than 100 source files"):
        read_coverage(b"SF:%d\nend_of_record\n" % number for number in range(1_000_000))


def test_line_numbers_that_would_fill_the_memory_are_refused():
    records = (b"SF:%d\nDA:5000000,1\nend_of_record\n" % number for number in range(1_000_000))
    tracemalloc.start()
    try:
        with pytest.raises(UnreadableReport, match="more lines than can be kept"):
            read_coverage(records)
        assert tracemalloc.get_traced_memory()[1] < 400_000_000
    finally:
        tracemalloc.stop()


SAMPLES = [coverage_json(), LCOV, COBERTURA.replace("{attributes}", 'lines-valid="9" lines-covered="4"')]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_flipped_bits_and_cuts_raise_nothing_but_the_typed_error(data):
    raw = bytearray(data.draw(st.sampled_from(SAMPLES)).encode())
    for _ in range(data.draw(st.integers(0, 6))):
        raw[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    raw = raw[: data.draw(st.integers(0, len(raw)))]
    size = data.draw(st.integers(1, 64))
    try:
        coverage = read_coverage(bytes(raw[at : at + size]) for at in range(0, len(raw), size))
    except UnreadableReport:
        return
    assert 0 <= coverage.percent <= 100
    assert 0 <= coverage.covered <= coverage.total


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(
        st.text(st.characters(categories=("L", "N")), min_size=1, max_size=8),
        st.dictionaries(st.integers(1, 500), st.integers(0, 9), min_size=1, max_size=20),
        min_size=1,
        max_size=5,
    ),
    st.booleans(),
)
def test_a_written_lcov_or_cobertura_report_is_read_back(files, with_sums):
    total = sum(map(len, files.values()))
    covered = sum(hits > 0 for lines in files.values() for hits in lines.values())
    written, classes = "", ""
    for name, lines in files.items():
        ran = sum(hits > 0 for hits in lines.values())
        written += f"SF:{name}\n" + "".join(f"DA:{line},{hits}\n" for line, hits in lines.items())
        written += f"LF:{len(lines)}\nLH:{ran}\n" * with_sums + "end_of_record\n"
        each = "".join(f'<line number="{line}" hits="{hits}"/>' for line, hits in lines.items())
        classes += f'<class filename="{name}"><lines>{each}</lines></class>'
    sums = f'lines-valid="{total}" lines-covered="{covered}"' * with_sums
    for found in (read(written), read(f"<coverage {sums}><classes>{classes}</classes></coverage>")):
        assert (found.covered, found.total) == (covered, total)
        assert abs(found.percent - 100 * covered / total) <= 0.01
