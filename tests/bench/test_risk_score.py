"""The bench of the risk rules: its statistics against counting by hand, and its script on a small file."""

from __future__ import annotations

import csv
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

numpy = pytest.importorskip("numpy")
pytest.importorskip("scipy")
BENCH = Path(__file__).resolve().parents[2] / "bench" / "risk"
COLUMNS = ["project", "commit", "date", "label", "insertions", "deletions", "files"]


def loaded(name):
    spec = importlib.util.spec_from_file_location(f"bench_risk_{name}", BENCH / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


AUC = loaded("auc")


def by_hand(rows):
    pairs = [(a, b) for good, a in rows if good for bad, b in rows if not bad]
    return sum((a > b) + 0.5 * (a == b) for a, b in pairs) / len(pairs)


ROWS = st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=2, max_size=12).filter(
    lambda rows: len({label for label, _ in rows}) == 2
)


@given(ROWS)
def test_auc_is_the_share_of_pairs_in_the_right_order(rows):
    labels, scores = (numpy.array(column) for column in zip(*rows, strict=True))
    assert AUC.auc(labels, scores.astype(float)) == pytest.approx(by_hand(rows))


def test_one_kind_alone_is_no_number():
    assert numpy.isnan(AUC.auc(numpy.array([True, True]), numpy.array([1.0, 2.0])))
    assert numpy.isnan(AUC.auc_within(numpy.array([True, False]), numpy.array([1.0, 2.0]), numpy.array([0, 1])))


def test_within_strata_only_pairs_of_one_stratum_count():
    labels = numpy.array([True, False, True, False])
    scores = numpy.array([2.0, 1.0, 10.0, 20.0])
    assert AUC.auc_within(labels, scores, numpy.array([0, 0, 1, 1])) == 0.5
    assert AUC.auc_within(labels, scores, numpy.array([0, 0, 0, 0])) == AUC.auc(labels, scores) == 0.5
    assert AUC.auc_within(labels[:2], scores[:2], numpy.array([0, 0])) == 1.0


def test_equal_parts_never_tear_equal_values_apart():
    values = numpy.array([1.0, 1.0, 1.0, 2.0, 3.0, 4.0])
    parts = AUC.equal_parts(values, 3)
    assert parts.tolist() == [0, 0, 0, 1, 2, 2]


def write(path, rows):
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    return path


def commit(project, label, lines, files, year=2020):
    return [project, "c", f"{year}-01-01T00:00:00Z", label, lines, 0, json.dumps(files)]


def score(*arguments, script="score.py"):
    argv = [sys.executable, str(BENCH / script), *map(str, arguments)]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def test_the_script_scores_any_file_of_this_form_and_never_pools(tmp_path):
    rows = [commit("a", 1, 10 + n, ["src/x.py"]) for n in range(8)] + [
        commit("a", 0, n, ["src/x.py"]) for n in range(8)
    ]
    rows += [commit("b", 0, 10 + n, ["src/x.py"]) for n in range(8)] + [
        commit("b", 1, n, ["src/x.py"]) for n in range(8)
    ]
    listed = write(tmp_path / "c.csv", rows)
    done = score(listed, "--draws", "20")
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("| default |")][:1]
    assert [cell.split()[0] for cell in line.split("|")[2:-1]] == ["1.000", "0.000", "0.500"]
    assert score(listed, "--draws", "20").stdout == done.stdout
    assert "| default" not in score(listed, "--draws", "5", "--ruleset", "classic").stdout


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([["a", "c", "2020", "2", "1", "1", "[]"]], "line 2"),
        ([["a", "c", "2020", "1", "x", "1", "[]"]], "line 2"),
        ([["a", "c", "2020", "1", "1", "1", "[nonsense"]], "line 2"),
        ([commit("a", 1, 1, []), commit("a", 1, 1, [])], "same label"),
    ],
)
def test_what_can_not_be_read_is_named(tmp_path, rows, said):
    done = score(write(tmp_path / "c.csv", rows))
    assert done.returncode != 0
    assert said in done.stderr


def test_missing_columns_are_named(tmp_path):
    (tmp_path / "c.csv").write_text("project,commit\na,b\n")
    assert "files" in score(tmp_path / "c.csv").stderr


def test_the_whole_score_is_fitted_without_the_project_that_it_is_measured_on(tmp_path):
    rows = [commit(name, n % 2, 5 + 40 * n * (n % 2), ["src/x.py"]) for name in "abc" for n in range(8)]
    done = score(write(tmp_path / "c.csv", rows), "--draws", "5", script="whole_score.py")
    assert done.returncode == 0, done.stderr
    assert [line.split(" | ")[0] for line in done.stdout.splitlines()[2:6]] == [
        "| a",
        "| b",
        "| c",
        "| none: these would ship",
    ]
    assert "| whole score, fitted size | 1.000 [1.000, 1.000]" in done.stdout


def test_labelled_paths_give_recall_and_precision_and_wrong_paths_are_shown_only_on_request(tmp_path):
    listed = tmp_path / "paths.csv"
    rows = ["label,path", "auth,src/login.py", "payment,src/till.py", "ordinary,docs/login.md", "ordinary,src/token.py"]
    listed.write_text("\n".join(rows) + "\n")
    said = score(listed, script="paths.py").stdout
    assert "| paths | 4 | 2 | 0.500 [0.095, 0.905] (1 of 2) | 0.500 [0.095, 0.905] (1 of 2) |" in said
    assert "src/" not in said
    shown = score(listed, "--show", script="paths.py").stdout
    assert "missed: src/till.py is payment" in shown
    assert "false alarm: src/token.py is ordinary" in shown
    listed.write_text("label,path\nsensitive,x\n")
    assert "line 2: needs a path and a label" in score(listed, script="paths.py").stderr
