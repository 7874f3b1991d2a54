"""Reports of this run are found, reports of an earlier run never count, and no outside file is read."""

from __future__ import annotations

import os
import shutil

import pytest
from msgspec.structs import replace

from loopwright.errors import SettingsInvalid, StorageFailed
from loopwright.judging.reports import find as find_module
from loopwright.judging.reports.find import find_coverage_reports, find_test_reports
from loopwright.judging.reports.model import Coverage, UnreadableReport
from loopwright.judging.reports.numbers import moment_before_run
from loopwright.judging.reports.read import read_coverage_reports, read_test_reports

JUNIT = '<testsuite name="S"><testcase name="{}" classname="C"/></testsuite>'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def put(folder, *names, text=None):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(JUNIT.format(name) if text is None else text)


def names(found, folder):
    return sorted(str(path.relative_to(folder)) for path in found.paths)


def test_usual_places(folder):
    moment = moment_before_run(folder)
    wanted = [
        "junit.xml",
        "report.xml",
        "test-results/a/b/c.xml",
        "target/surefire-reports/TEST-a.A.xml",
        "core/target/surefire-reports/TEST-a.B.xml",
        "app/build/test-results/test/TEST-a.C.xml",
        "target/nextest/ci/junit.xml",
    ]
    put(folder, *wanted, "src/data.xml", "pom.xml", "node_modules/x/junit.xml", "test-results/.hidden/x.xml")
    put(folder, "test-results/log.txt", "test-results/node_modules/m/x.xml")
    assert names(find_test_reports(folder, "", moment), folder) == sorted(wanted)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("out/a.xml", ["out/a.xml"]),
        ("./out//a.xml", ["out/a.xml"]),
        ("out/*.xml", ["out/a.xml", "out/b.xml"]),
        ("out/?.xml", ["out/a.xml", "out/b.xml"]),
        ("out/[a]*", ["out/a.xml"]),
        ("**/*.xml", ["out/a.xml", "out/b.xml", "out/deep/er/c.xml", "top.xml"]),
        ("**", ["out/a.xml", "out/b.xml", "out/deep/er/c.xml", "top.xml"]),
        ("out/**/**/c.xml", ["out/deep/er/c.xml"]),
        ("**/deep/**/*.xml", ["out/deep/er/c.xml"]),
        (".hidden/*.xml", [".hidden/d.xml"]),
        ("out", []),
        ("nothing/*.xml", []),
    ],
)
def test_a_configured_path_or_glob(folder, pattern, expected):
    moment = moment_before_run(folder)
    put(folder, "out/a.xml", "out/b.xml", "out/deep/er/c.xml", "top.xml", ".hidden/d.xml")
    assert names(find_test_reports(folder, pattern, moment), folder) == expected
    assert names(find_test_reports(folder, f"{folder}/{pattern}", moment), folder) == expected


@pytest.mark.parametrize("pattern", ["../x.xml", "a/../../x.xml", "/etc/*.xml", "/", ".", "a\0b"])
def test_a_pattern_that_leaves_the_folder_is_a_settings_error(folder, pattern):
    with pytest.raises(SettingsInvalid, match="not a place below"):
        find_test_reports(folder, pattern, 0)


# Old reports.


def test_a_report_from_just_before_the_start_is_stale_and_from_just_after_is_fresh(folder):
    """Repeated, since the clock of a file system is coarse: one correct result could be luck."""
    for number in range(20):
        put(folder, f"junit-old{number}.xml")
        moment = moment_before_run(folder)
        put(folder, f"junit-new{number}.xml")
        found = find_test_reports(folder, "", moment)
        assert names(found, folder) == [f"junit-new{number}.xml"]
        assert folder / f"junit-old{number}.xml" in found.stale


def test_an_old_report_that_was_dated_moved_copied_or_linked_stays_old(folder, tmp_path):
    put(tmp_path, "moved.xml", "copied.xml", "linked.xml")
    put(folder, "out/future.xml", "out/mode.xml")
    os.utime(folder / "out/future.xml", (4e9, 4e9))
    moment = moment_before_run(folder)
    (folder / "out/mode.xml").chmod(0o600)
    (tmp_path / "moved.xml").rename(folder / "out/moved.xml")
    shutil.copy2(tmp_path / "copied.xml", folder / "out/copied.xml")
    os.link(tmp_path / "linked.xml", folder / "out/linked.xml")
    found = find_test_reports(folder, "out/*.xml", moment)
    assert found.paths == ()
    assert [path.name for path in found.stale] == ["copied.xml", "future.xml", "linked.xml", "mode.xml", "moved.xml"]


def test_a_rewritten_old_report_is_fresh(folder):
    put(folder, "junit.xml")
    moment = moment_before_run(folder)
    put(folder, "junit.xml")
    assert names(find_test_reports(folder, "", moment), folder) == ["junit.xml"]


def test_taking_the_start_time_leaves_no_file_and_reports_a_failure(folder):
    first = moment_before_run(folder)
    assert moment_before_run(folder) > first
    assert list(folder.iterdir()) == []
    with pytest.raises(StorageFailed):
        moment_before_run(folder / "gone")


# Links and odd files.


def test_links_out_of_the_folder_are_never_followed(folder, tmp_path):
    moment = moment_before_run(folder)
    put(tmp_path, "outside/secret.xml")
    put(folder, "real/in.xml")
    (folder / "out.xml").symlink_to(tmp_path / "outside/secret.xml")
    (folder / "outside").symlink_to(tmp_path / "outside")
    (folder / "real" / "up").symlink_to("..")
    (folder / "loop").symlink_to("loop")
    (folder / "gone.xml").symlink_to("nowhere")
    for pattern in ("**/*.xml", "*.xml", "outside/*.xml", "outside/secret.xml", "out.xml", "*/secret.xml", "loop/*"):
        assert {path.name for path in find_test_reports(folder, pattern, moment).paths} <= {"in.xml"}, pattern


