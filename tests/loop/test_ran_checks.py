"""Runs of checks count for the project's tests once each."""

from __future__ import annotations

from loopwright.loop.ran_checks import RanCheck, RanChecks
from loopwright.workspace.settings_model import TestCommand


def test_another_command_folder_network_and_other_reporters_need_a_run_of_their_own():
    ran = RanChecks((RanCheck("make test", "", False, frozenset()),))
    ran.add("tree", (), None)
    for command, without in (
        (TestCommand("make"), frozenset()),
        (TestCommand("make test", "api"), frozenset()),
        (TestCommand("make test", network=True), frozenset()),
        (TestCommand("make test"), frozenset({"pytest"})),
    ):
        assert ran.take("tree", (), (command,), without) is None
    assert ran._runs["tree", ()] == [None], "no request took the run"
    ran.take("tree", (), (TestCommand("make test"),), frozenset())
    assert ran._runs["tree", ()] == [], "a repeated run must be another run"
