"""Reports that are cut off, oddly encoded, invalid XML, or malicious."""

from __future__ import annotations

import itertools
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopwright.judging.reports import safe_xml
from loopwright.judging.reports.junit import LONGEST_MESSAGE, LONGEST_NAME, LONGEST_TRACE, ReportSpace, read_junit
from loopwright.judging.reports.model import UnreadableReport

WHOLE = (
    '<?xml version="1.0"?>\n<testsuites><testsuite name="S">\n<testcase name="a" classname="C"/>\n'
    '<testcase name="b" classname="C"><failure message="no">trace of b</failure></testcase>\n'
    '<testcase name="c" classname="C"><skipped/></testcase>\n</testsuite></testsuites>\n'
)


def read(text, **more):
    return read_junit([text.encode() if isinstance(text, str) else text], **more)


def statuses(report):
    return {result.test_name: result.status for result in report.results}


# Reports that are cut off.


def test_results_before_a_cut_are_kept_and_the_cut_is_reported():
    report = read(WHOLE[: WHOLE.index('<testcase name="c"')])
    assert statuses(report) == {"a": "passed", "b": "failed"}
    assert report.gaps == ("the report breaks off in line 5: its writer was stopped, or had no space left",)
    assert report.gaps


def test_an_incomplete_failure_counts_and_an_incomplete_test_does_not():
    cut = read(WHOLE[: WHOLE.index(" of b")])
    assert statuses(cut) == {"a": "passed", "b": "failed"}
    assert cut.results[1].stack_trace == "trace"
    assert statuses(read('<testsuite><testcase name="a"/><testcase name="b"><system-out>so far')) == {"a": "passed"}


def test_no_cut_makes_a_report_look_complete():
    end = WHOLE.rindex(">")
    for at in range(WHOLE.index("<testsuite "), end + 1):
        assert read(WHOLE[:at]).gaps, WHOLE[:at]


def test_results_before_malformed_xml_are_kept():
    report = read(WHOLE.replace("trace of b", "a < b & c"))
    assert statuses(report) == {"a": "passed", "b": "failed"}
    assert report.gaps == ("line 4 is not XML (not well-formed (invalid token)): what follows was not read",)


def test_text_after_the_end_is_a_gap_since_it_may_contain_a_second_report():
    assert read(WHOLE + WHOLE).gaps != ()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "the file is empty"),
        (b" \n\t\n", "the file is empty"),
        (b"\xef\xbb\xbf", "the file is empty"),
        (b"<?xml version='1.0'?>", "not XML: no element found"),
        (b"ok 1 - a test\n", "not XML: syntax error"),
        (b"<testsu", "not XML: unclosed token"),
        (b"\x89PNG\r\n\x1a\n\0\0", "not XML"),
        (b"<?xml version='1.0' encoding='klingon'?><testsuite/>", "the encoding 'klingon' is not known"),
        (b"<?xml version='1.0' encoding='rot13'?><testsuite/>", "not an encoding of text files"),
        (b"<?xml version='1.0' encoding='unicode_escape'?><testsuite/>", "not an encoding of text files"),
        (b"<?xml version='1.0' encoding='idna'?><testsuite/>", "not an encoding of text files"),
    ],
)
def test_a_file_that_is_not_a_report_is_a_typed_error(data, said):
    with pytest.raises(UnreadableReport, match="^.*" + said.replace("(", r"\(")):
        read(data)


# Encodings and characters.


