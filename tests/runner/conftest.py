"""A sandbox without isolation and a run's folder, for steps that run in the process of the test."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from loopwright.evidence.store import RunFolder
from loopwright.kernel.locks import HeldLock
from loopwright.kernel.process import Cancellation, Freezer
from loopwright.redaction.build import build_redactor
from loopwright.redaction.examples import expand
from loopwright.runner.events import Emitter
from loopwright.runner.request import Environment, RunLimits
from loopwright.runner.run_step import StepContext
from loopwright.runner.turn_sandbox import open_turn_sandbox
from loopwright.sandbox.model import Confinement, Mode, SandboxFolders, SandboxView
from loopwright.sandbox.port import Sandbox
from loopwright.sandbox.unconfined import Unconfined
from loopwright.workspace.settings_model import SecretsSettings

KEY = "pXq7Lm2Zt9Rb4Kc8Vn1"
STOPPING = expand("ghp_<alnum:36>", 7)


@pytest.fixture
def redactor():
    """A redactor that masks one value, KEY, and stops at tokens such as STOPPING."""
    return build_redactor(SecretsSettings(rules={"environment-value": "mask"}), {"FAKE_API_KEY": KEY})


@pytest.fixture
def cancellation():
    cancellation = Cancellation()
    yield cancellation
    cancellation.close()


@pytest.fixture
def events():
    """The events that the steps of `context` emit."""
    return []


@pytest.fixture
def context(tmp_path, redactor, cancellation, events):
    place = SandboxFolders(tmp_path / "sandboxes" / "one")
    for folder in (place.repo, place.tmp, place.home, tmp_path / "run" / "logs"):
        folder.mkdir(parents=True)
    lock = HeldLock(os.open(os.devnull, os.O_RDONLY))
    yield StepContext(
        folder=RunFolder("r", tmp_path / "run", lock, tmp_path / "lock"),
        place=place,
        view=SandboxView(place, tmp_path / "project", tmp_path / "sandboxes"),
        isolation=Unconfined(),
        environment=Environment({"PATH": os.environ["PATH"], "GIVEN": "1", "OTHER": "2"}, ("PATH",)),
        shell="bash",
        network_open=True,
        limits=RunLimits(60.0, 1, 1 << 20),
        redactor=redactor,
        emitter=Emitter(events.append),
        cancellation=cancellation,
        freezer=Freezer(),
    )
    lock.release()


class Recording(Unconfined):
    """Notes how programs are started."""

    def __init__(self):
        self.launched = []

    def launch(self, view, argv, *, cwd, env, network):
        self.launched.append((view, network))
        return super().launch(view, argv, cwd=cwd, env=env, network=network)


@pytest.fixture
def sandbox(tmp_path):
    place = SandboxFolders(tmp_path / "sandboxes" / "one")
    for folder in (place.repo, place.tmp, place.home):
        folder.mkdir(parents=True)
    view = SandboxView(place, tmp_path / "project", tmp_path / "sandboxes")
    confinement = Confinement("none", "none", writes_confined=False, home_hidden=False, network="open", processes="")
    return Sandbox(place, Mode.COPY, SimpleNamespace(), view, Recording(), confinement, ())


@pytest.fixture
def turn_sandbox(sandbox, redactor):
    environment = Environment({"PATH": os.environ["PATH"]}, ("PATH",))
    return open_turn_sandbox(sandbox, environment, redactor, 1 << 20, "the work", Freezer())
