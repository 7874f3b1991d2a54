"""A step's time limit counts the time that its commands work, not the time that somebody holds them still."""

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
from loopwright.runner.model import Environment, Limits
from loopwright.runner.run_step import Bench, run_step
from loopwright.sandbox.model import Place, View
from loopwright.sandbox.unconfined import Unconfined

LIMIT_S = 4.0


@pytest.fixture
def begun():
    """Set once the step's first command begins."""
    return threading.Event()


@pytest.fixture
def bench(tmp_path, begun):
    place = Place(tmp_path / "sandboxes" / "one")
    for folder in (place.repo, place.tmp, place.home, tmp_path / "run" / "logs"):
        folder.mkdir(parents=True)
    return Bench(
        folder=RunFolder("r", tmp_path / "run", HeldLock(os.open(os.devnull, os.O_RDONLY)), tmp_path / "lock"),
        place=place,
        view=View(place, tmp_path / "project", tmp_path / "sandboxes"),
        isolation=Unconfined(),
        environment=Environment({"PATH": os.environ["PATH"]}, ("PATH",)),
        shell="bash",
        network_open=True,
        limits=Limits(LIMIT_S, 1, 1 << 20),
        redactor=Redactor(Detector((), {}), {}),
        emitter=Emitter(lambda event: begun.set() if isinstance(event, CommandStarted) else None),
        cancellation=Cancellation(),
        freezer=Freezer(),
    )


def test_a_pause_during_one_command_takes_nothing_from_the_next(bench, begun):
    step = Step("A", "two commands", ("until [ -e go ]; do sleep 0.01; done", "sleep 0.5; echo over"))
    records = []
    thread = threading.Thread(target=lambda: records.append(run_step(bench, step)))
    thread.start()
    assert begun.wait(20)
    bench.freezer.freeze()
    assert bench.freezer.settled(20)
    held_since = time.monotonic()
    process.capture(("sleep", str(LIMIT_S + 1)), cwd=bench.place.repo, env={"PATH": os.environ["PATH"]})
    held_s = time.monotonic() - held_since
    (bench.place.repo / "go").touch()
    bench.freezer.thaw()
    thread.join(60)
    (record,) = records
    assert (record.outcome, [command.exit_code for command in record.commands]) == ("passed", [0, 0])
    assert held_s > LIMIT_S > record.duration_s
