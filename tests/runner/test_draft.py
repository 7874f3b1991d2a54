"""A run's summary for people, and what the draft of its record notes."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from loopwright.evidence.model import CheckRecord, IsolationRecord, ReplanTurn, StepRecord
from loopwright.redaction.model import seal
from loopwright.runner.draft import EvidenceDraft, replan_note, summary_of
from loopwright.runner.events import Emitter, RunStarted, ignore
from loopwright.runner.request import Environment, Failure

ISOLATION = IsolationRecord(
    requested="auto", used="bubblewrap", writes_confined=True, home_hidden=True, network="open", processes="p",
    why=seal(b""),
)  # fmt: skip
TURN = ReplanTurn(agent="ann", attempt=2, turn="t-7", failure=None, usd=0.5, tokens=12345, worked_s=1.25)


def record(name, outcome, *checks):
    made = [CheckRecord(kind="k", expected=seal(b""), outcome=check, detail=seal(b"")) for check in checks]
    return StepRecord(
        id=name, action=seal(b""), outcome=outcome, cwd=seal(b""), depends_on=[], network=False, duration_s=1.234,
        commands=[], checks=made, reason=seal(b""),
    )  # fmt: skip


def test_a_summary_has_steps_files_isolation_and_notes():
    steps = [record("A", "passed", "passed", "declared", "passed"), record("B", "failed", "failed")]
    files = [f"f{number}" for number in range(52)]
    assert summary_of("r-1", "do it", steps, ISOLATION, files, ["one", "two"]).split("\n") == [
        "# r-1", "", "do it", "",
        "| step | outcome | seconds | checks |", "|---|---|---|---|",
        "| A | passed | 1.23 | 2 verified, 1 only declared |", "| B | failed | 1.23 | 0 verified |",
        "", "Changed files: 52", "",
        *(f"- f{number}" for number in range(50)), "- … and 2 more",
        "", "Isolation: bubblewrap (requested: auto); network open.",
        "Note: one", "Note: two",
        "", "Check it: `loopwright verify r-1`. Repeat it: `loopwright rerun r-1`.", "",
    ]  # fmt: skip


def test_a_summary_of_little():
    assert summary_of("r", "", [], None, ["f"] * 50, []).split("\n") == [
        "# r", "", "(no goal given)", "", "| step | outcome | seconds | checks |", "|---|---|---|---|", "",
        "Changed files: 50", "", *["- f"] * 50,
        "", "Check it: `loopwright verify r`. Repeat it: `loopwright rerun r`.", "",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("turn", "words"),
    [
        (TURN, "asked for a new plan (2), ann gave a plan: 0.5000 USD, 12,345 tokens, 1.2 s; turns/t-7"),
        (
            replace(TURN, usd=None, tokens=7, failure="crashed"),
            "asked for a new plan (2), ann gave no plan (crashed): cost not reported, 7 tokens, 1.2 s; turns/t-7",
        ),
        (
            replace(TURN, tokens=None),
            "asked for a new plan (2), ann gave a plan: 0.5000 USD, tokens not reported, 1.2 s; turns/t-7",
        ),
    ],
)
def test_a_turn_for_a_new_plan_in_words(turn, words):
    assert replan_note(turn) == words


def test_only_the_first_failure_counts():
    draft = EvidenceDraft(datetime(2026, 1, 1, tzinfo=UTC), Environment({}, ()))
    first, second = (Failure(code, seal(b""), "") for code in ("ONE", "TWO"))
    draft.fail_first([])
    assert draft.failure is None
    draft.fail_first([first, second])
    draft.fail(second)
    assert draft.failure is first


def test_a_summary_without_a_plan_has_no_goal(redactor):
    draft, written = EvidenceDraft(datetime(2026, 1, 1, tzinfo=UTC), Environment({}, ())), {}
    folder = SimpleNamespace(run_id="r", write=lambda name, text: written.setdefault(name, text.text) and "digest")
    draft.write_summary(folder, redactor, ())
    assert written["summary.md"].startswith("# r\n\n(no goal given)\n")
    assert draft.files == {"summary.md": "digest"}


def test_variables_are_set_or_not():
    caller = {"SET": "1", "MY_API_KEY": "x", "HIDDEN": "y"}
    draft = EvidenceDraft(datetime(2026, 1, 1, tzinfo=UTC), Environment(caller, ("SET", "UNSET")))
    assert list(draft.env_status().items()) == [("MY_API_KEY", "<SET>"), ("SET", "<SET>"), ("UNSET", "<UNSET>")]


def test_a_step_sees_its_own_and_the_allowed_variables():
    environment = Environment({"A": "1", "B": "2", "C": "3"}, ("A", "X"))
    assert environment.for_step(("C", "Y")) == {"A": "1", "C": "3", "CI": "1"}


def test_a_listener_that_is_gone_gets_no_more_events():
    seen = []

    def listen(event):
        seen.append(event)
        raise BrokenPipeError

    emitter, event = Emitter(listen), RunStarted("r", "p")
    emitter.emit(event)
    emitter.emit(event)
    assert seen == [event]
    assert ignore(event) is None
