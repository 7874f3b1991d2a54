"""A turn's reports are stored: its session id only if the id is valid and contains no secret."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from loopwright.agents.port import Allowance, Answer, NoAnswer, Ran, Reason, Usage
from loopwright.agents.usage import FILE, read_usage
from loopwright.kernel.process import Cancellation, wait_for_request
from loopwright.redaction.build import build_redactor
from loopwright.redaction.examples import expand
from loopwright.runner.meter import LAST_LOOK, Meter, session_named, used_at_last
from loopwright.workspace.settings_model import SecretsSettings

KEY = "pXq7Lm2Zt9Rb4Kc8Vn1"
REDACTOR = build_redactor(SecretsSettings(), {"FAKE_API_KEY": KEY})


class Reporting:
    name = "reporting"

    def take(self, turn, start):
        raise NotImplementedError

    def used(self, mailbox: Path, *, is_over: bool):
        return read_usage(mailbox / FILE, is_over=is_over)


@pytest.mark.parametrize("session", [KEY, f"a-{KEY}", expand("ghp_<alnum:36>", 7)])
def test_a_session_name_with_a_secret_is_ignored(tmp_path, session):
    (tmp_path / FILE).write_text(json.dumps({"tokens": 3}) + "\n" + json.dumps({"session": session}) + "\n")
    meter = Meter(Reporting(), tmp_path, tmp_path, Allowance(), REDACTOR)
    meter.read_to_the_end()
    assert (meter.used.tokens, meter.used.session) == (3, None)
    assert session not in (tmp_path / LAST_LOOK).read_text()


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("s-7", True),
        ("0f4dd25f-5ad8-4f51-9a3a-41c1d1c4b9f0", True),
        ("019a8a1e-34c5-7d02-8f6e-9b1f7c2d3e4f", True),
        ("ses_5a8c1e7f2ffeXy0Qm3Zt9Rb4Kc", True),
        (None, False),
        ("", False),
        ("--dangerously", False),
        ("../../x", False),
        ("two words", False),
        ("x" * 101, False),
    ],
)
def test_only_valid_names_are_sessions(said, named):
    assert session_named(said, REDACTOR) == (said if named else None)


def test_a_turn_that_can_t_be_watched_is_ended_and_not_let_run(tmp_path):
    def failing():
        raise ValueError(f"with a secret in it: {KEY}")

    meter = Meter(Reporting(), tmp_path, tmp_path, Allowance(tokens=1), REDACTOR)
    whole = Cancellation()
    with meter.watching(whole, failing) as inner:
        assert wait_for_request(inner, 30)
    assert (meter.broken, meter.over, whole.reason) == ("ValueError", None, None)
    ended = meter.settle(Answer("all is well", 1.0))
    assert isinstance(ended, NoAnswer)
    assert (ended.reason, KEY in ended.detail) == (Reason.CRASHED, False)
    whole.close()


class Scripted(Reporting):
    """Reports one amount after the other, and the last one for ever."""

    def __init__(self, *reports):
        self.reports, self.looks, self.looked = list(reports), [], threading.Event()

    def used(self, mailbox: Path, *, is_over: bool):
        self.looks.append(is_over)
        if len(self.looks) > 2:
            self.looked.set()
        return self.reports.pop(0) if len(self.reports) > 1 else self.reports[0]


@pytest.mark.parametrize(
    ("allowance", "reports", "over"),
    [
        (Allowance(usd=1.0), [Usage(usd=0.5), Usage(usd=1.5)], "usd"),
        (Allowance(tokens=10), [Usage(tokens=3), Usage(tokens=11)], "tokens"),
        (Allowance(usd=1.0, tokens=10), [Usage(usd=2.0, tokens=11)], "usd"),
        (Allowance(usd=1.0, tokens=10), [Usage(usd=1.0, tokens=10)], None),
        (Allowance(usd=1.0), [Usage(tokens=11)], None),
        (Allowance(), [Usage(usd=9.0, tokens=11)], None),
    ],
)
def test_a_turn_that_uses_more_than_it_may_is_ended(tmp_path, monkeypatch, allowance, reports, over):
    monkeypatch.setattr("loopwright.runner.meter._LOOK_EVERY_S", 0.001)
    agent, whole = Scripted(*reports), Cancellation()
    meter = Meter(agent, tmp_path, tmp_path, allowance, REDACTOR)
    with meter.watching(whole) as inner:
        assert wait_for_request(inner, 30) if over else agent.looked.wait(30)
    assert (meter.over, inner.reason is not None, whole.reason, meter.broken) == (over, over is not None, None, None)
    assert set(agent.looks) == {False}
    whole.close()


def test_usage_never_shrinks(tmp_path):
    meter = Meter(
        Scripted(Usage(usd=2.0, tokens=9), Usage(usd=0.1, tokens=1)), tmp_path, tmp_path, Allowance(), REDACTOR
    )
    meter.read_to_the_end()
    meter.read_to_the_end()
    assert (meter.used.usd, meter.used.tokens) == (2.0, 9), "an agent can rewrite its own report"
    assert used_at_last(None, tmp_path, tmp_path).usd == 2.0


def test_the_last_reading_is_kept_for_the_next_worker_after_a_crash(tmp_path):
    seen = Usage(usd=1.5, tokens=7, session="s-7")
    agent = Scripted(seen)
    meter = Meter(agent, tmp_path, tmp_path, Allowance(), REDACTOR)
    meter.read_to_the_end()
    assert agent.looks == [True]
    assert meter.used == used_at_last(None, tmp_path, tmp_path) == seen
    reporter = Scripted(Usage(tokens=9))
    assert used_at_last(reporter, tmp_path, tmp_path) == Usage(tokens=9)
    assert reporter.looks == [True], "the turn is over"
    assert used_at_last(Scripted(Usage(tokens=9)), tmp_path / "gone", tmp_path) == seen
    assert used_at_last(None, tmp_path, tmp_path / "gone") == Usage()
    problematic = Meter(Scripted(Usage(tokens=8, problems=("x",))), tmp_path, tmp_path, Allowance(), REDACTOR)
    problematic.read_to_the_end()
    assert used_at_last(None, tmp_path, tmp_path) == Usage(tokens=8), "problems are of the turn alone"


BUDGET_USED = NoAnswer(Reason.BUDGET_USED, "its own words")


@pytest.mark.parametrize(
    ("limit", "used", "answer", "over"),
    [
        (1.0, 1.0, BUDGET_USED, "usd"),
        (1.0, 0.9, BUDGET_USED, None),
        (1.0, None, BUDGET_USED, None),
        (None, 2.0, BUDGET_USED, None),
        (1.0, 2.0, NoAnswer(Reason.CRASHED, "x"), None),
        (1.0, 2.0, Answer("done", 0.0), None),
    ],
)
def test_a_program_that_ended_at_the_limit_that_it_was_told_was_over_it(tmp_path, limit, used, answer, over):
    meter = Meter(Scripted(Usage(usd=used)), tmp_path, tmp_path, Allowance(usd=limit), REDACTOR)
    meter.read_to_the_end()
    settled = meter.settle(answer)
    assert meter.over == over
    assert settled == answer if over is None else settled.reason is Reason.BUDGET_USED


def test_the_time_that_programs_worked_is_taken_from_the_turn(tmp_path):
    meter = Meter(Reporting(), tmp_path, tmp_path, Allowance(wall_s=10.0), REDACTOR)
    assert meter.seconds_for(20.0) == 10.0
    meter.note(Ran(0, timed_out=False, duration_s=4.0), wanted_s=5.0, given_s=5.0)
    assert (meter.seconds_for(5.0), meter.seconds_for(20.0), meter.worked_s) == (5.0, 6.0, 4.0)
    meter.note(Ran(0, timed_out=True, duration_s=5.0), wanted_s=5.0, given_s=5.0)
    assert (meter.over, meter.worked_s) == (None, 9.0)
    meter.note(Ran(0, timed_out=True, duration_s=0.5), wanted_s=5.0, given_s=1.0)
    assert (meter.over, meter.worked_s, meter.seconds_for(5.0)) == ("wall_s", 10.0, 0.5)
    meter.note(Ran(0, timed_out=True, duration_s=2.0), wanted_s=5.0, given_s=0.5)
    assert (meter.worked_s, meter.seconds_for(5.0)) == (11.5, 0.0)
    assert Meter(Reporting(), tmp_path, tmp_path, Allowance(), REDACTOR).seconds_for(20.0) == 20.0
