"""Which reporters are left out, given the runs on the base so far."""

from __future__ import annotations

import pytest

from loopwright.judging.runners.table import ALL, FALLBACKS
from loopwright.judging.runners.trials import Choice, Trial, choose

NO_NODE = FALLBACKS | {"node-test"}
DIED = "TypeError: --test-reporter-destination must match"
PYTEST_SAID = "...\n3 passed in 0.12s"


def trial(without, *, ok=False, failures=False, report=None, output=""):
    has_report = failures if report is None else report
    return Trial(without=without, exited_with_0=ok, has_report=has_report, has_failures=failures, output=output)


def settle(command):
    """The choice, and the runs on the way there. `command` gives the trial for what is left out."""
    trials = []
    while not (choice := choose(trials)).is_settled:
        assert choice.without not in {one.without for one in trials}, "no run is repeated"
        trials.append(command(choice.without))
    return choice.without, len(trials)


@pytest.mark.parametrize(
    ("command", "expected", "runs"),
    [
        (lambda without: trial(without, ok=True, report=True), FALLBACKS, 1),
        (lambda without: trial(without, failures=True), FALLBACKS, 1),
        (lambda without: trial(without, ok=True, output="checked"), FALLBACKS, 1),
        (lambda without: trial(without, output="make: error 1 at 0x7f"), FALLBACKS, 2),
        (
            lambda without: trial(without, output=f"no file /tmp/{len(without):012x}/tmpa{len(without)}b/x"),
            FALLBACKS,
            2,
        ),
        (lambda without: trial(without, ok="node-test" in without, output=DIED), NO_NODE, 5),
        (lambda without: trial(without, output="not ok 1" if "node-test" in without else DIED), NO_NODE, 5),
        (lambda without: trial(without, ok=without == ALL, output="broken"), ALL, 8),
        (
            lambda without: trial(without, ok=True, report="pytest-junit" not in without, output=PYTEST_SAID),
            frozenset(),
            2,
        ),
        (lambda without: trial(without, ok=True, report=False, output=PYTEST_SAID), FALLBACKS, 2),
    ],
    ids=[
        "passes",
        "fails with a failed test",
        "reports nothing and passes",
        "fails for a reason of its own",
        "fails and names its sandbox",
        "one reporter breaks it",
        "one reporter breaks it and it fails anyway",
        "any reporter breaks it",
        "pytest without our plugin",
        "pytest without any report",
    ],
)
def test_the_base_settles_the_reporters(command, expected, runs):
    assert settle(command) == (expected, runs)


def test_the_first_run_has_every_reporter_but_the_fallbacks():
    assert choose(()) == Choice(FALLBACKS, is_settled=False)
