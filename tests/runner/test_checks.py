"""Verification items, judged by what exists."""

from __future__ import annotations

import os

import pytest

from loopwright.plan.model import (
    CommandPasses,
    Declared,
    ExitCodeIs,
    FileContains,
    FileExists,
    StdoutContains,
    Step,
)
from loopwright.redaction.detector import Detector
from loopwright.redaction.redactor import Redactor
from loopwright.runner.checks import TextSearch, judge, not_run, required_texts

REDACTOR = Redactor(Detector((), {"PASSWORD": "correct horse battery"}), {})


@pytest.mark.parametrize(
    ("text", "chunks", "found"),
    [
        ("", [], True),
        ("a", [b"b", b"ca"], True),
        ("XX", [b"a"], False),
        ("ab", [b"a", b"b"], True),
        ("abc", [b"xa", b"b", b"cx"], True),
        ("abc", [b"ab", b"", b"c"], True),
        ("abc", [b"ab", b"x", b"c"], False),
        ("abc", [b"abc", b"x"], True),
        ("aab", [b"aa", b"ab"], True),
        ("é\udcff", [b"\xc3", b"\xa9\xff"], True),
    ],
)
def test_a_text_is_found_however_the_output_is_cut(text, chunks, found):
    search = TextSearch(text)
    for chunk in chunks:
        search.feed(chunk)
    assert search.found == found


@pytest.fixture
def sandbox(tmp_path):
    repo = tmp_path / "repo"
    (repo / "sub").mkdir(parents=True)
    (repo / "top.txt").write_text("top\n")
    (repo / "sub" / "file.txt").write_bytes(b"x" * (1 << 20) + b"needle")
    (repo / "out").symlink_to("/etc/passwd")
    (repo / "dangling").symlink_to("nowhere")
    os.mkfifo(repo / "fifo")
    return repo


@pytest.mark.parametrize(
    ("item", "kind", "expected", "outcome"),
    [
        (Declared("looks good"), "declared", "looks good", "declared"),
        (FileExists("file.txt"), "file_exists", "file.txt", "passed"),
        (FileExists("../top.txt"), "file_exists", "../top.txt", "passed"),
        (FileExists("top.txt"), "file_exists", "top.txt", "failed"),
        (FileExists("../out"), "file_exists", "../out", "failed"),
        (FileExists("../dangling"), "file_exists", "../dangling", "failed"),
        (FileContains("file.txt", "xneedle"), "file_contains", "file.txt: xneedle", "passed"),
        (FileContains("file.txt", "needles"), "file_contains", "file.txt: needles", "failed"),
        (FileContains("missing", "x"), "file_contains", "missing: x", "failed"),
        (FileContains("../fifo", "x"), "file_contains", "../fifo: x", "failed"),
        (FileContains("..", "x"), "file_contains", "..: x", "failed"),
        (StdoutContains("printed"), "stdout_contains", "printed", "passed"),
        (StdoutContains("silent"), "stdout_contains", "silent", "failed"),
        (ExitCodeIs(3), "exit_code", "3", "passed"),
        (ExitCodeIs(0), "exit_code", "0", "failed"),
    ],
)
def test_an_item_is_judged(sandbox, item, kind, expected, outcome):
    searches = {text: TextSearch(text) for text in ("printed", "silent")}
    searches["printed"].feed(b"printed")
    record = judge(item, sandbox, sandbox / "sub", searches, 3, REDACTOR)
    assert (record.kind, record.expected.text, record.outcome) == (kind, expected, outcome)
    assert (record.detail.text == expected) == (outcome == "passed"), "the detail tells why not"


def test_an_exit_code_counts_only_if_a_command_ran(sandbox):
    assert judge(ExitCodeIs(3), sandbox, sandbox, {}, None, REDACTOR).outcome == "passed"


def test_an_item_that_was_not_looked_at_is_recorded_as_such():
    record = not_run(CommandPasses("echo correct horse battery"), REDACTOR)
    assert (record.kind, record.outcome) == ("command", "not_run")
    assert "horse" not in record.expected.text + record.detail.text
    assert not_run(Declared("x"), REDACTOR).outcome == "declared"


def test_only_texts_of_the_output_are_searched_for():
    step = Step("A", "act", ("true",), verification=(StdoutContains("one"), FileExists("two"), StdoutContains("three")))
    assert required_texts(step) == ["one", "three"]


@pytest.mark.parametrize(
    ("item", "why"),
    [
        (FileExists("gone"), "gone does not exist"),
        (FileExists("../out"), "../out leads outside the sandbox"),
        (FileContains("file.txt", "needles"), "the file does not contain the text"),
        (FileContains("../fifo", "x"), "the path is not a regular file"),
        (StdoutContains("silent"), "the commands did not print it"),
        (ExitCodeIs(0), "the last command exited with 3"),
    ],
)
def test_a_failed_item_says_why(sandbox, item, why):
    searches = {"silent": TextSearch("silent")}
    assert judge(item, sandbox, sandbox / "sub", searches, 3, REDACTOR).detail.text == why


def test_a_file_that_can_not_be_read_says_why(sandbox, monkeypatch):
    def failing(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", failing)
    record = judge(FileContains("file.txt", "x"), sandbox, sandbox / "sub", {}, 0, REDACTOR)
    monkeypatch.undo()
    assert record.detail.text == "the file can't be read: Permission denied"


def test_a_command_is_not_judged_by_what_exists(sandbox):
    with pytest.raises(AssertionError):
        judge(CommandPasses("true"), sandbox, sandbox, {}, 0, REDACTOR)
