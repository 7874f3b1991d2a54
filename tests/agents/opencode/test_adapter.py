"""Which of a user's opencode settings are used, and how its stream is read."""

from __future__ import annotations

import json

import pytest

from loopwright.agents.opencode.adapter import NEEDS, OpencodeAgent
from loopwright.agents.opencode.settings import PROVIDERS, permission, read_user_settings, without_mark
from loopwright.agents.opencode.stream import OpencodeStream
from loopwright.agents.port import Ran
from loopwright.kernel.address import Address
from loopwright.testing.contracts import turn_for
from loopwright.workspace.settings_model import AgentSettings


def user(tmp_path, name, text, **more):
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text if isinstance(text, str) else json.dumps(text))
    return {"HOME": str(tmp_path), **more}


MINE = """{
  // a provider of my own, with "quotes" in a comment
  "model": "mine/big", /* and
  another */
  "provider": {"mine": {"options": {"baseURL": "http://localhost:1234/v1", "apiKey": "%s"}, "models": {"big": {}},},},
}
"""


def test_opencode_gets_the_users_provider_without_literal_keys(tmp_path):
    name = ".config/opencode/opencode.jsonc"
    environment = user(tmp_path, name, MINE % "{env:MY_KEY}")
    needs = OpencodeAgent("opencode", AgentSettings(), environment).needs
    assert (needs.keys, needs.hosts, needs.credentials) == (("MY_KEY",), (Address("127.0.0.1", 1234),), ())
    assert "MY_KEY" in needs.login
    user(tmp_path, name, MINE % "sk-written-out")
    found = read_user_settings(environment)
    assert "sk-written-out" not in json.dumps(found.document("mine/big", {}))
    assert OpencodeAgent("opencode", AgentSettings(), environment).needs.keys == ()
    other = OpencodeAgent("opencode", AgentSettings(model="anthropic/claude-sonnet-4-5"), environment).needs
    assert other.keys == ("ANTHROPIC_API_KEY",)
    assert Address("api.openai.com") not in other.hosts
    assert [one.entries for one in other.credentials] == [("anthropic",)]


@pytest.mark.parametrize(
    ("logins", "variables", "hosts", "keys", "lent"),
    [
        ("{}", {"GROQ_API_KEY": "x"}, {"api.groq.com"}, ("GROQ_API_KEY",), tuple(PROVIDERS)),
        (
            '{"unheard of": {}, "xai": {"type": "api"}}',
            {"GROQ_API_KEY": "x"},
            {"api.groq.com", "api.x.ai"},
            ("GROQ_API_KEY", "XAI_API_KEY"),
            ("xai",),
        ),
        (
            '{"of a later version": {}}',
            {"GROQ_API_KEY": "x", "MY_OWN": ""},
            {"api.groq.com"},
            ("GROQ_API_KEY",),
            ("of a later version",),
        ),
        ("{}", {"MY_OWN": "x"}, {"own.example"}, ("MY_OWN",), tuple(PROVIDERS)),
        ("no json", {}, {one.host for one in NEEDS.hosts}, NEEDS.keys, tuple(PROVIDERS)),
        (
            '{"nobody-knows": {}, "xai": {"type": "api"}}',
            {},
            {"api.x.ai"},
            ("XAI_API_KEY",),
            {"": ("xai",), "nobody-knows/it": ("nobody-knows",)},
        ),
    ],
)
def test_without_a_model_opencode_reaches_the_providers_of_the_users_logins(
    tmp_path, logins, variables, hosts, keys, lent
):
    options = {"apiKey": "{env:MY_OWN}", "baseURL": "https://own.example/v1"}
    described = json.dumps({"provider": {"own": {"options": options}}})
    user(tmp_path, ".config/opencode/opencode.json", described)
    environment = user(tmp_path, ".local/share/opencode/auth.json", logins, **variables)
    for model in ("", "nobody-knows/it"):
        needs = OpencodeAgent("opencode", AgentSettings(model=model), environment).needs
        assert {one.host for one in needs.hosts} == hosts
        assert needs.keys == needs.variables == keys
        assert [one.entries for one in needs.credentials] == [lent[model] if isinstance(lent, dict) else lent]


@pytest.mark.parametrize(
    ("described", "hosts", "keys", "variables"),
    [
        ({"npm": "@ai-sdk/anthropic"}, ("api.anthropic.com",), ("ANTHROPIC_API_KEY",), ()),
        ({"npm": "@ai-sdk/openai", "options": {}, "env": ["MINE", 7]}, ("api.openai.com",), ("MINE",), ()),
        ({"npm": "@ai-sdk/openai-compatible"}, (), (), ()),
        ({"npm": "@of-somebody/else", "options": {"apiKey": "{env:MINE}"}}, (), ("MINE",), ()),
        (
            {"npm": "@ai-sdk/openai", "options": {"baseURL": "{env:PLACE}/v1", "headers": {"X-Key": "{env:MINE}"}}},
            ("own.example",),
            ("MINE",),
            ("PLACE",),
        ),
        ({"npm": "@ai-sdk/openai", "options": {"baseURL": "{env:UNSET}"}}, (), ("OPENAI_API_KEY",), ("UNSET",)),
        ("no table", None, None, None),
    ],
)
def test_the_address_of_a_described_provider_comes_from_its_settings_or_its_package(
    tmp_path, described, hosts, keys, variables
):
    document = {"model": "own/m", "provider": {"own": described}}
    more = {"PLACE": "https://own.example", "OPENAI_API_KEY": "x"}
    environment = user(tmp_path, ".config/opencode/opencode.json", document, **more)
    needs = OpencodeAgent("opencode", AgentSettings(), environment).needs
    if hosts is None:
        # The provider counts as absent; the providers of the user's keys remain.
        assert needs.keys == ("OPENAI_API_KEY",)
        return
    assert (tuple(one.host for one in needs.hosts), needs.keys) == (hosts, keys)
    assert needs.variables == (*keys, *variables)


