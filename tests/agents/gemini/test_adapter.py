"""Which of a user's Gemini CLI settings are used, and how its stream is read."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from loopwright.agents.gemini.adapter import GeminiAgent, outcome, read_user_settings
from loopwright.agents.gemini.stream import GeminiStream, was_blocked
from loopwright.agents.needs import Address
from loopwright.agents.port import NoAnswer, Ran, Reason
from loopwright.testing.contracts import turn_for
from loopwright.workspace.settings_model import AgentSettings

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def user(tmp_path, name, text, **more):
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text if isinstance(text, str) else json.dumps(text))
    return {"HOME": str(tmp_path), **more}


@pytest.mark.parametrize(
    ("document", "more", "login", "let_in"),
    [
        ({}, {"GEMINI_API_KEY": "k"}, "gemini-api-key", "generativelanguage.googleapis.com"),
        ({"security": {"auth": {"selectedType": "oauth-personal"}}}, {}, "oauth-personal", "oauth2.googleapis.com"),
        ({}, {"GOOGLE_GENAI_USE_VERTEXAI": "true"}, "vertex-ai", "aiplatform.googleapis.com"),
        ("{ not json", {}, "gemini-api-key", "generativelanguage.googleapis.com"),
        (
            {"security": "x", "general": {"maxAttempts": True}},
            {},
            "gemini-api-key",
            "generativelanguage.googleapis.com",
        ),
    ],
)
def test_the_login_method_comes_from_geminis_settings(tmp_path, document, more, login, let_in):
    environment = user(tmp_path, ".gemini/settings.json", document, **more)
    found = read_user_settings(environment)
    assert (found.login, found.tries) == (login, 4)
    assert Address(let_in) in GeminiAgent("gemini", AgentSettings(), environment).needs.hosts
    made = found.document(may_use_web=False)
    assert made["privacy"]["usageStatisticsEnabled"] is made["general"]["enableAutoUpdate"] is False
    assert "google_web_search" in made["tools"]["exclude"]


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("m\nSuggested retry after 3600s.", 3600),
        ("Please retry in 34.5s", 34.5),
        ("Your quota will reset after 1h2m3s.", 3723),
        ('[API Error: {"error": {"code": 429, "details": [{"retryDelay": "7s"}]}}]', 7),
        ("You have exhausted your daily quota on this model.", None),
        ("nested " + "[" * 100_000, None),
    ],
)
def test_when_geminis_limit_ends(tmp_path, message, seconds):
    stream = GeminiStream(tmp_path, "s", lambda used: None, lambda model, tokens: None)
    stream.read(json.dumps({"type": "result", "status": "error", "error": {"message": message}}).encode())
    assert stream.reset_after(NOW) == (None if seconds is None else NOW + timedelta(seconds=seconds))


@pytest.mark.parametrize(
    ("events", "exit_code", "reason"),
    [
        ([], 41, Reason.NOT_LOGGED_IN),
        ([], 127, Reason.AGENT_MISSING),
        ([], 137, Reason.CRASHED),
        ([{"type": "result", "status": "error"}], 0, Reason.CRASHED),
        ([{"type": "result", "status": "error", "error": {"message": "m"}}], 403 - 256, Reason.NOT_LOGGED_IN),
        ([{"type": "result", "status": "error", "error": {"message": "m"}}], 429 - 256, Reason.RATE_LIMITED),
        (
            [{"type": "result", "status": "error",
              "error": {"message": '{"error": {"details": [{"reason": "API_KEY_INVALID"}]}}'}}],
            400 - 256, Reason.NOT_LOGGED_IN,
        ),
        (
            [{"type": "error", "severity": "error",
              "message": "The model response was blocked due to safety settings."},
             {"type": "result", "status": "error"}],
            0, Reason.REFUSED,
        ),
    ],
)  # fmt: skip
def test_geminis_failures_by_its_codes(tmp_path, events, exit_code, reason):
    stream = GeminiStream(tmp_path, "s", lambda used: None, lambda model, tokens: None)
    for event in events:
        stream.read(json.dumps(event).encode())
    failed = outcome(turn_for(tmp_path), stream, Ran(exit_code, False, 1.0), None, NOW)
    assert isinstance(failed, NoAnswer)
    assert failed.reason is reason


def told(*reasons):
    attributes = {"event.name": "gemini_cli.api_response", "model": "m", "finish_reasons": list(reasons)}
    return json.dumps({"resource": {"a": {}}, "attributes": attributes, "_body": "x"}, indent=2)


@pytest.mark.parametrize(
    ("text", "is_blocked"),
    [
        (told("stop", "content_filter"), True),
        (told("content_filter") + told("stop"), False),
        (told("stop") + told("content_filter"), True),
        ('{"event.name": "gemini_cli.api_response", "finish_reasons": [' * 10_000, False),
        ('"event.name": "gemini_cli.api_response"' * 30_000, False),
        ("", False),
        (None, False),
    ],
)
def test_telemetry_shows_that_an_answer_was_blocked_after_its_start(tmp_path, text, is_blocked):
    file = tmp_path / "telemetry.log"
    if text is not None:
        file.write_text(text)
    assert was_blocked(file) is is_blocked
    (tmp_path / "link").symlink_to(file)
    assert not was_blocked(tmp_path / "link")


def test_an_answer_that_gemini_writes_again_in_the_next_turn_is_charged_once(tmp_path):
    file = tmp_path / ".gemini/tmp/p/chats/session-1-s.jsonl"
    file.parent.mkdir(parents=True)
    answers = [
        json.dumps({"type": "gemini", "id": name, "model": "m", "tokens": {"input": 100, "total": 120}}) + "\n"
        for name in ("one", "two")
    ]
    file.write_text(json.dumps({"sessionId": "s"}) + "\n" + answers[0])
    told = []
    stream = GeminiStream(tmp_path, "s", told.append, lambda model, tokens: None)
    with file.open("a") as kept:
        kept.write(answers[0] + answers[1])
    stream.look()
    assert [used.tokens for used in told] == [120]
