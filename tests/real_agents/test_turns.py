"""One confined turn of the real agents against our own model: their work, and every way to fail."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta

import pytest
from tests.real_agents.agent_kit import AGENTS, KEYS, SOON, log_in, says, shell, turns

from loopwright.agents.needs import HasNeeds
from loopwright.agents.port import Answer, CanResume, HasHooks, NoAnswer, Reason, ReportsCost, Role, StreamsEvents
from loopwright.agents.structured import read_answer, schema_of
from loopwright.loop.actions.planning import ProposedTasks
from loopwright.testing.model_server import model_server
from loopwright.testing.wire import ModelTurn, ToolUse, WireFault

pytestmark = pytest.mark.parametrize("agent", AGENTS)


@pytest.mark.shows("file", "cost")
def test_a_turn_writes_a_file_and_reports_its_use(project, agent):
    with model_server(ModelTurn(tools=(shell(agent, "echo hi > made.txt"),)), ModelTurn("all done")) as model:
        log_in(project, agent, model)
        with turns(project, agent) as turn_sandbox:
            taken = turn_sandbox.take()
            assert isinstance(taken.answer, Answer), taken.answer
            assert (turn_sandbox.sandbox / "made.txt").read_text() == "hi\n"
            for ability in (ReportsCost, HasNeeds, CanResume, StreamsEvents):
                assert isinstance(turn_sandbox.agent, ability)
            assert isinstance(turn_sandbox.agent, HasHooks) is (agent != "opencode")
    assert taken.answer.text == "all done"
    assert taken.answer.tokens == 240
    assert taken.used.tokens == 240, "it was counted while it was used"
    assert taken.answer.session == taken.used.session
    record = json.loads((turn_sandbox.record / "turn.json").read_bytes())
    assert record["price"] == ("reported" if agent == "claude" else "computed")
    assert record["usd"] > 0
    assert record["version"]
    log = (turn_sandbox.record / "program-1.log").read_text()
    assert "made.txt" in log, "what it did can be read"
    assert '{"' not in log, "and is no JSON"
    assert not list(project.sandboxes.rglob("*.lent"))


@pytest.mark.shows("structured answer")
def test_an_answer_has_the_requested_shape(project, agent):
    answer = '{"tasks": [{"description": "one", "tool": "", "mode": "write"}]}'
    with model_server(says(agent, answer)) as model:
        log_in(project, agent, model)
        with turns(project, agent) as turn_sandbox:
            taken = turn_sandbox.take(role=Role.PLANNER, schema=schema_of(ProposedTasks))
    assert isinstance(taken.answer, Answer), taken.answer
    assert read_answer(taken.answer.text, ProposedTasks).tasks[0].description == "one"
    (_, asked), *_ = [request for request in model.requests if request[1].get("tools")]
    told = {
        "claude": lambda: asked["tools"],
        "codex": lambda: asked["text"]["format"]["schema"],
        "gemini": lambda: asked["contents"][-1],
        "opencode": lambda: asked["messages"][-1],
    }[agent]()
    assert "mode" in json.dumps(told), "by the program's own means, else in words"


@pytest.mark.shows("session")
def test_a_session_is_resumed_in_a_new_sandbox_and_charged_once(project, agent):
    with model_server(ModelTurn("first"), ModelTurn("second")) as model:
        log_in(project, agent, model)
        with turns(project, agent) as turn_sandbox:
            first = turn_sandbox.take("remember 42").answer
        with turns(project, agent) as turn_sandbox:
            second = turn_sandbox.take(session=first.session).answer
        with turns(project, agent, "other-work") as turn_sandbox:
            third = turn_sandbox.take(session=first.session).answer
    assert (first.text, second.text, third.text) == ("first", "second", "first"), "another work knows no such session"
    assert second.session == first.session != third.session
    assert second.tokens == 120, "what the first turn used is not counted again"
    asked = json.dumps(model.requests)
    assert "You were interrupted" in asked
    assert "remember 42" in json.dumps([body for _, body in model.requests if body.get("tools")][1])


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        pytest.param(trouble, reason, id=name, marks=pytest.mark.shows(name))
        for name, trouble, reason in (
            ("401", WireFault(401, kind="authentication_error"), Reason.NOT_LOGGED_IN),
            ("429", WireFault(429, SOON, kind="rate_limit_error"), Reason.RATE_LIMITED),
            ("500", WireFault(500, SOON), Reason.CRASHED),
            ("cut", WireFault(is_cut=True), Reason.CRASHED),
            ("hang", WireFault(is_still=True), Reason.HUNG),
        )
    ],
)
def test_each_failure_of_the_model_has_its_reason(project, agent, trouble, reason):
    with model_server(ModelTurn("never said", trouble=trouble)) as model:
        log_in(project, agent, model)
        with turns(project, agent) as turn_sandbox:
            answer = turn_sandbox.take(timeout_s=4.0 if trouble.is_still else 300.0).answer
    assert isinstance(answer, NoAnswer)
    assert answer.reason is reason, answer
    # The turn may have failed before it had a session.
    assert answer.session or (agent == "opencode" and trouble.is_still)
    failure = (turn_sandbox.record / "failure.txt").read_text()
    assert failure.startswith(reason.value)
    assert reason is not Reason.NOT_LOGGED_IN or turn_sandbox.agent.needs.login in failure


@pytest.mark.parametrize("words", ["", "It begins so."])
def test_a_refusal_of_the_model_is_reported_as_a_refusal(project, agent, words):
    with model_server(*[ModelTurn(words, is_refused=True)] * 5) as model:
        log_in(project, agent, model)
        with turns(project, agent) as turn_sandbox:
            answer = turn_sandbox.take().answer
    assert isinstance(answer, NoAnswer)
    assert answer.reason is Reason.REFUSED, answer


@pytest.mark.shows("429")
def test_an_exhausted_subscription_reports_its_reset_time(project, agent):
    reset = int(time.time()) + 3600
    delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3600s"}
    troubles = {
        "claude": WireFault(429, {"anthropic-ratelimit-unified-reset": str(reset),
            "anthropic-ratelimit-unified-status": "rejected",
            "anthropic-ratelimit-unified-representative-claim": "five_hour"}, kind="rate_limit_error"),
        "codex": WireFault(429, {"x-codex-primary-used-percent": "100", "x-codex-primary-window-minutes": "300",
            "x-codex-primary-reset-at": str(reset)}, kind="usage_limit_reached", more={"resets_at": reset}),
        "gemini": WireFault(429, kind="RESOURCE_EXHAUSTED", more={"details": [delay]}),
        "opencode": WireFault(429, {"retry-after": "3600"}),
    }  # fmt: skip
    with model_server(ModelTurn(trouble=troubles[agent])) as model:
        log_in(project, agent, model)
        if agent == "claude":
            del project.environment["ANTHROPIC_API_KEY"]
            project.environment["CLAUDE_CODE_OAUTH_TOKEN"] = "sk-ant-oat01-none"
        with turns(project, agent) as turn_sandbox:
            answer = turn_sandbox.take().answer
    assert answer.reason is Reason.RATE_LIMITED
    # Some agents report the moment, and some the time until then.
    late = answer.reset_at - datetime.fromtimestamp(reset, UTC)
    assert timedelta(0) <= late < timedelta(seconds=60 if agent in ("gemini", "opencode") else 1)


def test_a_missing_login_is_reported_at_once(project, agent):
    with model_server(ModelTurn("x")) as model:
        log_in(project, agent, model)
        for name in KEYS:
            project.environment.pop(name, None)
        with turns(project, agent) as turn_sandbox:
            answer = turn_sandbox.take().answer
    assert answer.reason is Reason.NOT_LOGGED_IN


@pytest.mark.shows("confinement")
def test_an_agent_reaches_its_model_and_nothing_else(project, agent, tmp_path):
    secret = project.home / "secret.txt"
    secret.write_text("do not read")
    outside = tmp_path / "outside.txt"
    tries = (
        f"cat {secret}; echo escaped > {outside}; echo mine > {project.root}/inside.txt; "
        "curl -sS -m 5 -o web.txt https://example.com/; curl -sS -m 5 http://127.0.0.1:9/ ; env > seen.txt; true"
    )
    with model_server(ModelTurn(tools=(shell(agent, tries),)), ModelTurn("done")) as model:
        log_in(project, agent, model)
        project.environment["SOME_TOKEN"] = "a-token-of-the-user"
        with turns(project, agent) as turn_sandbox:
            answer = turn_sandbox.take().answer
            assert isinstance(answer, Answer), answer
            assert (turn_sandbox.sandbox / "inside.txt").read_text() == "mine\n", (
                "the sandbox stands at the project's path"
            )
            seen = (turn_sandbox.sandbox / "seen.txt").read_text()
            assert not (turn_sandbox.sandbox / "web.txt").exists()
    assert "a-token-of-the-user" not in seen
    assert not outside.exists()
    assert not (project.root / "inside.txt").exists()
    assert "do not read" not in json.dumps(model.requests)
    record = json.loads((turn_sandbox.record / "turn.json").read_bytes())
    assert record["network"] == f"only {model.url.removeprefix('http://')}"
    assert "example.com:443" in record["refused"]
    assert f"add it to agents.{agent}.hosts" in (turn_sandbox.record / "program-1.log").read_text()


def test_a_readers_changes_do_not_count_and_a_denial_is_reported(project, agent):
    write = ToolUse("Write", {"file_path": str(project.root / "made.txt"), "content": "x"})
    call = write if agent == "claude" else shell(agent, "echo x > made.txt")
    with model_server(ModelTurn(tools=(call,)), ModelTurn("done")) as model:
        log_in(project, agent, model)
        with turns(project, agent) as turn_sandbox:
            answer = turn_sandbox.take(role=Role.REVIEWER).answer
            assert isinstance(answer, Answer)
            assert agent == "codex" or not (turn_sandbox.sandbox / "made.txt").exists()
        if agent in ("gemini", "opencode"):
            assert answer.denials[0].startswith(call.name), "it exits with 0, and says that it is done"
        if agent == "claude":
            outside = ToolUse("Write", {"file_path": "/etc/made.txt", "content": "x"})
            model.turns = (ModelTurn(tools=(outside,)), ModelTurn("done"))
            with turns(project, agent) as turn_sandbox:
                assert turn_sandbox.take().answer.denials == ("Write /etc/made.txt",)