def test_links_inside_the_folder_count_as_their_file_once(folder):
    moment = moment_before_run(folder)
    put(folder, "real/in.xml")
    (folder / "real/again.xml").symlink_to("in.xml")
    (folder / "short").symlink_to("real")
    assert names(find_test_reports(folder, "real/*.xml", moment), folder) == ["real/in.xml"]
    assert names(find_test_reports(folder, "short/*.xml", moment), folder) == ["real/in.xml"]


def test_the_folder_itself_may_be_a_link(folder, tmp_path):
    moment = moment_before_run(folder)
    put(folder, "junit.xml")
    (tmp_path / "link").symlink_to(folder)
    assert [path.name for path in find_test_reports(tmp_path / "link", "", moment).paths] == ["junit.xml"]


def test_pipes_and_folders_are_not_reports(folder):
    moment = moment_before_run(folder)
    os.mkfifo(folder / "junit.xml")
    (folder / "report.xml").mkdir()
    found = find_test_reports(folder, "", moment)
    assert (found.paths, found.stale) == ((), ())


def test_the_search_is_bounded_and_reports_its_limit(folder, monkeypatch):
    moment = moment_before_run(folder)
    put(folder, *(f"out/{number}.xml" for number in range(30)))
    monkeypatch.setattr(find_module, "MOST_FILES", 10)
    found = find_test_reports(folder, "out/*.xml", moment)
    assert (len(found.paths), found.cut_short) == (10, True)
    assert "too many files to search" in read_test_reports(found).gaps[-1]
    monkeypatch.setattr(find_module, "MOST_STEPS", 5)
    assert find_test_reports(folder, "**/*.xml", moment).cut_short


# Reading what was found.


def test_one_file_per_class_as_from_surefire_with_damaged_empty_and_other_files(folder):
    moment = moment_before_run(folder)
    place = "target/surefire-reports"
    put(folder, f"{place}/TEST-A.xml", f"{place}/TEST-B.xml")
    put(folder, f"{place}/TEST-C.xml", text='<testsuite><testcase name="c"/><testca')
    put(folder, f"{place}/TEST-D.xml", text="")
    put(folder, f"{place}/summary.xml", text="<failsafe-summary/>")
    report = read_test_reports(find_test_reports(folder, "", moment))
    assert [one.test_name for one in report.results] == [f"{place}/TEST-A.xml", f"{place}/TEST-B.xml", "c"]
    assert report.gaps == (
        "TEST-C.xml: the report breaks off in line 1: its writer was stopped, or had no space left",
        "TEST-D.xml: the file is empty",
    )


def test_no_readable_report_is_an_error_with_a_reason(folder):
    put(folder, "junit.xml")
    moment = moment_before_run(folder)
    with pytest.raises(UnreadableReport, match=r"no report is from this run; junit\.xml is from an earlier run"):
        read_test_reports(find_test_reports(folder, "", moment))
    with pytest.raises(UnreadableReport, match=r"^there is no report$"):
        read_coverage_reports(find_coverage_reports(folder, "", moment))
    put(folder, "report.xml", text="<html/>")
    with pytest.raises(UnreadableReport, match=r"report\.xml: the outermost element is <html>"):
        read_test_reports(find_test_reports(folder, "", moment))


def test_a_file_that_is_replaced_after_the_search_is_not_followed_and_does_not_block(folder):
    moment = moment_before_run(folder)
    put(folder, "junit.xml", "report.xml", "test-report.xml")
    found = find_test_reports(folder, "", moment)
    for path in found.paths:
        path.unlink()
    (folder / "junit.xml").symlink_to("/etc/hostname")
    os.mkfifo(folder / "report.xml")
    for path in found.paths:
        with pytest.raises(UnreadableReport, match=r"can't be read|not a file"):
            read_test_reports(find_module.FoundReports((path,)))


LCOV = "SF:a\nLF:4\nLH:{}\nend_of_record\n"


def test_coverage_in_several_formats_counts_once_and_old_coverage_is_skipped(folder):
    put(folder, "coverage.json", text='{"totals":{"percent_covered":1,"covered_lines":1,"num_statements":100}}')
    moment = moment_before_run(folder)
    put(folder, "coverage/lcov.info", text=LCOV.format(1))
    put(folder, "coverage.xml", text='<coverage lines-valid="4" lines-covered="1"/>')
    found = find_coverage_reports(folder, "", moment)
    assert names(found, folder) == ["coverage/lcov.info"]
    assert replace(read_coverage_reports(found), lines=None) == Coverage(25.0, 1, 4, "lcov")


def test_coverage_of_a_configured_glob_adds_up_and_must_be_complete(folder):
    moment = moment_before_run(folder)
    put(folder, "a/lcov.info", text=LCOV.format(1))
    put(folder, "b/lcov.info", text=LCOV.format(3))
    assert read_coverage_reports(find_coverage_reports(folder, "*/lcov.info", moment)).percent == 50
    put(folder, "c/lcov.info", text="SF:a\n")
    with pytest.raises(UnreadableReport, match=r"lcov\.info: the last record does not end"):
        read_coverage_reports(find_coverage_reports(folder, "*/lcov.info", moment))
