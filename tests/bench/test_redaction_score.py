"""The bench of recall and false alarms counts right, gives the same twice, and never prints a value."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from loopwright.redaction.build import SHIPPED_RULES
from loopwright.redaction.detector import Detector
from loopwright.redaction.examples import expand
from loopwright.redaction.redactor import Redactor, fingerprint

SCORE = Path(__file__).resolve().parents[2] / "bench" / "redaction" / "score.py"
TOKEN = expand("ghp_<alnum:36>", 21)
CONTEXTS = {
    "env dump",
    "export",
    "JSON",
    "YAML",
    "URL query",
    "HTTP header",
    "Python line",
    "log line",
    "random chunks",
}


def score(*arguments):
    return subprocess.run([sys.executable, SCORE, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    top = tmp_path_factory.mktemp("text") / "sample"
    (top / "__pycache__").mkdir(parents=True)
    (top / "app.log").write_text(f"one\ntwo\nthree {TOKEN}\n")
    (top / "plain.txt").write_text("a task-management-tool\n")
    (top / "data.bin").write_bytes(b"\0" + TOKEN.encode())
    (top / "__pycache__" / "left.txt").write_text(TOKEN)
    return top


@pytest.fixture(scope="module")
def said(folder, templates):
    """All that the bench says; it takes seconds, so one worker runs it for all."""

    def make(target):
        done = score("--json", "--examples", "1", "--seed", "3", "--text", str(folder))
        assert done.returncode == 0, done.stderr
        (target / "stdout").write_text(done.stdout)
        (target / "stderr").write_text(done.stderr)

    made = templates.made("redaction-score", make)
    return (made / "stdout").read_text(), (made / "stderr").read_text()


@pytest.fixture(scope="module")
def figures(said):
    return json.loads(said[0])


def test_a_planted_token_is_counted_with_its_place_and_nothing_else_is(figures, folder):
    read = sum((folder / name).stat().st_size for name in ("app.log", "plain.txt"))
    assert figures["text"] == [{"folder": "sample", "files": 2, "bytes": read, "lines": 4, "binary_files_left_out": 1}]
    assert figures["findings"] == [
        {
            "rule": "github-personal-token",
            "file": "sample/app.log",
            "line": 3,
            "fingerprint": fingerprint(TOKEN.encode()),
        }
    ]
    assert {name for name, hits in figures["false_alarms"].items() if hits} == {"code_hosts"}


def test_every_class_is_measured_in_the_contexts_where_secrets_leak(figures):
    rows = {(row["class"], row["context"]): row for row in figures["recall"]}
    classes = {name for name, _ in rows}
    assert classes >= {"ai", "cloud", "databases", "saas", "seed", "private_keys", "jwt", "environment values"}
    assert {context for name, context in rows if name == "code_hosts"} >= CONTEXTS
    assert ("environment values", "base64") in rows
    assert sum(figures["planted"].values()) == len(SHIPPED_RULES)
    for row in rows.values():
        assert row["total"] == row["hidden"] + row["partly"] + row["missed"]
        low, high = row["interval"]
        assert 0 <= low <= row["share"] <= high <= 1


def test_secrets_in_plain_contexts_are_hidden_and_those_broken_by_a_line_end_are_not_counted(figures):
    for row in figures["recall"]:
        if row["context"] in CONTEXTS:
            assert row["hidden"] == row["total"], row
    broken = [row for row in figures["recall"] if row["context"] == "wrapped at 80 columns"]
    assert sum(row["missed"] for row in broken) > 300
    assert not any(row["in_total"] for row in broken)


def test_no_value_is_printed(said):
    text = "".join(said)
    assert TOKEN not in text
    redactor = Redactor(Detector(SHIPPED_RULES, {}), {})
    assert redactor.scan(text.encode(), "page", trusts_pragma=False).findings == ()


def test_a_second_measurement_gives_the_same_figures_as_a_page_for_people(folder, figures):
    page = score("--examples", "1", "--seed", "3", "--text", str(folder))
    assert page.returncode == 0, page.stderr
    assert TOKEN not in page.stdout
    counted = [row for row in figures["recall"] if row["in_total"]]
    for name in ("all", *{row["class"] for row in counted}):
        rows = [row for row in counted if name in ("all", row["class"])]
        assert f"| {name} | {sum(row['hidden'] for row in rows)} / {sum(row['total'] for row in rows)} |" in page.stdout
    assert f"| github-personal-token | 1 | sample/app.log:3 | {fingerprint(TOKEN.encode())} |" in page.stdout


@pytest.mark.parametrize("arguments", [("--text", "no-such-folder"), ("--examples", "0"), ("--seed", "-1")])
def test_nonsense_is_refused_before_anything_is_measured(arguments):
    done = score(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "recall:" not in done.stderr
