"""A step's time limit counts the time that its commands run, not the time that they are paused."""

from __future__ import annotations

import os
import threading
import time

import pytest

from loopwright.evidence.store import RunFolder
from loopwright.kernel import process
from loopwright.kernel.locks import HeldLock
from loopwright.kernel.process import Cancellation, Freezer
from loopwright.plan.model import Step
from loopwright.redaction.detector import Detector
from loopwright.redaction.redactor import Redactor
from loopwright.runner.events import CommandStarted, Emitter
from loopwright.runner.request import Environment, RunLimits
from loopwright.runner.run_step import StepContext, run_step
from loopwright.sandbox.model import SandboxFolders, SandboxView
from loopwright.sandbox.unconfined import Unconfined

LIMIT_S = 4.0


@pytest.fixture
def begun():
    """Set once the step's first command begins."""
    return threading.Event()


@pytest.fixture
def context(tmp_path, begun):
    place = SandboxFolders(tmp_path / "sandboxes" / "one")
    for folder in (place.repo, place.tmp, place.home, tmp_path / "run" / "logs"):
        folder.mkdir(parents=True)
    return StepContext(
        folder=RunFolder("r", tmp_path / "run", HeldLock(os.open(os.devnull, os.O_RDONLY)), tmp_path / "lock"),
        place=place,
        view=SandboxView(place, tmp_path / "project", tmp_path / "sandboxes"),
        isolation=Unconfined(),
        environment=Environment({"PATH": os.environ["PATH"]}, ("PATH",)),
        shell="bash",
        network_open=True,
        limits=RunLimits(LIMIT_S, 1, 1 << 20),
        redactor=Redactor(Detector((), {}), {}),
        emitter=Emitter(lambda event: begun.set() if isinstance(event, CommandStarted) else None),
        cancellation=Cancellation(),
        freezer=Freezer(),
    )


def test_a_pause_during_one_command_takes_nothing_from_the_next(context, begun):
    step = Step("A", "two commands", ("until [ -e go ]; do sleep 0.01; done", "sleep 0.5; echo over"))
    records = []
    thread = threading.Thread(target=lambda: records.append(run_step(context, step)))
    thread.start()
    assert begun.wait()
    context.freezer.freeze()
    assert context.freezer.settled(500)
    held_since = time.monotonic()
    process.capture(("sleep", str(LIMIT_S + 1)), cwd=context.place.repo, env={"PATH": os.environ["PATH"]})
    held_s = time.monotonic() - held_since
    (context.place.repo / "go").touch()
    context.freezer.thaw()
    thread.join()
    (record,) = records
    assert (record.outcome, [command.exit_code for command in record.commands]) == ("passed", [0, 0])
    assert held_s > LIMIT_S > record.duration_s
