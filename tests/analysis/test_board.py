from __future__ import annotations

import csv
import io
import json

import pytest

from loopwright.analysis.board import read_board
from loopwright.analysis.board_history import analyse_export, verdict_on
from loopwright.analysis.history import read_moment
from loopwright.analysis.input_files import LARGEST_WHOLE, InputFile
from loopwright.analysis.model import Killed, NotEnoughData, Passed
from loopwright.errors import InputInvalid, WrongUsage


@pytest.fixture
def export(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return InputFile(path)

    return write


def found(file):
    board = read_board(file)
    return [
        (task.name, task.completed, [(signal.name, signal.is_right) for signal in task.signals]) for task in board.tasks
    ]


ONE = [("T-1", read_moment("2024-01-02"), [("reopened", False)])]


LINEAR = """[{"identifier": "T-1", "state": {"name": "Done"}, "completedAt": "2024-01-02",
    "reopenedAt": "2024-01-05"}]"""
JIRA = """{"issues": [{"key": "T-1", "fields": {"status": {"name": "Closed"}, "resolutiondate": "2024-01-02",
    "reopened_at": "2024-01-05"}}]}"""
GITHUB = """{"data": {"issues": {"nodes": [{"number": "T-1", "closed": true, "closedAt": "2024-01-02",
    "timeline": [{"event": "Reopened", "createdAt": "2024-01-05"}, {"event": "labeled"}]}]}}}"""


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("b.csv", "Issue key,Status,Resolved,Reopened At\nT-1,Done,2024-01-02,2024-01-05\nT-2,Open,,\n"),
        ("b.csv", "\ufeffid;state;closed_at;reopened\r\nT-1;closed;2024-01-02T00:00:00Z;2024-01-05\r\n"),
        ("b.tsv", "id\tstate\tclosed_at\treopened\nT-1\tclosed\t2024-01-02\t2024-01-05\n"),
        ("b.json", LINEAR),
        ("b.json", JIRA),
        ("b.json", GITHUB),
        ("b.jsonl", '{"id": "T-1", "done_at": 1704153600, "reopened": 1704412800000}\n'),
    ],
)
def test_usual_exports_are_understood(export, name, content):
    assert found(export(name, content)) == ONE


def test_multi_line_cells_and_repeated_columns(export):
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["id", "Description", "Labels", "Labels", "closed_at", "ci_status", "ci_at"])
    writer.writerow(["T-1", 'a "quoted"\ntext, with\nlines', "", "x", "2024-01-02", "success", "2024-01-02"])
    writer.writerow(["T-2", "", "", "", "2024-01-02", "failure", "2024-01-03"])
    assert found(export("b.csv", buffer.getvalue())) == [
        ("T-1", read_moment("2024-01-02"), [("ci", True)]),
        ("T-2", read_moment("2024-01-02"), [("ci", False)]),
    ]


def test_malformed_entries_are_named_by_line(export):
    board = read_board(
        export(
            "b.csv",
            "id,status,closed_at\n"
            "T-1,done,2024-01-02\n"
            "T-2,done,01/02/2024\n"
            "T-3,done,\n"
            "T-4,done,2024-01-02,too,many\n"
            "\n"
            "T-5,open,\n"
            "T-6,done," + "x" * 200_000 + "\n"
            "T-7,done,2024-01-03\n",
        )
    )
    assert [task.name for task in board.tasks] == ["T-1", "T-7"]
    assert board.malformed.where == "lines 3-5, 8"
    assert ["ambiguous" in board.malformed.reasons[0], "has no completion date" in board.malformed.reasons[1]] == [
        True,
        True,
    ]


def test_malformed_items_of_json_are_named_by_number(export):
    board = read_board(export("b.json", '[{"id": 1, "closed_at": "2024-01-02"}, 7, null, {"id": 2, "closed_at": "x"}]'))
    assert len(board.tasks) == 1
    assert board.malformed.where == "items 2-4"


def test_signals_without_a_date_count_for_nothing_and_are_said(export):
    board = read_board(
        export(
            "b.jsonl",
            '{"id": 1, "closed_at": "2024-01-02", "reopened": true, "ci_status": "passed"}\n'
            '{"id": 2, "closed_at": "2024-01-02", "reopened": false, "reverted": "no", "verified": 0}\n'
            '{"id": 3, "closed_at": "2024-01-02", "verified": "by hand"}\n',
        )
    )
    assert [task.signals for task in board.tasks] == [(), (), ()]
    assert board.undated_signals == 3


