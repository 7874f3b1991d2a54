"""What a turn says of itself gets into files: its session only when that is one, and holds no secret."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loopwright.agents.port import Allowance, Answer, NoAnswer, Reason
from loopwright.agents.usage import FILE, read_usage
from loopwright.kernel.process import Cancellation, wait_for_request
from loopwright.redaction.build import build_redactor
from loopwright.redaction.seed_rules import expand
from loopwright.runner.meter import LAST_LOOK, Meter, session_named
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
