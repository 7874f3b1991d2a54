"""What a run is asked to do, what it works with, and what it reports."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from loopwright.errors import LoopwrightError
from loopwright.evidence.model import Evidence, ReplanTurn, StepRecord
from loopwright.evidence.store import RunOrigin, RunStore
from loopwright.judging.reports.model import TestResult
from loopwright.judging.scope import WorkScope
from loopwright.kernel.clock import Clock
from loopwright.kernel.process import Freezer
from loopwright.plan.model import Plan
from loopwright.redaction.model import Redacted
from loopwright.redaction.redactor import Redactor
from loopwright.sandbox.port import Changes, Isolation, Sandbox, SandboxRequest


class Failure(msgspec.Struct, frozen=True):
    """Why a run failed: a stable code, a message, a hint, and where it happened."""

    code: str
    message: Redacted
    hint: str
    step: str | None = None
    command: Redacted | None = None
    exit_code: int | None = None
    log_tail: Redacted | None = None
    log_end: Redacted | None = None
    signal: str | None = None


class RunLimits(msgspec.Struct, frozen=True):
    """The limits of a run: time, parallel jobs, log size."""

    timeout_s: float
    jobs: int
    log_bytes: int


class Environment(msgspec.Struct, frozen=True):
    """The caller's variables, and which of them steps may see."""

    caller: Mapping[str, str]
    allowed: tuple[str, ...]

    def for_step(self, names: tuple[str, ...]) -> dict[str, str]:
        """The variables of a step's or an agent's processes; all others are dropped.

        `CI` is set in every sandbox: without it, a test runner's first run may write the snapshots that it compares.
        """
        return {"CI": "1"} | {name: self.caller[name] for name in (*self.allowed, *names) if name in self.caller}


class SandboxOptions(msgspec.Struct, frozen=True):
    """Where and how steps run: sandbox, isolation, shell, limits."""

    sandbox: SandboxRequest
    isolation: str
    setup: tuple[str, ...]
    keep: bool
    limits: RunLimits
    shell: str
    freezer: Freezer | None = None
    # Whether commands have no network unless a step says so, as in the runs that judge work.
    closes_network: bool = False


class RunRequest(msgspec.Struct, frozen=True):
    """What to run and where. An error in place of the plan or the sandbox is recorded as the run's failure."""

    plan_name: str
    plan: bytes | LoopwrightError
    sandbox_options: SandboxOptions | LoopwrightError
    environment: Environment
    origin: RunOrigin = RunOrigin()
    run_id: str | None = None
    observer: Observer | None = None
    # What the results depend on apart from the tree: see `result_key`. Empty: the results are not used again.
    results_depend_on: str = ""
    # The scope of the work that the run judges.
    scope: WorkScope | None = None
    # The name of the control, if tests or source are altered for the run.
    control: str = ""
    # The turns that were paid for the plan.
    replanning: tuple[ReplanTurn, ...] = ()

    @property
    def stop_at_failure(self) -> bool:
        """Whether the first failure ends the run. A rerun and a loop's run continue, to find all failures."""
        return self.origin.kind == "run"


class Observer(Protocol):
    """Looks at a run's sandbox while the sandbox exists."""

    def before_steps(self, sandbox: Sandbox) -> None:
        """The sandbox is open, and nothing has run in it yet."""
        ...

    def before_step(self, sandbox: Sandbox, step: str) -> None:
        """A step is about to run."""
        del sandbox, step

    def place_files(self, sandbox: Sandbox) -> None:
        """Put every file in place that any step needs: another observer is about to alter it."""
        del sandbox

    def variables(self, step: str, environment: Mapping[str, str]) -> Mapping[str, str]:
        """Variables that a command of a step gets in addition, given all others. `TMPDIR` is the path inside."""
        del step, environment
        return {}

    def after_step(self, sandbox: Sandbox, record: StepRecord, folder: Path) -> StepRecord:
        """A step has ended; its logs are in this folder. Returns the record, with results per test if there are any."""
        del sandbox, folder
        return record

    def results_of_step(self, sandbox: Sandbox) -> tuple[TestResult, ...]:
        """A step has ended. Returns results that no report of a test runner has."""
        del sandbox
        return ()

    def after_steps(self, sandbox: Sandbox) -> Changes | None:
        """All steps have ended. Returns the changes, if the observer asked the recorder for them."""
        del sandbox
        return None


class Tools(msgspec.Struct, frozen=True):
    """What a run works with."""

    store: RunStore
    redactor: Redactor
    isolations: tuple[Isolation, ...]
    clock: Clock
    relaxed_rules: dict[str, str] = msgspec.field(default_factory=dict)


class Finished(msgspec.Struct, frozen=True):
    """A run that is over: its published evidence, its folder, and its failure, if any."""

    evidence: Evidence
    folder: Path
    failure: Failure | None
    plan: Plan | None
