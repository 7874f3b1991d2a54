"""What the sandbox lets in for a turn: program, credentials, home, and the network to the model."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from loopwright.agents.needs import Credential, Needs
from loopwright.agents.port import NoAnswer, Reason
from loopwright.kernel.address import Address
from loopwright.runner import admission as module
from loopwright.runner.admission import Admission, NetworkAccess, admitted, forwarded, way_out
from loopwright.runner.request import Environment
from loopwright.sandbox import forwarder, probe
from loopwright.sandbox.unconfined import Unconfined
from loopwright.workspace.settings_model import AgentSettings

MODEL = Address("model.example")
LOCAL = Address("127.0.0.1", 11434)
TOKEN = "refreshed-token-that-is-long-enough-0123456789"


class Agent:
    """An agent with a program, or without needs."""

    name = "ann"

    def __init__(self, **needs):
        if needs:
            usual = {"program": "prog", "oldest": (1,), "install": "install it", "login": "run `prog login`"}
            self.needs = Needs(**{**usual, **needs})


@pytest.fixture
def inside(turn_sandbox, tmp_path):
    """The turn's sandbox, with a program on PATH and a home of the user."""
    program = tmp_path / "bin" / "prog"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho prog 1.2.3\n")
    program.chmod(0o755)
    (tmp_path / "user").mkdir()
    caller = {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(tmp_path / "user")}
    return replace(turn_sandbox, environment=Environment(caller, ("PATH",)))


def ours(view):
    return (Path(sys.base_prefix), Path(sys.prefix), Path(module.__file__).parents[2])


def test_an_agent_without_needs_gets_its_variables_and_addresses(inside):
    with admitted(Agent(), inside, AgentSettings(env=["A", "B"])) as admission:
        assert admission == Admission(inside, ("A", "B"))
    settings = AgentSettings(env=["A"], hosts=["model.example", "not an address!", "127.0.0.1:11434"])
    with admitted(Agent(), inside, settings) as admission:
        assert (admission.variables, admission.addresses) == (("A",), (MODEL, LOCAL))
        view = admission.turn_sandbox.sandbox.view
        assert (view.programs, view.agent_home) == (ours(view), None)
        assert view.mailbox == inside.mailbox
        admission.learn()


def test_our_own_files_are_shown_unless_they_are_the_projects(inside):
    view = inside.sandbox.view
    assert module._ourselves(view) == ours(view)
    package = Path(module.__file__).parents[2]
    for project in (package, package.parent):
        kept = tuple(path for path in (Path(sys.prefix),) if project not in (path, *path.parents))
        assert module._ourselves(replace(view, project=project)) == (Path(sys.base_prefix), *kept)


def test_a_program_that_is_missing_is_no_admission(inside):
    with admitted(Agent(program="no-such"), inside, AgentSettings()) as admission:
        assert isinstance(admission, NoAnswer)
        assert admission.reason is Reason.AGENT_MISSING


@pytest.mark.parametrize(
    ("needs", "env", "is_refused"),
    [
        ({"keys": ("PROG_KEY",), "says_no_login": False}, [], True),
        ({"keys": ("PROG_KEY",), "says_no_login": True}, [], False),
        ({"keys": ("PROG_KEY",), "says_no_login": False}, ["ANY"], False),
        ({"keys": ("PATH",), "says_no_login": False}, [], False),
        ({"says_no_login": False}, [], False),
    ],
)
def test_a_missing_login_is_found_before_the_program_starts(inside, needs, env, is_refused):
    with admitted(Agent(**needs), inside, AgentSettings(env=env)) as admission:
        assert isinstance(admission, NoAnswer) == is_refused
        if is_refused:
            assert admission == NoAnswer(Reason.NOT_LOGGED_IN, "prog is not logged in; run `prog login`")


def test_credentials_are_lent_for_the_turn_and_taken_back(inside, tmp_path):
    login = tmp_path / "user" / ".prog" / "auth.json"
    login.parent.mkdir()
    login.write_text(json.dumps({"token": "first-token-that-is-long-enough-0123456789"}))
    agent = Agent(credentials=(Credential(".prog", "auth.json"),), variables=("V",), hosts=(MODEL,))
    with admitted(agent, inside, AgentSettings(env=["A"], hosts=["127.0.0.1:11434"])) as admission:
        assert (admission.variables, admission.addresses) == (("A", "V"), (MODEL, LOCAL))
        assert admission.home == inside.open_home("ann")
        assert admission.program.shown_version == "1.2.3"
        view = admission.turn_sandbox.sandbox.view
        assert view.agent_home == admission.home
        assert view.programs == (*admission.program.parts, *ours(view))
        copy = admission.home / "auth.json"
        assert "first-token" in copy.read_text()
        copy.write_text(json.dumps({"token": TOKEN}))
        admission.learn()
        assert TOKEN not in inside.redactor.clean(f"use {TOKEN}").text
        admission.learn()
    assert not copy.exists()
    assert TOKEN in login.read_text(), "a refreshed token comes back"


def test_an_address_from_the_environment_replaces_the_default(inside):
    caller = {**inside.environment.caller, "BASE_URL": "http://127.0.0.1:11434/v1"}
    agent = Agent(hosts=(MODEL,), address_variables=("BASE_URL",))
    with admitted(agent, replace(inside, environment=Environment(caller, ("PATH",))), AgentSettings()) as admission:
        assert admission.addresses == (LOCAL,)