@pytest.mark.parametrize(
    ("encoding", "word"),
    [
        ("utf-8", "größe ☃"),
        ("utf-8-sig", "größe ☃"),
        ("utf-16", "größe ☃"),
        ("utf-16-le", "größe ☃"),
        ("utf-16-be", "größe ☃"),
        ("utf-32", "größe ☃"),
        ("iso-8859-1", "größe"),
        ("iso-8859-15", "gr€ße"),
        ("windows-1252", "gr“ße"),
        ("koi8-r", "размер"),
        ("shift_jis", "大きさ"),
        ("gb18030", "大小 ☃"),
        ("euc-kr", "크기"),
        ("big5", "大小"),
        ("iso-2022-jp", "大きさ"),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_every_encoding_that_a_prolog_can_declare(encoding, word, size):
    declared = encoding.removesuffix("-sig").removesuffix("-le").removesuffix("-be")
    text = f'<?xml version="1.0" encoding="{declared}"?><testsuite><testcase name="{word}"/></testsuite>'
    data = text.encode(encoding)
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    assert statuses(read_junit(chunks)) == {word: "passed"}


def test_a_utf_8_file_that_declares_utf_16_as_from_dotnet():
    assert statuses(read('<?xml version="1.0" encoding="utf-16"?><testsuite><testcase name="ü"/></testsuite>')) == {
        "ü": "passed"
    }


def test_invalid_bytes_lose_a_character_and_not_the_report():
    assert statuses(read(b'<testsuite><testcase name="gr\xf6\xdfe"/></testsuite>')) == {"gr��e": "passed"}


def test_empty_lines_before_the_prolog():
    assert statuses(read("\n\n  " + WHOLE)) == {"a": "passed", "b": "failed", "c": "skipped"}


@pytest.mark.parametrize("size", [1, 3, 10_000])
def test_control_characters_are_shown_and_colours_are_removed(size):
    data = (
        b'<testsuite><testcase name="a"><failure message="\x1b[31mred\x1b[0m &#27;[1mbold&#x1B;[0m #x1B[32mgreen#x1B[0m'
        b' \x00 &#0; &#x08; \x0b &#xD800; &#xFFFF; &#99999999; &#x41; &#8364;">\x1b]0;x\x07 \xef\xbf\xbe &lt;b&gt;'
        b"</failure></testcase></testsuite>"
    )
    report = read_junit([data[at : at + size] for at in range(0, len(data), size)])
    assert not report.gaps
    assert report.results[0].error_message == "red bold green ␀ ␀ ␈ ␋ � � � A €"
    assert report.results[0].stack_trace == "␛]0;x␇ � <b>"


# Sizes.


def test_long_texts_are_cut_in_the_middle_with_a_note():
    message, trace, name = "m" * 50_000, "t" * 300_000 + "the end", "n" * 5_000
    failure = f'<failure message="{message}">begin {trace}</failure>'
    (result,) = read(f'<testsuite><testcase name="{name}">{failure}</testcase></testsuite>').results
    assert len(result.error_message) <= LONGEST_MESSAGE
    assert f"{50_000 - result.error_message.count('m'):,} characters left out" in result.error_message
    assert result.stack_trace.startswith("begin ttt")
    assert result.stack_trace.endswith("the end")
    assert len(result.stack_trace) <= LONGEST_TRACE
    assert len(result.test_name) <= LONGEST_NAME


def test_too_many_tests_are_a_gap_and_too_much_text_is_left_out_with_a_note():
    cases = '<testcase name="x"><failure message="short">' + "t" * 1000 + "</failure></testcase>"
    report = read(f"<testsuite>{cases * 5}</testsuite>", room=ReportSpace(results=4, text=2_500))
    assert [len(result.stack_trace) for result in report.results][:2] == [1000, 1000]
    assert report.results[3].stack_trace == "[left out: the report holds too much text]"
    assert report.results[3].error_message == "short"
    assert report.gaps == ("tests left out: 1; there are too many to keep",)


def test_a_report_of_a_hundred_megabytes_needs_little_memory():
    line = b"2026-01-01 a line of a log that a test wrote, with &lt;angle&gt; brackets\n" * 1000
    case = b'<testcase name="t" classname="C" time="1"><system-out>' + line * 10 + b"</system-out></testcase>"
    body = itertools.repeat(case, 100_000_000 // len(case))
    tracemalloc.start()
    try:
        report = read_junit(itertools.chain([b"<testsuite>"], body, [b"</testsuite>"]))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(report.results) == 100_000_000 // len(case)
    assert not report.gaps
    assert peak < 8_000_000


# Attacks.

LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE t [<!ENTITY a0 "ha">'
    + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    + "]><testsuite><testcase name='&a11;'/></testsuite>"
)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (LAUGHS, "declares a document type of its own"),
        (
            "<!DOCTYPE t [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><testsuite>&x;</testsuite>",
            "document type of its own",
        ),
        ("<!DOCTYPE t [<!ENTITY % p SYSTEM 'file:///etc/passwd'> %p;]><testsuite/>", "document type of its own"),
        ("<!DOCTYPE t [<!ATTLIST testcase status CDATA 'fail'>]><testsuite/>", "document type of its own"),
        ("<testsuite>" * 200, "nested deeper than 100"),
        ("<testsuite><testcase>" * 200, "nested deeper than 100"),
    ],
)
def test_a_malicious_report_is_refused_at_once(data, said):
    with pytest.raises(UnreadableReport, match=said):
        read(data)


def test_an_external_document_type_is_named_and_never_fetched(tmp_path):
    secret = tmp_path / "secret.dtd"
    secret.write_text('<!ENTITY x "stolen">')
    report = read(f'<!DOCTYPE t SYSTEM "file://{secret}"><testsuite><testcase name="a&x;b"/></testsuite>')
    assert statuses(report) == {"ab": "passed"}


@pytest.mark.parametrize("start", ['<testsuite><testcase name="', "<testsuite><!-- ", "<testsuite><?x ", "<"])
def test_a_token_without_an_end_is_refused_before_it_fills_the_memory(start):
    read_so_far = 0

    def endless():
        nonlocal read_so_far
        yield start.encode()
        while True:
            read_so_far += 65_536
            yield b"x" * 65_536

    with pytest.raises(UnreadableReport, match="a tag or a comment of more than"):
        read_junit(endless())
    assert read_so_far < 4 * safe_xml.LONGEST_TOKEN


def test_a_flood_of_names_is_refused():
    with pytest.raises(UnreadableReport, match="different names"):
        read_junit(itertools.chain([b"<testsuite>"], (b"<a%d/>" % n for n in itertools.count())))


def test_an_endless_file_is_refused(monkeypatch):
    monkeypatch.setattr(safe_xml, "MOST_BYTES", 500_000)
    with pytest.raises(UnreadableReport, match="more than 500,000 bytes"):
        read_junit(itertools.chain([b"<testsuite>"], itertools.repeat(b"<testcase name='a'/>" * 1000)))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_flipped_bits_and_cuts_raise_nothing_but_the_typed_error(data):
    encoding = data.draw(st.sampled_from(["utf-8", "utf-16", "utf-8-sig"]))
    raw = bytearray(WHOLE.encode(encoding))
    for _ in range(data.draw(st.integers(0, 6))):
        raw[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    raw = raw[: data.draw(st.integers(0, len(raw)))]
    size = data.draw(st.integers(1, 64))
    try:
        report = read_junit([bytes(raw[at : at + size]) for at in range(0, len(raw), size)])
    except UnreadableReport:
        return
    assert len(report.results) <= 3


NAMES = ("testsuites", "testsuite", "testcase", "failure", "skipped", "system-out", "flakyFailure", "stackTrace", "x")
WORDS = [f"<{name}>" for name in NAMES] + [f"</{name}>" for name in NAMES]
WORDS += ["<error/>", "text", "<![CDATA[", "]]>", "&lt;", "&#27;", "<!--", "-->"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=30))
def test_no_order_of_elements_breaks_the_reader(words):
    try:
        read("<testsuite>" + "".join(words))
    except UnreadableReport as problem:
        pytest.fail(str(problem))
