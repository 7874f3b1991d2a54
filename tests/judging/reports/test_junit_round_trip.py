"""A random report, written by a writer that shares nothing with the reader, is read back equal."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from loopwright.judging.reports.junit import read_junit
from loopwright.judging.reports.model import TestResult

# Characters that XML allows and `strip` keeps at the ends; without colours, which the reader removes.
LETTERS = st.characters(
    exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp"), exclude_characters="\ufffe\uffff␛#", include_characters="<>&\"']"
)
WORDS = st.text(LETTERS, min_size=1, max_size=12)
TEXTS = st.lists(WORDS, min_size=1, max_size=4).map("\n".join)


@st.composite
def a_result(draw):
    status = draw(st.sampled_from(["passed", "failed", "skipped"]))
    name, suite = draw(WORDS), draw(WORDS)
    return TestResult(
        test_name=name,
        suite=f"suite.{suite}.of",
        status=status,
        duration_ms=draw(st.integers(0, 10_000_000)),
        error_message="" if status == "passed" else draw(TEXTS),
        stack_trace="" if status == "passed" else draw(TEXTS),
    )


class Writer:
    """Writes one result in one of its many valid forms."""

    def __init__(self, draw):
        self.draw = draw

    def attribute(self, key, value):
        quote = self.draw(st.sampled_from("\"'"))
        value = value.replace("&", "&amp;").replace("<", "&lt;").replace("\n", "&#10;")
        value = value.replace('"', "&quot;") if quote == '"' else value.replace("'", "&#x27;")
        return f"{key}={quote}{value}{quote}"

    def text(self, value):
        if self.draw(st.booleans()) and "]]>" not in value:
            return f"<![CDATA[{value}]]>"
        return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    def time(self, milliseconds):
        whole, part = divmod(milliseconds, 1000)
        forms = [f"{whole}.{part:03}", f"{whole:,}.{part:03}", f"{whole},{part:03}", f"{milliseconds / 1000!r}"]
        return self.draw(st.sampled_from(forms))

    def case(self, result):
        attributes = self.draw(
            st.permutations(
                [
                    self.attribute("name", result.test_name),
                    self.attribute("classname", result.suite),
                    self.attribute("time", self.time(result.duration_ms)),
                    'file="x"',
                ]
            )
        )
        kinds = {"failed": ["failure", "error"], "skipped": ["skipped"]}.get(result.status)
        inner = "<properties><property name='a' value='b'/></properties>" if self.draw(st.booleans()) else ""
        if kinds:
            kind = self.draw(st.sampled_from(kinds))
            message = self.attribute("message", result.error_message)
            inner += f"<{kind} {message}>{self.text(result.stack_trace)}</{kind}>"
        inner += f"<system-out>{self.text('out')}</system-out>" if self.draw(st.booleans()) else ""
        return f"<testcase {' '.join(attributes)}>{inner}</testcase>"

    def suites(self, results, depth=0):
        if not results or depth > 3 or self.draw(st.booleans()):
            return "".join(map(self.case, results))
        at = self.draw(st.integers(0, len(results)))
        first, second = (self.suites(part, depth + 1) for part in (results[:at], results[at:]))
        return f"<testsuite name='s{depth}'>{first}</testsuite>\n{second}"


@settings(max_examples=200, deadline=None)
@given(st.lists(a_result(), max_size=6), st.data())
def test_a_written_report_is_read_back(results, data):
    root = data.draw(st.sampled_from(["testsuite", "testsuites"]))
    body = Writer(data.draw).suites(results)
    encoding = data.draw(st.sampled_from(["utf-8", "utf-16", "gb18030"]))
    raw = f'<?xml version="1.0" encoding="{encoding}"?>\n<{root}>{body}</{root}>'.encode(encoding)
    size = data.draw(st.integers(1, len(raw)))
    report = read_junit([raw[at : at + size] for at in range(0, len(raw), size)])
    assert report.results == tuple(results)
    assert not report.gaps
