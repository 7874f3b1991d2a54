"""A step's time limit counts the time that its commands run, not the time that they are paused."""

from __future__ import annotations

import os
import threading
import time

import pytest
from msgspec.structs import replace

from loopwright.kernel import process
from loopwright.plan.model import Step
from loopwright.runner.events import CommandStarted, Emitter
from loopwright.runner.request import RunLimits
from loopwright.runner.run_step import run_step

LIMIT_S = 4.0


@pytest.fixture
def begun():
    """Set once the step's first command begins."""
    return threading.Event()


@pytest.fixture
def timed(context, begun):
    """The context with this time limit."""
    emitter = Emitter(lambda event: begun.set() if isinstance(event, CommandStarted) else None)
    return replace(context, limits=RunLimits(LIMIT_S, 1, 1 << 20), emitter=emitter)


def test_a_pause_during_one_command_takes_nothing_from_the_next(timed, begun):
    step = Step("A", "two commands", ("until [ -e go ]; do sleep 0.01; done", "sleep 0.5; echo over"))
    records = []
    thread = threading.Thread(target=lambda: records.append(run_step(timed, step)))
    thread.start()
    assert begun.wait()
    timed.freezer.freeze()
    assert timed.freezer.settled(500)
    held_since = time.monotonic()
    process.capture(("sleep", str(LIMIT_S + 1)), cwd=timed.place.repo, env={"PATH": os.environ["PATH"]})
    held_s = time.monotonic() - held_since
    (timed.place.repo / "go").touch()
    timed.freezer.thaw()
    thread.join()
    (record,) = records
    assert (record.outcome, [command.exit_code for command in record.commands]) == ("passed", [0, 0])
    assert held_s > LIMIT_S > record.duration_s
