"""Isolation that leaves the person's session reachable: no unattended work, and attended work only if accepted."""

from __future__ import annotations

import json

import pexpect
import pytest

from loopwright.errors import IsolationTooWeak
from loopwright.sandbox.confine import require_strong
from loopwright.sandbox.model import Confinement

# A command is an agent: it may ask a model.
SETTINGS = (
    '[loop]\ntest_command = "true"\n[agents]\ndefault = "own"\n[agents.own]\nkind = "command"\n'
    'command = "echo done > work; echo done > $LOOPWRIGHT_ANSWER"\n[sandbox]\nisolation = "none"\n'
)


@pytest.fixture
def weak(project):
    """A project in which nothing isolates an agent."""
    project.write(".loopwright/config.toml", SETTINGS)
    return project


def new(project):
    return project.run("loop", "new", "goal", "--task", "t", "--json").json()["loop_id"]


def in_terminal(project, *arguments):
    """A command that a person watches."""
    argv = project.command(*arguments)
    environment = {**project.environment, "TERM": "dumb"}
    return pexpect.spawn(argv[0], list(argv[1:]), cwd=str(project.root), env=environment, encoding="utf-8")


def finish(child):
    child.expect(pexpect.EOF)
    child.wait()
    return child.exitstatus, child.before


def test_an_agent_does_not_work_unattended_and_the_loop_says_why(weak):
    weak.environment["LOOPWRIGHT_SANDBOX_ALLOW_WEAK"] = "true"
    loop_id = new(weak)
    assert weak.run("loop", "start", loop_id).exit_code == 11
    (hold,) = weak.run("loop", "show", loop_id, "--json").json()["loopwright"]["holds"]
    assert (hold["holder"], hold["code"]) == ("blocker", "isolation_too_weak")
    assert "local sockets, abstract sockets, the keyring, shared memory, processes" in hold["message"]
    asked = weak.run("loop", "task", "generate", loop_id, "--json")
    assert (asked.exit_code, json.loads(asked.stderr)["error"]) == (1, "isolation_too_weak")


def test_a_person_who_watches_may_accept_weak_isolation_and_the_loop_says_so(weak):
    loop_id = new(weak)
    code, said = finish(in_terminal(weak, "loop", "start", loop_id))
    assert code != 11, said
    history = (weak.own / "loops" / f"{loop_id}.events.ndjson").read_text()
    assert "not isolated: not requested" in history


@pytest.mark.parametrize("is_accepted", [True, False])
def test_init_asks_once_if_the_isolation_is_weak(project, is_accepted):
    project.environment["LOOPWRIGHT_SANDBOX_ISOLATION"] = "none"
    child = in_terminal(project, "init")
    child.expect("while you watch in a terminal")
    child.sendline("y" if is_accepted else "n")
    assert finish(child)[0] == 0
    assert ("allow_weak = true" in (project.own / "config.toml").read_text()) is is_accepted
    assert project.run("settings").exit_code == 0
    again = in_terminal(project, "init")
    assert "while you watch" not in finish(again)[1]


def test_status_says_that_weak_isolation_is_allowed(project):
    project.run("clarify", "greet", "--idea", "a greeting")
    assert "weak_isolation" not in project.ask("status", "greet")
    project.environment["LOOPWRIGHT_SANDBOX_ALLOW_WEAK"] = "true"
    assert project.ask("status", "greet")["weak_isolation"].startswith("sandbox.allow_weak is set")
    assert "! sandbox.allow_weak is set" in project.run("status", "greet").stdout


def confinement(**more):
    return Confinement(
        requested="auto", used="landlock", writes_confined=True, home_hidden=True, network="open", processes="x", **more
    )


def test_isolation_counts_as_weak_only_for_what_was_reached_and_not_accepted():
    require_strong(confinement())
    require_strong(confinement(reachable=("the keyring",), is_accepted=True))
    with pytest.raises(IsolationTooWeak, match="it could reach the keyring of your session"):
        require_strong(confinement(reachable=("the keyring",)))