class Mounting(Unconfined):
    """An isolation that can mount; `works` tells whether it closes the network."""

    name = "mounting"
    mounts = True

    def __init__(self, *, works=True):
        self.works, self.launched = works, []

    def launch(self, view, argv, *, cwd, env, network):
        self.launched.append((view, argv, cwd, network))
        said = ("echo", "own network" if self.works else "no")
        return super().launch(view, argv if network else said, cwd=cwd, env=env, network=network)


@pytest.fixture(autouse=True)
def _nothing_is_known(monkeypatch):
    monkeypatch.setattr(probe, "_OWN_NETWORK", set())


def with_isolation(turn_sandbox, isolation):
    return replace(turn_sandbox, sandbox=replace(turn_sandbox.sandbox, isolation=isolation))


ONLY = NetworkAccess("only model.example:443, 127.0.0.1:11434", network=False, addresses=(MODEL, LOCAL))
OPEN, CLOSED = NetworkAccess("open", network=True), NetworkAccess("closed", network=False)
UNKNOWN = "open: the model's address is unknown; set agents.ann.hosts to allow only that address"
PROGRAM = SimpleNamespace()


@pytest.mark.parametrize(
    ("setting", "may_use_web", "addresses", "program", "isolation", "expected"),
    [
        ("never", True, (MODEL, LOCAL), PROGRAM, Mounting(), CLOSED),
        ("research", True, (MODEL, LOCAL), PROGRAM, Mounting(), OPEN),
        ("research", False, (MODEL, LOCAL), PROGRAM, Mounting(), CLOSED),
        ("always", False, (MODEL, LOCAL), PROGRAM, Mounting(), OPEN),
        ("model", False, (MODEL, LOCAL), PROGRAM, Mounting(), ONLY),
        ("model", False, (MODEL, LOCAL), None, Mounting(), ONLY),
        ("model", True, (MODEL, LOCAL), PROGRAM, Mounting(works=False), OPEN),
        ("model", True, (MODEL, LOCAL), PROGRAM, Unconfined(), OPEN),
        ("model", True, (), PROGRAM, Mounting(), NetworkAccess(UNKNOWN, network=True)),
        ("model", True, (), None, Mounting(), OPEN),
    ],
)
def test_the_network_is_as_closed_as_possible(inside, setting, may_use_web, addresses, program, isolation, expected):
    admission = Admission(with_isolation(inside, isolation), (), addresses, program)
    assert way_out("ann", admission, AgentSettings(network=setting), may_use_web=may_use_web) == expected


ENV, ARGV = {"PATH": "/bin", "HTTP_PROXY": "theirs"}, ("prog", "x")


def test_without_addresses_the_command_stays_as_it_is(tmp_path):
    with forwarded(OPEN, tmp_path, ARGV, ENV, {}) as (command, env, proxy):
        assert (command, env, proxy) == (ARGV, ENV, None)


@pytest.mark.parametrize(
    ("addresses", "listen", "ports", "goes_straight"),
    [
        ((MODEL,), "3128", "", True),
        ((LOCAL, MODEL), "3128", "11434", True),
        ((Address("127.0.0.1", 3128), LOCAL), "3129", "3128,11434", True),
        ((Address("127.0.0.1", 80), LOCAL), "3128", "11434", False),
        ((Address("127.0.0.1", 1023),), "3128", "", False),
        ((Address("127.0.0.1", 1024),), "3128", "1024", True),
        ((Address("127.0.0.2", 80),), "3128", "", True),
    ],
)
def test_a_command_reaches_its_addresses_through_the_forwarder(tmp_path, addresses, listen, ports, goes_straight):
    way = NetworkAccess("only", network=False, addresses=addresses)
    with forwarded(way, tmp_path, ARGV, ENV, {}) as (command, env, proxy):
        assert command[1:4] == ("-I", "-S", "-c")
        assert Path(command[0]).name.startswith("python")
        assert command[4] == Path(forwarder.__file__).read_text(encoding="utf-8")
        assert command[5:] == (str(tmp_path), listen, ports, *ARGV)
        url = f"http://127.0.0.1:{listen}"
        names = dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"), url)
        straight = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost") if goes_straight else {}
        assert env == {"PATH": "/bin", **names, **straight, "NODE_USE_ENV_PROXY": "1"}
        assert (tmp_path / forwarder.SOCKET).is_socket()
        assert proxy._policy.allowed == frozenset(addresses)
    assert proxy._closing.is_set()


def test_the_proxy_of_the_user_is_that_of_the_caller(tmp_path):
    way = NetworkAccess("only", network=False, addresses=(MODEL,))
    with forwarded(way, tmp_path, ARGV, ENV, {"HTTPS_PROXY": "http://gate.example:8080"}) as (_, _, proxy):
        assert proxy._policy.user_proxy.address == Address("gate.example", 8080)


def test_the_proxy_ends_with_the_block_even_after_an_error(tmp_path):
    way = NetworkAccess("only", network=False, addresses=(MODEL,))
    with pytest.raises(ValueError, match="x"), forwarded(way, tmp_path, ARGV, ENV, {}) as (_, _, proxy):
        raise ValueError("x")
    assert proxy._closing.is_set()
