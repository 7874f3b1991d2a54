"""What is recorded, and what the gate makes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from loopwright.analysis.markdown import kill_line, to_markdown
from loopwright.analysis.model import AnalysisResult, BoardFindings, Input, Killed, Malformed, NotEnoughData, Passed
from loopwright.analysis.preregistered import KILL, NUMBERS, REASONS, Experiment, current_digest
from loopwright.analysis.store import AnalysisStore, Closed, Open, Tries, UnreadableResult, decide
from loopwright.errors import DamagedFile
from loopwright.kernel.codec import from_json, to_json
from loopwright.workspace.layout import Flavour, Layout

FINDINGS = BoardFindings(
    tasks=0, completed=0, decided=0, with_signal=0, right=0, wrong=0, signal_share=None, too_young=0, signals={},
    undated_signals=0, duplicates=0, malformed=Malformed(),
)  # fmt: skip


def result(question=Experiment.BOARD_HISTORY, verdict=None, **changes):
    made = AnalysisResult(
        kill=KILL[question],
        verdict=verdict or Passed("it passed"),
        question=question,
        findings=FINDINGS,
        notes=(),
        inputs=(),
        parameters={},
        at="2026-01-02T03:04:05Z",
        preregistration=current_digest(),
        tool_version="1",
    )
    return replace(made, **changes)


@pytest.fixture
def store(tmp_path):
    return AnalysisStore(Layout(tmp_path, Flavour.UNIFIED, tmp_path))


PASSING = {question: result(question) for question in Experiment}


def test_three_passing_results_open_it():
    decision = decide(PASSING, current_digest(), {})
    assert isinstance(decision, Open)
    assert [sentence[:2] for sentence in decision.sentences] == ["P1", "P2", "P3"]


def test_nothing_recorded_keeps_it_closed_with_a_command_for_each():
    decision = decide({}, current_digest(), {})
    assert isinstance(decision, Closed)
    assert [(reason.question, reason.next) for reason in decision.reasons] == [
        ("P1", "loopwright analyze calibration"),
        ("P2", "loopwright analyze git-history"),
        ("P3", "loopwright analyze board-history"),
    ]


@pytest.mark.parametrize("question", Experiment)
@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"verdict": Killed("no signal")}, "killed: no signal"),
        ({"verdict": NotEnoughData("not enough data: 3")}, "not enough data: 3"),
        ({"preregistration": "0" * 64}, "other pre-registered numbers"),
        (None, "no result"),
        (UnreadableResult("its file is gone"), "is not valid"),
    ],
)
def test_any_one_that_does_not_pass_keeps_it_closed(question, changed, why):
    one = replace(PASSING[question], **changed) if isinstance(changed, dict) else changed
    newest = {**PASSING, question: one} if one is not None else {q: r for q, r in PASSING.items() if q != question}
    decision = decide(newest, current_digest(), {})
    assert isinstance(decision, Closed)
    (reason,) = decision.reasons
    assert reason.question == question
    assert why in reason.why
    assert reason.next.startswith("loopwright analyze ")


MADE_OF = {
    "inputs": (Input(kind="git", name="a" * 40, sha256="b" * 64), Input(kind="board", name="b.csv", sha256="c" * 64)),
    "parameters": {"revision": "HEAD", "since": "2025-06-01T00:00:00Z"},
}
BASIS = (
    f"(2026-01-02T03:04:05Z; from git {'a' * 12} sha256 {'b' * 12}, board b.csv sha256 {'c' * 12}, revision HEAD, "
    "since 2025-06-01T00:00:00Z; 3 earlier results of P2, 2 of them not passed)"
)


@pytest.mark.parametrize("verdict", [Passed("so"), Killed("so"), NotEnoughData("so")])
def test_each_counted_result_says_from_what_it_was_made_and_what_was_tried_before(verdict):
    """Trying windows until one passes is visible in the result."""
    one = result(Experiment.GIT_HISTORY, verdict, **MADE_OF)
    decision = decide({**PASSING, Experiment.GIT_HISTORY: one}, current_digest(), {Experiment.GIT_HISTORY: Tries(3, 2)})
    said = decision.sentences[1] if isinstance(decision, Open) else decision.reasons[0].why
    assert said.endswith(f"so {BASIS}")


def test_what_was_recorded_before_the_newest_is_counted(store):
    for verdict in (Killed("a"), NotEnoughData("b"), Passed("c"), Passed("d")):
        store.record(result(verdict=verdict))
    store.record(result(Experiment.GIT_HISTORY))
    assert store.tries() == {Experiment.BOARD_HISTORY: Tries(3, 2), Experiment.GIT_HISTORY: Tries(0, 0)}


def test_the_newest_result_of_each_question_counts(store):
    store.record(result(verdict=Passed("first")))
    store.record(result(Experiment.GIT_HISTORY))
    store.record(result(verdict=Killed("then this"), at="2026-01-03T00:00:00Z"))
    newest = store.newest()
    assert set(newest) == {Experiment.GIT_HISTORY, Experiment.BOARD_HISTORY}
    assert newest[Experiment.BOARD_HISTORY].verdict == Killed("then this")


def test_the_same_result_twice_is_one_file_and_two_lines(store):
    assert store.record(result()) == store.record(result())
    assert len(store.journal.entries()) == 2


def test_a_result_that_was_changed_or_removed_is_not_believed(store):
    path = store.record(result(verdict=Killed("no")))
    path.write_bytes(path.read_bytes().replace(b'"killed"', b'"passed"'))
    assert isinstance(store.newest()[Experiment.BOARD_HISTORY], UnreadableResult)
    path.unlink()
    assert isinstance(store.newest()[Experiment.BOARD_HISTORY], UnreadableResult)


def test_a_file_that_the_journal_does_not_name_opens_nothing(store, tmp_path):
    folder = tmp_path / ".loopwright" / "analysis"
    folder.mkdir(parents=True)
    (folder / "P3-x.json").write_bytes(to_json(result()))
    assert store.newest() == {}


def test_a_journal_line_that_was_changed_is_damage(store):
    store.record(result(verdict=Killed("no")))
    path = store.journal.path
    path.write_text(path.read_text().replace("killed", "passed"))
    with pytest.raises(DamagedFile):
        store.newest()


def test_every_kind_of_result_comes_back_as_it_was(store):
    store.record(result())
    assert store.newest()[Experiment.BOARD_HISTORY] == result()


def test_a_change_of_numbers_or_heuristics_needs_a_recorded_reason():
    assert REASONS[-1].digest == current_digest(), "add a row to REASONS: the date, this digest, and why"
    assert all(len(reason.why) > 20 for reason in REASONS)
    assert len({reason.digest for reason in REASONS}) == len(REASONS)


def test_the_contracts_numbers_are_the_contracts():
    assert (NUMBERS.near_empty_share, NUMBERS.high_confidence, NUMBERS.chance) == (0.05, 0.8, 0.5)
    assert (NUMBERS.interval, NUMBERS.detectable_share, NUMBERS.outcome_days) == (0.95, 0.20, 30)


@pytest.mark.parametrize("question", Experiment)
def test_the_kill_condition_is_the_first_thing_that_is_said(question):
    made = result(question)
    assert to_markdown(made).startswith(kill_line(question))
    assert next(iter(json.loads(to_json(made)))) == "kill"


def test_results_of_version_1_load_for_ever():
    files = sorted((Path(__file__).resolve().parent.parent / "goldens" / "v1").glob("analysis-*.json"))
    assert len(files) == 3
    for path in files:
        data = path.read_bytes()
        assert to_json(from_json(data, AnalysisResult)) == data
