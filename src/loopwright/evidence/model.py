"""What a run records: facts with digests. Text from outside is stored only as `Redacted`."""

from __future__ import annotations

from typing import ClassVar, Final, Literal

import msgspec

from loopwright.redaction.model import Redacted

# v2 has results per test. Records of both versions verify for ever.
Schema = Literal["loopwright.evidence.v1", "loopwright.evidence.v2"]
SCHEMA: Final = "loopwright.evidence.v1"
SCHEMA_WITH_TESTS: Final = "loopwright.evidence.v2"
StepOutcome = Literal["passed", "failed", "cancelled", "skipped"]
CheckOutcome = Literal["passed", "failed", "declared", "not_run"]
RunKind = Literal["run", "rerun", "loop", "workflow"]
SetOrNot = Literal["<SET>", "<UNSET>"]
# Exit codes of a shell for a program that can't be started, and for a program that a signal ended.
_NOT_STARTED = (126, 127)
_SIGNALS = range(129, 193)
# Exit codes of runners that found no test to run: 0, or 5 of pytest and of newer versions of unittest.
_WITHOUT_FAILURE = frozenset({0, 5})
# The names of steps that set the sandbox up begin with this.
_SETUP = "+"


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Strict and immutable."""


class CommandRecord(_Record, frozen=True, kw_only=True):
    """One command that ran."""

    command: Redacted
    exit_code: int
    ending: Literal["exited", "timed_out", "cancelled"]
    duration_s: float
    log: str
    log_sha256: str
    log_bytes: int

    @property
    def came_to_its_end(self) -> bool:
        """Whether the command ended by itself: it could be started, had time, and no signal ended it."""
        code = self.exit_code
        return self.ending == "exited" and code >= 0 and code not in _NOT_STARTED and code not in _SIGNALS


class CheckRecord(_Record, frozen=True, kw_only=True):
    """One verification item and its outcome."""

    kind: str
    expected: Redacted
    outcome: CheckOutcome
    detail: Redacted


class TestRecord(_Record, frozen=True, kw_only=True):
    """One test of a step that judges: its id, and its status."""

    # pytest would collect every class of this name.
    __test__: ClassVar[bool] = False

    id: Redacted
    status: str


class StepRecord(_Record, frozen=True, kw_only=True, omit_defaults=True):
    """One step: its commands, checks and outcome; the results per test, if the step judges work."""

    id: str
    action: Redacted
    outcome: StepOutcome
    cwd: Redacted
    depends_on: list[str]
    network: bool
    duration_s: float
    commands: list[CommandRecord]
    checks: list[CheckRecord]
    reason: Redacted
    tests: list[TestRecord] = []
    # Why the results may be incomplete, and the runners that reported, with their versions.
    gaps: list[Redacted] = []
    runners: list[Redacted] = []
    # What the tests changed in the state of their processes; None if no runner told.
    state: list[Redacted] | None = None
    # Reporters that the command can't stand, if they are not the usual ones.
    left_out: list[str] = []

    @property
    def came_to_its_end(self) -> bool:
        """Whether all commands of the step ended by themselves."""
        return bool(self.commands) and all(command.came_to_its_end for command in self.commands)

    @property
    def ran_no_test(self) -> bool:
        """Whether a runner came to its end without any test."""
        has_ended = self.came_to_its_end and not self.gaps
        codes = {command.exit_code for command in self.commands}
        return has_ended and bool(self.runners) and not self.tests and codes <= _WITHOUT_FAILURE

    @property
    def timed_out(self) -> bool:
        """Whether a command of the step was ended because its time was over."""
        return any(command.ending == "timed_out" for command in self.commands)


class BaseRecord(_Record, frozen=True, kw_only=True):
    """What the sandbox started from."""

    commit: str | None
    tree: str
    is_commit: bool


class SandboxRecord(_Record, frozen=True, kw_only=True):
    """How the sandbox was created."""

    mode: Literal["worktree", "copy"]
    notes: list[Redacted]
    left_out: list[Redacted]
    provided: list[str]


class IsolationRecord(_Record, frozen=True, kw_only=True):
    """The run's isolation, as measured by escape attempts."""

    requested: str
    used: str
    writes_confined: bool
    home_hidden: bool
    network: str
    processes: str
    why: Redacted


class FindingRecord(_Record, frozen=True, kw_only=True):
    """A secret that was found: its location, never its value."""

    rule: str
    source: Redacted
    line: int
    fingerprint: str
    action: str


class PreviousRun(_Record, frozen=True, kw_only=True):
    """The previous run."""

    run_id: str
    evidence_sha256: str


class ReplanTurn(_Record, frozen=True, kw_only=True):
    """One agent turn that asked for a new plan, and its cost; None if the cost was not reported.

    `turn` is the folder of the turn; `attempt` is the number of the attempt to get a new plan.
    """

    agent: str
    attempt: int
    turn: str
    failure: str | None
    usd: float | None
    tokens: int | None
    worked_s: float


class ScopeRecord(_Record, frozen=True, kw_only=True, omit_defaults=True):
    """Which files the judged work may change, as patterns; `planned` are those of a plan.

    `granted` are those that a person allowed in addition. `scripts` are files whose exit code decides; in records
    without them they are a part of `protect`.
    """

    source: list[Redacted]
    tests: list[Redacted]
    docs: list[Redacted]
    protect: list[Redacted]
    planned: list[Redacted] | None
    granted: list[Redacted] = []
    scripts: list[Redacted] = []


class Evidence(_Record, frozen=True, kw_only=True, omit_defaults=True):
    """The complete record of a run."""

    schema: Schema
    run_id: str
    kind: RunKind
    rerun_of: str | None
    tool_version: str
    status: Literal["OK", "ERROR"]
    error_code: str | None
    message: Redacted
    goal: Redacted
    plan_source_hash: str | None
    started_at: str
    finished_at: str
    duration_s: float
    base: BaseRecord | None
    sandbox: SandboxRecord | None
    isolation: IsolationRecord | None
    env_status: dict[str, SetOrNot]
    relaxed_rules: dict[str, str]
    findings: list[FindingRecord]
    steps: list[StepRecord]
    result_tree: str | None
    changed_files: list[Redacted]
    patch_sha256: str | None
    files: dict[str, str]
    previous: PreviousRun | None
    loop_id: str | None = None
    workflow: str | None = None
    # The turns since the previous run that asked for a new plan; the last one may have made this run's plan.
    replanning: list[ReplanTurn] = []
    # What the results depend on: a later run with the same digest need not be repeated. Empty: nothing is known.
    result_key: str = ""
    # The run on the base with which this run is compared; it may have been made for other work.
    base_run: str | None = None
    scope: ScopeRecord | None = None
    # What was altered for this run, if the run only shows that other runs can fail.
    control: str = ""

    @property
    def steps_of_plan(self) -> list[StepRecord]:
        """The steps without the set-up of the sandbox."""
        return [step for step in self.steps if not step.id.startswith(_SETUP)]
