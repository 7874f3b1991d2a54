"""Reports that the code under test could have written: read, but never trusted."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from loopwright.judging.reports.find import FoundReports
from loopwright.judging.reports.junit import ReportSpace
from loopwright.judging.reports.read import read_test_reports
from loopwright.judging.runners import sessions
from loopwright.judging.runners.sessions import read_report

ROOT = Path("/srv/repo")
START = {"kind": "start", "runner": "pytest", "version": "9.2.0", "root": str(ROOT)}
END = {"kind": "end", "early": ""}


def passed(name, **changes):
    return {"kind": "test", "file": "tests/a.py", "group": "", "name": name, "status": "passed", **changes}


def write(folder, *lines, name="pytest-1.ndjson"):
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    (folder / name).write_text(text)


def read(folder, junit=()):
    own = read_report(folder, (ROOT, Path("/srv/project")))
    return read_test_reports(FoundReports(tuple(junit)), own) if junit else own


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        (passed("test_a"), "tests/a.py::test_a"),
        (passed("test_a[x]", group="Group"), "tests/a.py::Group::test_a[x]"),
        (passed("test_a[/srv/repo/data/b.txt]"), "tests/a.py::test_a[data/b.txt]"),
        (passed("test_a", file="/srv/repo/sub/../tests/a.py"), "tests/a.py::test_a"),
        (passed("test_a", file="/srv/project/tests/a.py"), "tests/a.py::test_a"),
        (passed("test_a", file="/elsewhere/a.py"), "/elsewhere/a.py::test_a"),
        (passed("test_a", file="../../etc/passwd"), "/etc/passwd::test_a"),
        (passed("", file="tests/a.py"), "tests/a.py"),
        (passed("test_a", file=""), "test_a"),
        (passed("", file=""), "(unnamed)"),
        (passed("a\nb\x1b[2J"), "tests/a.py::a␊b␛[2J"),
    ],
)
def test_a_test_has_one_name_wherever_the_project_is(tmp_path, test, expected):
    write(tmp_path, START, test, END)
    report = read(tmp_path)
    assert [result.id for result in report.results] == [expected]
    assert report.is_complete


def test_the_same_test_of_two_sessions_counts_once_with_the_worse_result(tmp_path):
    write(tmp_path, START, passed("test_a"), passed("test_b", status="skipped"), END)
    write(tmp_path, START, passed("test_a", status="failed"), passed("test_b"), END, name="pytest-2.ndjson")
    assert {result.test_name: result.status for result in read(tmp_path).results} == {
        "test_a": "failed", "test_b": "passed"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "gap"),
    [
        ((START, passed("test_a")), "pytest ended before its report was complete"),
        ((START, passed("test_a"), {"kind": "end", "early": "interrupted"}), "pytest ended early: interrupted"),
        ((START, passed("test_a"), END, passed("test_b")), "the report of pytest can't be read: line 4: a report has"),
        ((START, passed("test_a"), START), "the report of pytest can't be read: line 3: a report has one start line"),
        ((START, passed("test_a"), '{"kind": "te'), "the report of pytest can't be read: line 3: not a line"),
        ((START, passed("test_a"), passed("b", status="fine"), END), "the report of pytest can't be read: line 3: not"),
        ((START, passed("test_a"), "\udcff", END), "the report of pytest can't be read: line 3: not a line"),
        ((START, passed("test_a"), "x" * (sessions.LONGEST_LINE + 1)), "the report of pytest can't be read: a line of"),
    ],
    ids=["no end", "early", "after the end", "two starts", "cut", "status", "not UTF-8", "endless line"],
)
def test_a_report_that_is_not_complete_keeps_its_results_and_says_so(tmp_path, lines, gap):
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    (tmp_path / "pytest-1.ndjson").write_bytes(text.removesuffix("\n").encode("utf-8", "surrogateescape"))
    report = read(tmp_path)
    assert [result.test_name for result in report.results] == ["test_a"]
    (found,) = report.gaps
    assert found.startswith(gap)
    assert not report.is_complete


def test_only_a_start_line_makes_a_report(tmp_path):
    write(tmp_path, passed("test_a"), END)
    write(tmp_path, name="empty.ndjson")
    report = read(tmp_path)
    assert (report.results, report.runners) == ((), ())
    assert len(report.gaps) == 2


def test_links_pipes_and_folders_are_refused(tmp_path):
    secret = tmp_path / "outside.ndjson"
    reports = tmp_path / "reports"
    reports.mkdir()
    write(tmp_path, START, passed("test_secret"), END, name=secret.name)
    (reports / "link.ndjson").symlink_to(secret)
    os.mkfifo(reports / "pipe.ndjson")
    (reports / "folder.ndjson").mkdir()
    report = read(reports)
    assert report.results == ()
    assert report.gaps == (
        "the report of a test runner can't be read: can't be read: Is a directory",
        "the report of a test runner can't be read: can't be read: Too many levels of symbolic links",
        "the report of a test runner can't be read: not a file",
    )
    (tmp_path / "swapped").symlink_to(tmp_path)
    assert read(tmp_path / "swapped").results == ()
    assert read(tmp_path / "missing").results == ()


def test_too_many_results_files_and_bytes_are_gaps(tmp_path, monkeypatch):
    write(tmp_path, START, *(passed(f"test_{number}") for number in range(5)), END)
    monkeypatch.setattr(sessions, "ReportSpace", lambda: ReportSpace(results=3))
    assert read(tmp_path).gaps == ("tests left out: 2; there are too many to keep",)
    monkeypatch.setattr(sessions, "ReportSpace", lambda: ReportSpace(size=100))
    assert read(tmp_path).gaps == ("the report of a test runner can't be read: the reports are too large",)
    monkeypatch.setattr(sessions, "MOST_FILES", 0)
    assert read(tmp_path).gaps == ("more than 0 reports",)


@pytest.mark.parametrize(
    ("case", "counts"),
    [
        ('<testcase classname="tests.a.Group" name="test_a[x]"/>', 1),
        ('<testcase name="Group test_a[x]"/>', 1),
        ('<testcase name="tests/a.py > Group > test_a[x]"/>', 1),
        ('<testcase name="test_a[x]"><failure/></testcase>', 2),
        ('<testcase name="test_a[x]"/><testcase name="testOfAnotherRunner"/>', 3),
    ],
    ids=["pytest", "jest", "vitest", "another result", "another test"],
)
def test_a_junit_file_that_repeats_our_report_does_not_count_twice(tmp_path, case, counts):
    write(tmp_path, START, passed("test_a[x]", group="Group"), END)
    junit = tmp_path / "junit.xml"
    junit.write_text(f"<testsuites><testsuite>{case}</testsuite></testsuites>")
    report = read(tmp_path, [junit])
    assert (len(report.results), report.runners, report.gaps) == (counts, ("pytest 9.2.0",), ())


def test_the_fallback_s_junit_file_is_read_from_the_folder_of_reports(tmp_path):
    (tmp_path / "pytest.xml").write_text('<testsuites><testsuite><testcase name="test_a"/></testsuite></testsuites>')
    assert [result.test_name for result in read(tmp_path).results] == ["test_a"]
    (tmp_path / "pytest.xml").write_text("not XML")
    assert read(tmp_path).gaps == ("pytest.xml: not XML: syntax error",)


def test_the_changed_state_of_all_sessions_is_one_list_of_names(tmp_path):
    write(tmp_path, START, {"kind": "state", "changed": ["env:B", "env:A"]}, END)
    write(tmp_path, {**START, "runner": "jest"}, END, name="jest-2.ndjson")
    assert read(tmp_path).state == ("env:A", "env:B")
    many = [f"env:{number:04}\n{'x' * 200}" for number in range(300)]
    write(tmp_path, START, {"kind": "state", "changed": many}, END, name="pytest-3.ndjson")
    state = read(tmp_path).state
    assert len(state) == 302
    assert all(len(name) <= 120 and "\n" not in name for name in state)


def test_no_changed_state_is_left_out_silently(tmp_path):
    alike = [f"env:{'x' * 200}{number}" for number in range(2)]
    write(tmp_path, START, {"kind": "state", "changed": [*alike, "left-out"]}, END)
    assert [len(name) for name in read(tmp_path).state] == [118, 118, 8]
    for number in range(3):
        many = [f"env:{number}-{name:05}" for name in range(5_000)]
        write(tmp_path, START, {"kind": "state", "changed": many}, END, name=f"pytest-{number}.ndjson")
    state = read(tmp_path).state
    assert (len(state), state[-1]) == (10_001, "left-out")


def test_a_session_that_does_not_tell_its_state_hides_it_unless_its_runner_never_tells(tmp_path):
    write(tmp_path, {**START, "runner": "jest"}, passed("test_a"), END, name="jest-1.ndjson")
    assert read(tmp_path).state is None
    write(tmp_path, START, {"kind": "state", "changed": ["env:A"]}, END)
    write(tmp_path, START, passed("test_a"), END, name="pytest-2.ndjson")
    assert read(tmp_path).state == ("env:A", "unknown")


@pytest.mark.parametrize(("has_tests", "gaps"), [(True, 1), (False, 0)])
def test_a_process_that_reports_only_its_state_may_end_at_any_time(tmp_path, has_tests, gaps):
    write(tmp_path, {**START, "runner": "node", "has_tests": has_tests})
    report = read(tmp_path)
    assert (len(report.gaps), report.state) == (gaps, ("unknown",))