def test_only_the_login_of_the_models_provider_is_lent_and_every_literal_key_is_masked(tmp_path):
    mine = {
        "options": {
            "baseURL": "https://me:hidden-1@own.example/v1?key=hidden-2",
            "apiKey": "hidden-3",
            "headers": {"Authorization": "Bearer hidden-4", "X-Team": "blue", "X-Key": "{env:MY_KEY}"},
            "region": "eu-central-1",
        },
        "models": {"big": {"headers": {"x-goog": "Ab1" * 8}, "name": "Qwen2.5-Coder-32B-Instruct"}},
    }
    others = {"options": {"secretAccessKey": "hidden-5", "apiKey": "ollama"}}
    document = {"model": "mine/big", "provider": {"mine": mine, "others": others}}
    environment = user(tmp_path, ".config/opencode/opencode.json", document)
    agent = OpencodeAgent("opencode", AgentSettings(args=["--model", "mine/big"]), environment)
    assert {key.value for key in agent.needs.written} == {*(f"hidden-{n}" for n in range(1, 6)), "Ab1" * 8}
    assert "hidden" not in repr(agent.needs)
    assert agent.needs.is_logged_in(environment) is None, "what is not let in is no login"
    (tmp_path / "mailbox").mkdir()
    started = []
    agent.take(turn_for(tmp_path / "mailbox"), lambda argv, **more: started.append(argv) or Ran(1, False, 0.0))
    (argv,) = started
    assert argv.count("--model") == 1
    lent = json.loads((tmp_path / "mailbox" / "config" / "opencode" / "opencode.json").read_text())["provider"]
    assert lent == {
        "mine": {
            "options": {
                "baseURL": "https://own.example/v1",
                "headers": {"X-Team": "blue", "X-Key": "{env:MY_KEY}"},
                "region": "eu-central-1",
            },
            "models": {"big": {"headers": {}, "name": "Qwen2.5-Coder-32B-Instruct"}},
        }
    }


def test_opencode_gets_its_fetched_ripgrep_if_the_machine_has_none(tmp_path):
    # Its tools to find files, and skills, do not work without; and in a sandbox it can't be fetched.
    environment = user(tmp_path, ".cache/opencode/bin/rg", "#!/bin/sh\n", PATH=str(tmp_path / "bin"))
    (tmp_path / "mailbox").mkdir()
    brought = tmp_path / "mailbox" / "cache" / "opencode" / "bin" / "rg"

    def take():
        agent = OpencodeAgent("opencode", AgentSettings(), environment)
        agent.take(turn_for(tmp_path / "mailbox"), lambda argv, **more: Ran(1, False, 0.0))
        return brought.exists() and brought.stat().st_mode & 0o777 == 0o700

    assert take()
    brought.unlink()
    own = tmp_path / "bin" / "rg"
    own.parent.mkdir()
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    assert not take()


def test_an_opencode_reader_writes_nothing_and_an_unconfined_builder_stays_inside(tmp_path):
    reader = permission(writes=False, may_use_web=False, is_confined=True, mailbox=tmp_path)
    assert (reader["*"], reader["read"], reader["webfetch"]) == ("deny", "allow", "deny")
    assert "bash" not in reader
    builder = permission(writes=True, may_use_web=True, is_confined=False, mailbox=tmp_path)
    assert (builder["*"], builder["webfetch"], builder["external_directory"]["*"]) == ("allow", "allow", "deny")
    assert builder["external_directory"][f"{tmp_path}/*"] == "allow"


def test_opencodes_own_price_wins_over_the_table():
    told = []
    stream = OpencodeStream(told.append, lambda tokens: 7.0)
    step = {"reason": "stop", "tokens": {"input": 10, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 1}}}
    for cost in (0.5, 0):
        stream.read(json.dumps({"type": "step_finish", "sessionID": "ses_1", "part": {**step, "cost": cost}}).encode())
        assert stream.price == ("reported" if cost else "computed")
    assert stream.usd == 7.5
    assert stream.tokens.total == 40
    assert [used.tokens for used in told if used.tokens] == [20, 20]
    assert told[0].session == "ses_1"


MARK = b'{\n  "$schema": "https://opencode.ai/config.json",'


@pytest.mark.parametrize(
    ("before", "after", "meant"),
    [
        (b'{"a": 1}\n', MARK + b'"a": 1}\n', b'{"a": 1}\n'),
        (b'  {\n "a": 1}', MARK + b'\n "a": 1}', b'  {\n "a": 1}'),
        (b'{"a": 1}', b'{"b": 2}', b'{"b": 2}'),
        (b'{"a": 1}', MARK + b"}\n", b"{}\n"),
        (b'{"a": 1}', MARK + b'"b": 2}', b'{"b": 2}'),
        # Looks as if a person wrote it, so it may be part of the work.
        (b'{"a": 1}', MARK + b'\n  "b": 2\n}', MARK + b'\n  "b": 2\n}'),
        (MARK + b'"a": 1}', MARK + b"}", MARK + b"}"),
    ],
)
def test_the_schema_line_of_opencode_is_separated_from_work(before, after, meant):
    assert without_mark(before, after) == meant
