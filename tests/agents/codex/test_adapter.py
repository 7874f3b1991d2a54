"""How Codex is started: which hooks it may run, and which of the user's settings it gets."""

from __future__ import annotations

import itertools
import json
import tomllib

import pytest
from msgspec.structs import replace

from loopwright.agents.codex.adapter import CodexAgent
from loopwright.agents.codex.stream import CodexStream
from loopwright.agents.port import Ran, Role
from loopwright.kernel.address import Address
from loopwright.testing.contracts import turn_for
from loopwright.workspace.settings_model import AgentSettings


@pytest.mark.parametrize(
    ("role", "is_confined", "runs_hooks"),
    [
        (Role.BUILDER, True, True),
        # Without our sandbox, the hooks would run with the user's rights.
        (Role.BUILDER, False, False),
        # A reviewer runs in the built tree, where the builder may have added hooks.
        (Role.REVIEWER, True, False),
    ],
)
def test_a_projects_hooks_run_only_for_a_confined_builder(tmp_path, role, is_confined, runs_hooks):
    started = []

    def start(argv, **more):
        started.append(argv)
        return Ran(1, False, 0.0)

    (tmp_path / "mailbox").mkdir()
    turn = replace(turn_for(tmp_path / "mailbox", role=role), is_confined=is_confined)
    CodexAgent("codex", AgentSettings(), {}).take(turn, start)
    (argv,) = started
    assert ("--dangerously-bypass-hook-trust" in argv) is runs_hooks


CONFIG = """
model_provider = "mine"
[model_providers.mine]
base_url = "https://gateway.example/v1"
env_key = "MY_LONG_KEY_NAME_1"
experimental_bearer_token = "hidden-1"
http_headers = { Authorization = "Bearer hidden-2", X-Team = "blue-team-2026" }
env_http_headers = { X-Api-Key = "OTHER_KEY", X-Project = "MY_PROJECT" }
query_params = { api-version = "2026-04-01", code = "hidden-3" }
[model_providers.others]
experimental_bearer_token = "hidden-4"
"""


def test_codex_gets_the_provider_in_use_with_its_keys_and_all_keys_are_masked(tmp_path):
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text(CONFIG)
    agent = CodexAgent("codex", AgentSettings(), {"HOME": str(tmp_path)})
    needs = agent.needs
    assert needs.variables == ("MY_LONG_KEY_NAME_1", "OTHER_KEY", "MY_PROJECT")
    assert needs.keys == ("MY_LONG_KEY_NAME_1", "OTHER_KEY")
    assert needs.hosts == (Address("gateway.example"),)
    assert {key.value: key.is_let_in for key in needs.written} == {
        "hidden-1": True, "hidden-2": True, "hidden-3": True, "hidden-4": False,
    }  # fmt: skip
    assert needs.is_logged_in({}) == "config.toml: model_providers.mine.experimental_bearer_token"
    assert "hidden" not in repr(needs)
    (tmp_path / "mailbox").mkdir()
    agent.take(turn_for(tmp_path / "mailbox"), lambda argv, **more: Ran(1, False, 0.0))
    lent = tomllib.loads((tmp_path / "mailbox" / "config.toml").read_text())["model_providers"]
    assert lent == {"mine": tomllib.loads(CONFIG)["model_providers"]["mine"]}


def total(tokens):
    return {"input_tokens": tokens, "output_tokens": 0}


def count(whole, last=100):
    info = {"total_token_usage": total(whole), "last_token_usage": total(last)}
    return json.dumps({"type": "event_msg", "payload": {"type": "token_count", "info": info}}) + "\n"


STARTED = {"type": "thread.started", "thread_id": "s1"}
ENDED = {"type": "turn.completed", "usage": total(300)}
AGAIN, MORE, ALL = count(100), count(200), count(300)


def in_every_order(*parts):
    """Every interleaving of two sources: events and lines of the session's file, each in its own order."""
    lines = [part for part in parts if isinstance(part, str)]
    events = [part for part in parts if not isinstance(part, str)]
    for places in itertools.combinations(range(len(parts)), len(events)):
        rest, said = iter(lines), iter(events)
        yield [next(said) if at in places else next(rest) for at in range(len(parts))]


@pytest.mark.parametrize(
    ("before", "parts", "used"),
    [
        ("", (STARTED, count(100)), 100),
        # Codex repeats a count at its end, and when it reports a limit again.
        ("", (STARTED, count(100), AGAIN), 100),
        ("", (STARTED, count(100), count(200), ALL, ENDED), 300),
        # A resumed session begins with the total of its earlier turns, and may report that total again.
        (count(100), (STARTED, MORE, ALL, ENDED), 200),
        (count(100), (STARTED, AGAIN, MORE, MORE, ALL, ALL, ENDED), 200),
        (count(100), (STARTED, ENDED), 200),
        (count(100) + count(100), (STARTED, AGAIN), 0),
        # A count that shrank adds no use; an increase after it does.
        (count(100), (STARTED, count(0, 0), count(50, 50)), 50),
        # The last line of an interrupted turn is incomplete.
        (count(100) + '{"type": "ev', (STARTED, MORE, ALL, ENDED), 200),
        # The earlier turns are unknown: the record names the new use.
        ("{}\n", (STARTED, count(900, 100), count(1000, 100)), 200),
    ],
)
def test_a_turn_is_charged_once_whatever_the_order_of_its_reports(tmp_path, before, parts, used):
    for number, order in enumerate(in_every_order(*parts)):
        home = tmp_path / str(number)
        file = home / "sessions/2026/01/01/rollout-x-s1.jsonl"
        file.parent.mkdir(parents=True)
        file.write_text(before)
        told = []
        stream = CodexStream(home, told.append, lambda tokens: None, "s1" if before else None)
        for part in order:
            if isinstance(part, str):
                with file.open("a") as kept:
                    kept.write(part)
                stream.look()  # as the meter does, from its own thread
            else:
                stream.read(json.dumps(part).encode())
        stream.look()
        assert stream.tokens.total == used, order
        is_counted_on_the_way = any(isinstance(part, str) for part in parts)
        assert sum(one.tokens or 0 for one in told) == (used if is_counted_on_the_way else 0)


@pytest.mark.parametrize("file_first", [True, False])
def test_the_status_of_a_failure_comes_from_the_session_file(tmp_path, file_first):
    file = tmp_path / "sessions/2026/01/01/rollout-x-s1.jsonl"
    file.parent.mkdir(parents=True)
    error = {"codex_error_info": {"http_connection_failed": {"http_status_code": 401}}}
    record = json.dumps({"payload": {"type": "task_complete", "error": error}}) + "\n"
    failed = json.dumps({"type": "turn.failed", "error": {"message": "it did not work"}}).encode()
    stream = CodexStream(tmp_path, lambda used: None, lambda tokens: None)
    stream.read(json.dumps(STARTED).encode())
    for part in (1, 2) if file_first else (2, 1):
        if part == 1:
            file.write_text(record)
            stream.look()
        else:
            stream.read(failed)
    stream.look()
    assert stream.status == 401
