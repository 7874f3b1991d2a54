"""A measurement of the isolation counts again only for the runs of one judging."""

from __future__ import annotations

import pytest

from loopwright.kernel.process import Lockdown
from loopwright.sandbox import confine, machine_view, session_attempts
from loopwright.sandbox.model import SandboxFolders, SandboxView
from loopwright.sandbox.port import Launch
from loopwright.sandbox.unconfined import Unconfined


class Counted:
    """Isolation that says what it is told to say, and counts the attempts."""

    name, mounts = "counted", False

    def __init__(self, *words):
        self.words, self.attempts = words, 0

    def missing(self):
        return None

    def launch(self, view, argv, *, cwd, env, network):
        # Whether a judge can have its own network is another question.
        self.attempts += argv[0] == "/bin/sh"
        return Launch(("echo", *self.words), cwd, {**env}, wrapped=False, lockdown=Lockdown.KEYS)


@pytest.fixture
def view(tmp_path, monkeypatch):
    # Other programs of this machine open and close sockets.
    monkeypatch.setattr(machine_view, "local_sockets", lambda: ())
    place = SandboxFolders(tmp_path / "place")
    place.repo.mkdir(parents=True)
    return SandboxView(place, tmp_path / "project", tmp_path)


def chosen(isolation, view, *, requested="auto", is_judge=True, **more):
    env = {"HOME": str(view.project), "PATH": "/usr/bin:/bin", **more}
    return confine.choose(requested, (isolation, Unconfined()), view, "/bin/sh", env, is_judge=is_judge)[1]


def test_the_runs_of_a_judge_share_a_measurement_while_nothing_changes(view, monkeypatch):
    isolation = Counted("started", session_attempts.DONE)
    assert chosen(isolation, view) == chosen(isolation, view)
    assert isolation.attempts == 1
    chosen(isolation, view, LANG="C")
    assert isolation.attempts == 2, "another environment"
    chosen(isolation, view, requested="strict")
    assert isolation.attempts == 3, "another level"
    monkeypatch.setattr(machine_view, "local_sockets", lambda: (view.project / "new",))
    chosen(isolation, view)
    assert isolation.attempts == 4, "a new socket that could be reached"
    monkeypatch.setattr(confine, "_LONGEST_S", -1.0)
    chosen(isolation, view)
    assert isolation.attempts == 5, "too old"


def test_the_sandbox_of_an_agent_is_always_measured_and_makes_earlier_measurements_void(view):
    isolation = Counted("started", session_attempts.DONE)
    for number, is_judge in enumerate((True, False, False, True), start=1):
        chosen(isolation, view, is_judge=is_judge)
        assert isolation.attempts == number
    chosen(isolation, view)
    assert isolation.attempts == 4


def test_isolation_that_did_not_hold_is_measured_again(view):
    isolation = Counted("started", "home", session_attempts.DONE)
    assert [chosen(isolation, view).used for _ in range(2)] == ["none", "none"]
    assert isolation.attempts == 2
