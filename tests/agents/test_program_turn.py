"""Why a program gave no answer: its error codes count more than its exit."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from loopwright.agents.claude import adapter as claude
from loopwright.agents.claude.stream import ClaudeStream
from loopwright.agents.codex import adapter as codex
from loopwright.agents.codex.stream import CodexStream
from loopwright.agents.gemini import adapter as gemini
from loopwright.agents.gemini.stream import GeminiStream
from loopwright.agents.opencode import adapter as opencode
from loopwright.agents.opencode.stream import OpencodeStream
from loopwright.agents.port import NoAnswer, Ran, Reason
from loopwright.testing.contracts import turn_for

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(seconds=120)
TIMED_OUT, DIED, MISSING = Ran(-15, True, 1.0), Ran(1, False, 1.0), Ran(127, False, 1.0)
ENDS = [(TIMED_OUT, Reason.HUNG), (DIED, Reason.CRASHED), (MISSING, Reason.AGENT_MISSING)]


def read(stream, events):
    for event in events:
        stream.read(json.dumps(event).encode())
    return stream


def of_claude(folder, ran, *events):
    stream = read(ClaudeStream(lambda used: None, lambda model, tokens: None, lambda: NOW), events)
    return claude.outcome(turn_for(folder), stream, ran, "s", False, lambda model, tokens: None)


def of_codex(folder, ran, *events):
    stream = CodexStream(folder, lambda used: None, lambda tokens: None)
    file = folder / "sessions/2026/01/01/rollout-x-s1.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("".join(json.dumps({"payload": event}) + "\n" for event in events if "type" in event))
    read(stream, [{"type": "thread.started", "thread_id": "s1"}])
    return codex.outcome(turn_for(folder), stream, ran, None)


def of_gemini(folder, ran, *events):
    stream = read(GeminiStream(folder, "s", lambda used: None, lambda model, tokens: None), events)
    return gemini.outcome(turn_for(folder), stream, ran, None, NOW)


def of_opencode(folder, ran, *events):
    stream = read(OpencodeStream(lambda used: None, lambda tokens: None), events)
    return opencode.outcome(turn_for(folder), stream, ran, NOW)


AT = int(LATER.timestamp())
REJECTED = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": AT}}
TRIES_AGAIN = {"type": "system", "subtype": "api_retry", "error_status": 429, "error": "rate_limit"}
SPOKE = {"type": "assistant", "message": {"id": "m", "content": []}}
QUOTA = {"error": {"code": 429, "details": [{"retryDelay": "120s"}]}}
FULL = {"type": "token_count", "rate_limits": {"primary": {"used_percent": 100, "resets_at": AT}}}
LIMITS = [
    (of_claude, (REJECTED,)),
    (of_claude, (REJECTED, {"type": "assistant", "error": "rate_limit", "api_error_status": 429})),
    (of_claude, ({**TRIES_AGAIN, "retry_delay_ms": 120000},)),
    (of_codex, (FULL,)),
    (of_codex, (FULL, {"type": "task_complete", "error": {"codex_error_info": "usage_limit_exceeded"}})),
    (of_gemini, ({"type": "error", "severity": "error", "message": json.dumps(QUOTA)},)),
    (of_opencode, ({"type": "loopwright", "status": 429, "wait_s": 120},)),
]


@pytest.mark.parametrize("ran", [TIMED_OUT, DIED])
@pytest.mark.parametrize(("of", "events"), LIMITS)
def test_a_limit_and_its_end_are_known_even_if_the_program_is_ended_or_dies(tmp_path, of, events, ran):
    failed = of(tmp_path, ran, *events)
    assert isinstance(failed, NoAnswer)
    assert (failed.reason, failed.reset_at) == (Reason.RATE_LIMITED, LATER)


@pytest.mark.parametrize(("ran", "reason"), ENDS)
@pytest.mark.parametrize("of", [of_claude, of_codex, of_gemini, of_opencode])
def test_without_a_code_the_end_of_the_program_gives_the_reason(tmp_path, of, ran, reason):
    assert of(tmp_path, ran).reason is reason


def test_a_limit_before_the_model_answered_again_does_not_count(tmp_path):
    assert of_claude(tmp_path, TIMED_OUT, REJECTED, TRIES_AGAIN, SPOKE).reason is Reason.HUNG
    again = {**TRIES_AGAIN, "error_status": None, "error": "unknown", "retry_delay_ms": 500}
    assert of_claude(tmp_path, DIED, TRIES_AGAIN, again).reason is Reason.CRASHED


@pytest.mark.parametrize("subtype", ["error_max_turns", "error_max_budget_usd"])
def test_claudes_own_limits_count_as_a_budget(tmp_path, subtype):
    failed = of_claude(tmp_path, DIED, {"type": "result", "subtype": subtype, "is_error": True, "errors": ["3 turns"]})
    assert (failed.reason, failed.detail) == (Reason.BUDGET_USED, "3 turns")


@pytest.mark.parametrize("delay", ["1.2.3s", "9" * 30 + "s"])
def test_an_invalid_delay_is_ignored(tmp_path, delay):
    quota = {"error": {"code": 429, "details": [{"retryDelay": delay}]}}
    failed = of_gemini(tmp_path, DIED, {"type": "error", "severity": "error", "message": json.dumps(quota)})
    assert (failed.reason, failed.reset_at) == (Reason.RATE_LIMITED, None)


def test_denials_are_reported_even_if_the_turn_has_no_answer(tmp_path):
    denied = [{"tool_name": "Write", "tool_input": {"file_path": "/etc/x"}}]
    result = {"type": "result", "subtype": "success", "permission_denials": denied, "stop_reason": "refusal"}
    failed = of_claude(tmp_path, DIED, result)
    assert (failed.reason, failed.stop_reason) == (Reason.REFUSED, "refusal")
    assert "Write" in failed.denials[0]
