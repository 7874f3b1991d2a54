"""What a run is told: the plan, the sandbox, the limits; and what it works with."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import msgspec

from loopwright.errors import LoopwrightError
from loopwright.evidence.model import Evidence, ReplanTurn
from loopwright.evidence.store import RunOrigin, RunStore
from loopwright.kernel.clock import Clock
from loopwright.kernel.process import Freezer
from loopwright.plan.model import Plan
from loopwright.redaction.redactor import Redactor
from loopwright.runner.model import Environment, Failure, RunLimits
from loopwright.sandbox.port import Changes, Isolation, Sandbox, SandboxRequest


class SandboxOptions(msgspec.Struct, frozen=True):
    """Where steps run: which sandbox, how confined, by which shell, for how long."""

    sandbox: SandboxRequest
    isolation: str
    setup: tuple[str, ...]
    keep: bool
    limits: RunLimits
    shell: str
    freezer: Freezer | None = None


class RunRequest(msgspec.Struct, frozen=True):
    """What to run and where; an error in either's place is why that can't be, and the run records it."""

    plan_name: str
    plan: bytes | LoopwrightError
    sandbox_options: SandboxOptions | LoopwrightError
    environment: Environment
    origin: RunOrigin = RunOrigin()
    run_id: str | None = None
    observer: Observer | None = None
    # What was paid for its plan.
    replanning: tuple[ReplanTurn, ...] = ()

    @property
    def stop_at_failure(self) -> bool:
        """A rerun and a loop's run go on, so that all failures are known."""
        return self.origin.kind == "run"


class Observer(Protocol):
    """Looks at a run's sandbox while it is there."""

    def before_steps(self, sandbox: Sandbox) -> None:
        """It is open, and nothing has run in it yet."""
        ...

    def after_steps(self, sandbox: Sandbox) -> Changes | None:
        """Nothing runs in the sandbox any more. Return what changed, if the observer asked the recorder for that."""
        ...


class Tools(msgspec.Struct, frozen=True):
    """What a run works with."""

    store: RunStore
    redactor: Redactor
    isolations: tuple[Isolation, ...]
    clock: Clock
    relaxed_rules: dict[str, str] = msgspec.field(default_factory=dict)


class Finished(msgspec.Struct, frozen=True):
    """A run that is over: its published evidence, where it is, and what went wrong, if anything did."""

    evidence: Evidence
    folder: Path
    failure: Failure | None
    plan: Plan | None