def test_a_task_that_is_open_again_was_completed_once(export):
    again = {"id": 1, "status": "open", "closed_at": "2024-01-02", "reopened_at": "2024-01-03"}
    assert len(read_board(export("b.json", json.dumps([again, {"id": 2, "status": "open"}]))).tasks) == 1


def test_the_last_of_two_rows_of_a_task_counts(export):
    board = read_board(export("b.csv", "id,closed_at\nT,2024-01-02\nT,2024-01-09\n"))
    assert ([task.completed for task in board.tasks], board.duplicates) == ([read_moment("2024-01-09")], 1)


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("b.json", "nonsense", InputInvalid),
        ("b.json", '{"stuff": 1}', InputInvalid),
        ("b.json", "7", InputInvalid),
        ("b.json", "[" * 100_000, InputInvalid),
        ("b.csv", "id,what\n1,2\n", InputInvalid),
        ("b.csv", "id,closed_at\n1,2\n".encode("utf-16"), InputInvalid),
        ("b.xlsx", "x", WrongUsage),
    ],
)
def test_what_is_no_export_is_an_error_with_a_way_on(export, name, content, error):
    with pytest.raises(error) as raised:
        read_board(export(name, content))
    assert raised.value.hint


def test_a_json_file_that_does_not_fit_into_memory_is_refused_with_a_way_on(tmp_path):
    path = tmp_path / "b.json"
    with path.open("wb") as stream:
        stream.truncate(LARGEST_WHOLE + 1)
    with pytest.raises(InputInvalid, match="larger") as raised:
        read_board(InputFile(path))
    assert ".jsonl" in raised.value.hint


@pytest.mark.parametrize("content", ["", "id,closed_at\n", "[]", "\n\n"])
def test_an_empty_board_is_not_enough_data(export, content):
    name = "b.json" if content.startswith("[") else "b.csv"
    parts = analyse_export(export(name, content))
    assert isinstance(parts.verdict, NotEnoughData)
    assert parts.findings.signal_share is None


@pytest.mark.parametrize(
    ("decided", "signals", "verdict"), [(9, 9, NotEnoughData), (10, 1, Killed), (10, 2, Passed), (1000, 199, Killed)]
)
def test_under_a_fifth_is_the_end(decided, signals, verdict):
    assert isinstance(verdict_on(decided, signals), verdict)


def test_signals_count_for_thirty_days_and_young_tasks_not_at_all(export):
    rows = [
        {"id": "in time", "closed_at": "2024-01-01", "reopened_at": "2024-01-31"},
        {"id": "too late", "closed_at": "2024-01-01", "reopened_at": "2024-02-01"},
        {"id": "reopened before it was closed for good", "closed_at": "2024-01-10", "reopened_at": "2024-01-05"},
        {"id": "ci ran just before", "closed_at": "2024-01-10", "ci_passed_at": "2024-01-09T12:00:00Z"},
        {"id": "both", "closed_at": "2024-01-01", "verified_at": "2024-01-02", "reverted_at": "2024-01-03"},
        {"id": "young", "closed_at": "2024-03-20", "reopened_at": "2024-03-21"},
        {"id": "newest", "closed_at": "2024-04-01"},
    ]
    parts = analyse_export(export("b.json", json.dumps(rows)))
    result = parts.findings
    assert (result.completed, result.decided, result.too_young) == (7, 5, 2)
    assert (result.with_signal, result.right, result.wrong) == (3, 1, 2)
    assert result.signals == {"ci_passed": 1, "reopened": 1, "reverted": 1, "verified": 1}
    assert parts.parameters["as_of"] == "2024-04-01T00:00:00Z"
    later = analyse_export(export("b.json", json.dumps(rows)), until=read_moment("2024-06-01")).findings
    assert (later.decided, later.with_signal) == (7, 4)
    newer = analyse_export(export("b.json", json.dumps(rows)), since=read_moment("2024-01-05")).findings
    assert (newer.completed, newer.decided, newer.with_signal) == (4, 2, 1)
