"""Turns that only some of the real agents support."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from tests.real_agents.agent_kit import log_in, shell, turns

from loopwright.agents.port import Allowance, Answer, Reason
from loopwright.testing.model_server import model_server
from loopwright.testing.wire import ModelTurn, WireFault


@pytest.mark.parametrize("agent", ["claude", "codex", "opencode"])
def test_a_credential_is_lent_refreshed_and_left_nowhere(project, agent):
    # Gemini's login asks Google: tests/agents/test_credentials.py has its file.
    # The user's file, and the copy inside the sandbox.
    places = {
        "claude": (".claude/.credentials.json", "$CLAUDE_CONFIG_DIR/.credentials.json"),
        "codex": (".codex/auth.json", "$CODEX_HOME/auth.json"),
        "opencode": (".local/share/opencode/auth.json", "$XDG_DATA_HOME/opencode/auth.json"),
    }
    place, where = places[agent]
    own = project.home / place
    name = own.name
    token = "a-token-that-nobody-may-ever-see"
    own.parent.mkdir(parents=True, exist_ok=True)
    # opencode keeps the logins of all providers in one file.
    login, others = {"access": token, "expires": 1}, {"access": f"not-lent-{token}", "expires": 1}
    own.write_text(json.dumps({"ours": login, "others": others} if agent == "opencode" else {"login": login}))
    refresh = f"cat {where}; grep not-lent {where} > seen.txt; sed -i s/ever/EVER/ {where}; cat {where}"
    with model_server(ModelTurn(tools=(shell(agent, refresh),)), ModelTurn("done")) as model:
        log_in(project, agent, model)
        if agent == "codex":
            config = own.parent / "config.toml"
            text = config.read_text().replace('env_key = "OUR_KEY"', 'env_key = "OUR_KEY"\nrequires_openai_auth = true')
            config.write_text(text)
            own.write_text(json.dumps({"OPENAI_API_KEY": token}))
        with turns(project, agent) as turn_sandbox:
            turn_sandbox.take()
            assert (turn_sandbox.sandbox / "seen.txt").read_text() == "", "a login of another provider"
    assert own.read_text().count("EVER") == 1, "the user is not logged out by a refresh"
    kept = project.everything_kept() + b"".join(
        path.read_bytes() for path in project.sandboxes.rglob("*") if path.is_file() and path.name == name
    )
    assert token.encode() not in kept
    assert token.replace("ever", "EVER").encode() not in kept
    assert not list(project.sandboxes.rglob(name))
    assert own.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("agent", ["opencode"])
def test_files_that_the_program_writes_by_itself_are_not_work(project, agent):
    project.write("opencode.json", '{"instructions": ["NOTES.md"]}\n')
    project.write("opencode.jsonc", '{\n  // mine\n  "username": "ann"\n}\n')
    project.commit("settings of the project's own")
    with model_server(ModelTurn(tools=(shell(agent, "echo '{}' > opencode.jsonc"),)), ModelTurn("done")) as model:
        log_in(project, agent, model)
        with turns(project, agent) as turn_sandbox:
            assert isinstance(turn_sandbox.take().answer, Answer)
            assert (turn_sandbox.sandbox / "opencode.json").read_text() == '{"instructions": ["NOTES.md"]}\n'
            assert (turn_sandbox.sandbox / "opencode.jsonc").read_text() == "{}\n", "what it was asked for stays"


@pytest.mark.parametrize("agent", ["claude", "opencode"])
def test_a_program_that_waits_for_the_end_of_a_limit_until_its_timeout_is_at_its_limit(project, agent):
    # The other programs give up, and don't report the end of the limit.
    began = datetime.now(UTC)
    with model_server(
        *[ModelTurn(trouble=WireFault(429, {"retry-after": "50"}, kind="rate_limit_error"))] * 8
    ) as model:
        log_in(project, agent, model)
        if agent == "claude":
            project.environment["CLAUDE_CODE_MAX_RETRIES"] = "2"
        with turns(project, agent) as turn_sandbox:
            for limit_s in (10.0, 100.0):  # a busy machine may need longer to ask at all
                answer = turn_sandbox.take(timeout_s=limit_s).answer
                if answer.reason is not Reason.HUNG:
                    break
    assert answer.reason is Reason.RATE_LIMITED, answer
    told_to_wait = timedelta(seconds=50)
    assert began + told_to_wait <= answer.reset_at <= datetime.now(UTC) + told_to_wait + timedelta(seconds=1)


def test_claude_ends_by_itself_when_the_budget_of_the_turn_is_used(project):
    """With a budget, Claude stops by itself and need not be killed. Its use is on record."""
    agent = "claude"
    with model_server(*[ModelTurn(tools=(shell(agent, "true"),))] * 9, ModelTurn("done")) as model:
        log_in(project, agent, model)
        with turns(project, agent) as turn_sandbox:
            first = turn_sandbox.take(allowance=Allowance(usd=0.0001))
            session = first.used.session
            asked = len(model.requests)
            again = turn_sandbox.take(allowance=Allowance(usd=0.001), session=session)
    assert (first.answer.reason, again.answer.reason) == (Reason.BUDGET_USED, Reason.BUDGET_USED)
    assert "its budget is used up (usd)" in first.answer.detail
    assert asked == 1
    assert len(model.requests) == asked + 2, "what the session cost before is not counted again"
    record = json.loads((turn_sandbox.record / "turn.json").read_bytes())
    assert (record["failure"], record["budget"]["usd"]) == ("budget_used", 0.001)
    assert record["usd"] >= 0.001


def test_the_use_that_claude_reports_for_a_turn_it_ended_itself_counts(project):
    """Also for a model without a price in our table: otherwise every retry could spend the whole budget again."""
    agent = "claude"
    with model_server(*[ModelTurn(tools=(shell(agent, "true"),))] * 9, ModelTurn("done")) as model:
        log_in(project, agent, model)
        project.environment["ANTHROPIC_MODEL"] = "my-gateway-model"
        with turns(project, agent) as turn_sandbox:
            taken = turn_sandbox.take(allowance=Allowance(usd=0.0001))
    assert "its budget is used up (usd)" in taken.answer.detail
    assert taken.used.usd >= 0.0001


@pytest.mark.needs("bwrap")
@pytest.mark.parametrize("agent", ["opencode"])
def test_in_a_project_with_its_own_settings_opencode_contacts_only_its_model(project, agent):
    project.write(".opencode/agent/nice.md", "---\ndescription: nice\nmode: subagent\n---\nBe nice.\n")
    project.commit("an agent of the project's own")
    # The setting that stops opencode's own installations must not reach the commands of the agent.
    look = 'echo "npm is told: $npm_config_offline." > told.txt'
    with model_server(ModelTurn(tools=(shell(agent, look),)), ModelTurn("done")) as model:
        log_in(project, agent, model)
        with turns(project, agent) as turn_sandbox:
            assert isinstance(turn_sandbox.take().answer, Answer)
            assert (turn_sandbox.sandbox / "told.txt").read_text() == "npm is told: .\n"
    assert json.loads((turn_sandbox.record / "turn.json").read_text())["refused"] == []


@pytest.mark.parametrize("agent", ["gemini"])
@pytest.mark.parametrize(
    ("score", "model"), [(10, "gemini-3.8-flash"), (95, "gemini-3.1-pro-preview-customtools")], ids=["easy", "hard"]
)
@pytest.mark.shows("cost")
def test_the_models_that_the_program_chooses_itself_have_prices(project, agent, score, model):
    with model_server(ModelTurn("done")) as server:
        server.aside = ModelTurn(json.dumps({"complexity_reasoning": "r", "complexity_score": score}))
        log_in(project, agent, server)
        settings = project.home / ".gemini" / "settings.json"
        chosen = json.loads(settings.read_text())
        del chosen["model"]
        settings.write_text(json.dumps(chosen))
        with turns(project, agent) as turn_sandbox:
            answer = turn_sandbox.take().answer
    asked = [path.rpartition("/")[2].partition(":")[0] for path, _ in server.requests]
    assert asked == ["gemini-3.5-flash-lite", model]
    assert isinstance(answer, Answer)
    assert answer.cost_source == "computed"
    assert answer.cost_usd > 0
