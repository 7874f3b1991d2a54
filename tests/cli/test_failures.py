"""A failure is a sentence and an exit code, also where reporting it fails."""

from __future__ import annotations

import re

import pytest

from loopwright.cli import main
from loopwright.cli.failures import report_bug, wants_json
from loopwright.wording.catalogue import catalogue_of


@pytest.mark.parametrize(
    ("arguments", "is_json"),
    [
        ([], False),
        (["status"], False),
        (["status", "--json"], True),
        (["risk", "--format", "json"], True),
        (["risk", "--format=json"], True),
        (["risk", "--format", "sarif"], False),
        (["risk", "--format"], False),
        (["json", "--format"], False),
    ],
)
def test_json_is_wanted_where_the_arguments_say_so(arguments, is_json):
    assert wants_json(arguments) is is_json


@pytest.mark.parametrize(
    "arguments",
    [
        ["status", "--nonsense"],
        ["status", "--jsonn"],
        ["loop", "start", "--max-iteration=1"],
        ["nonsense"],
        ["plan", "--agent"],
        ["verify", "one", "two"],
        ["risk", "--format", "nonsense"],
        ["build", "greet", "--max-iterations", "few"],
    ],
)
def test_usage_errors_are_translated_in_the_installed_version_of_click(capsys, arguments):
    assert main._run(arguments) == 2
    message, hint = (line.removeprefix("WRONG_USAGE: ") for line in capsys.readouterr().err.splitlines())
    for text in (message, hint):
        assert re.search(r"[\u4e00-\u9fff]", catalogue_of("zh").translate(text)), text


def broken(*arguments, **named):
    raise ValueError("broken on purpose")


@pytest.mark.parametrize(
    ("part", "arguments"),
    [
        ("report_click", ["foo"]),
        ("report_error", ["explain", "nothing-of-this-name"]),
        ("wants_json", ["foo"]),
        ("wants_json", []),
    ],
)
def test_a_bug_in_the_report_of_a_failure_is_a_sentence(monkeypatch, capsys, tmp_path, part, arguments):
    monkeypatch.setattr(main, part, broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main._run(arguments) == 1
    said = capsys.readouterr().err
    assert said.startswith("INTERNAL_ERROR: ValueError in loopwright itself\n")
    assert "Traceback" not in said
    (report,) = tmp_path.glob("loopwright-bug-*.txt")
    assert "broken on purpose" in report.read_text()


def test_a_bug_is_told_where_its_details_can_t_be_kept(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    assert report_bug(ValueError("broken on purpose"), as_json=False) == 1
    assert capsys.readouterr().err.splitlines() == [
        "INTERNAL_ERROR: ValueError in loopwright itself",
        "  → report it; the file with the details could not be written",
    ]
