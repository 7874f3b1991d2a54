"""Whether a command can have a network of its own is tried, not assumed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from loopwright.sandbox import probe
from loopwright.sandbox.bubblewrap import Bubblewrap
from loopwright.sandbox.landlock import Landlock
from loopwright.sandbox.model import SandboxFolders, SandboxView
from loopwright.sandbox.probe import can_have_own_network
from loopwright.sandbox.unconfined import Unconfined

ENV = {"PATH": os.environ["PATH"], "HOME": "/nowhere"}


@pytest.fixture
def view(tmp_path, monkeypatch):
    monkeypatch.setattr(probe, "_OWN_NETWORK", set())
    place = SandboxFolders(tmp_path / "place")
    for folder in (place.repo, place.tmp, place.home):
        folder.mkdir(parents=True)
    (tmp_path / "project").mkdir()
    return SandboxView(place, tmp_path / "project", tmp_path, agent_home=Path("/home"), programs=(Path("/bin"),))


class Noted(Unconfined):
    """Notes how a command was started; it says that the command has its own network, or nothing."""

    def __init__(self, name, said):
        self.name, self.said, self.launched = name, said, []

    def launch(self, view, argv, *, cwd, env, network):
        self.launched.append((view.agent_home, view.programs, cwd, network))
        return super().launch(view, ("echo", self.said), cwd=cwd, env=env, network=network)


def test_a_success_is_tried_once_in_the_plain_sandbox_and_a_failure_each_time(view):
    works, fails = Noted("works", "own network"), Noted("fails", "")
    assert [can_have_own_network(works, view, ENV) for _ in range(2)] == [True, True]
    assert [can_have_own_network(fails, view, ENV) for _ in range(2)] == [False, False]
    assert works.launched == [(None, (Path(sys.base_prefix),), view.place.repo, False)]
    assert len(fails.launched) == 2


def test_a_command_that_reaches_the_servers_of_the_machine_has_no_network_of_its_own(view):
    assert not can_have_own_network(Unconfined(), view, ENV)


@pytest.mark.parametrize("isolation", [pytest.param(Bubblewrap(), marks=pytest.mark.needs("bwrap")), Landlock()])
def test_both_isolations_give_a_command_a_loopback_of_its_own(view, isolation):
    if reason := isolation.missing():
        pytest.skip(f"needs Landlock: {reason}")
    assert can_have_own_network(isolation, view, ENV)
