"""Pictures and pages of results."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from loopwright.analysis.board_history import analyse_export
from loopwright.analysis.calibration import analyse_corpus
from loopwright.analysis.git_history import analyse_git_history
from loopwright.analysis.history import Window
from loopwright.analysis.input_files import InputFile
from loopwright.analysis.markdown import to_markdown
from loopwright.analysis.plots import draw


@pytest.fixture
def calibration(tmp_path, make_result):
    def make(count, points=("after",)):
        path = tmp_path / "corpus.jsonl"
        lines = [
            {
                "confidence": (number % 20) / 20,
                "correct": number % 3 > 0,
                "point": point,
                "churn": number,
                "surface": "ui",
            }
            for number in range(count)
            for point in points
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return make_result(analyse_corpus(InputFile(path)))

    return make


@pytest.fixture
def board(tmp_path, make_result):
    path = tmp_path / "b.csv"
    path.write_text("id,closed_at,reopened_at\n" + "".join(f"{n},2024-01-{n + 1:02},\n" for n in range(28)))
    return make_result(analyse_export(InputFile(path)))


def texts(path):
    return [element.text for element in ET.parse(path).iter("{http://www.w3.org/2000/svg}text")]


def test_the_reliability_diagram_has_the_counts_of_its_bins(calibration, tmp_path):
    drawn = calibration(203)
    draw(drawn, tmp_path / "c.svg")
    said = texts(tmp_path / "c.svg")
    counts = [str(one.records) for one in drawn.findings.series[0].bins]
    assert counts == ["22", "21", *["20"] * 8]
    assert [text for text in said if text in {"20", "21", "22"}] == counts
    assert "chance" in said
    assert "self-rated high" in said
    assert any("killed when" in text for text in said)


def test_every_series_has_its_own_row(calibration, tmp_path):
    draw(calibration(40, ("before", "after", "adversarial")), tmp_path / "c.svg")
    titles = [text for text in texts(tmp_path / "c.svg") if text.startswith("series")]
    assert [title.split("'")[1] for title in titles] == ["after", "before", "adversarial"]


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_the_same_result_gives_the_same_bytes(calibration, tmp_path, monkeypatch, ending):
    draw(calibration(60), tmp_path / f"1.{ending}")
    # Neither the day nor a style that lies around may show.
    (tmp_path / "matplotlibrc").write_text("font.size: 30\n")
    monkeypatch.chdir(tmp_path)
    draw(calibration(60), tmp_path / f"2.{ending}")
    assert (tmp_path / f"1.{ending}").read_bytes() == (tmp_path / f"2.{ending}").read_bytes()


@pytest.mark.parametrize("count", [0, 3])
def test_not_enough_data_is_drawn_as_words(calibration, tmp_path, count):
    draw(calibration(count), tmp_path / "c.svg")
    assert any("not enough data" in text for text in texts(tmp_path / "c.svg"))


def test_tallies_of_the_other_questions(story, read, board, make_result, tmp_path):
    story.commit("feat: x", {"a": "1"}, day=0)
    story.commit("fix: x", {"a": "2"}, day=1)
    draw(make_result(analyse_git_history(read(story.path).history, Window())), tmp_path / "h.svg")
    assert {"ci", "human review", "only self-reflection"} <= set(texts(tmp_path / "h.svg"))
    draw(board, tmp_path / "b.svg")
    assert "no signal" in texts(tmp_path / "b.svg")
    draw(board, tmp_path / "b.PNG")
    assert (tmp_path / "b.PNG").read_bytes().startswith(b"\x89PNG")


def test_pages_say_not_enough_data_instead_of_numbers(calibration, story, read, board, make_result):
    empty = make_result(analyse_git_history(read(story.path).history, Window()))
    for page in (to_markdown(calibration(4)), to_markdown(empty)):
        assert "**No verdict**: not enough data" in page
        assert "nan" not in page.lower().split()
        assert "None" not in page
    assert "no records" in to_markdown(calibration(0))
    assert "no signal" not in to_markdown(board)


def test_a_calibration_page_has_every_series_and_both_baselines(calibration):
    page = to_markdown(calibration(60, ("after", "hook")))
    assert page.count("baseline: little churn") == page.count("baseline: harmless surface") == 4
    assert "## Series 'after' (decides)" in page
    assert "## Series 'hook'\n" in page


def test_a_title_of_a_commit_can_not_break_the_table(story, read, make_result):
    story.commit("feat: x", {"a": "1"}, day=0)
    story.commit("fix: a | b", {"a": "2"}, day=1)
    parts = analyse_git_history(read(story.path).history, Window())
    assert "fix: a \\| b" in to_markdown(make_result(parts), parts.titles)
