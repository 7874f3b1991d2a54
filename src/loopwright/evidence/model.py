"""What a run leaves: facts with digests. Text that came from outside is `Redacted`, or it is not here."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from loopwright.redaction.model import Redacted

SCHEMA: Final = "loopwright.evidence.v1"
StepOutcome = Literal["passed", "failed", "cancelled", "skipped"]
CheckOutcome = Literal["passed", "failed", "declared", "not_run"]
RunKind = Literal["run", "rerun", "loop", "workflow"]
SetOrNot = Literal["<SET>", "<UNSET>"]


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Strict and immutable."""


class CommandRecord(_Record, frozen=True, kw_only=True):
    """One command as it ran."""

    command: Redacted
    exit_code: int
    ending: Literal["exited", "timed_out", "cancelled"]
    duration_s: float
    log: str
    log_sha256: str
    log_bytes: int


class CheckRecord(_Record, frozen=True, kw_only=True):
    """One verification item and what came of it."""

    kind: str
    expected: Redacted
    outcome: CheckOutcome
    detail: Redacted


class StepRecord(_Record, frozen=True, kw_only=True):
    """One step: what ran and how it was judged."""

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


class BaseRecord(_Record, frozen=True, kw_only=True):
    """What the sandbox started from."""

    commit: str | None
    tree: str
    is_commit: bool


class SandboxRecord(_Record, frozen=True, kw_only=True):
    """How the sandbox was made."""

    mode: Literal["worktree", "copy"]
    notes: list[Redacted]
    left_out: list[Redacted]
    provided: list[str]


class IsolationRecord(_Record, frozen=True, kw_only=True):
    """What confinement the run had, found by trying to escape."""

    requested: str
    used: str
    writes_confined: bool
    home_hidden: bool
    network: str
    processes: str
    why: Redacted


class FindingRecord(_Record, frozen=True, kw_only=True):
    """A secret that was seen: where, never what."""

    rule: str
    source: Redacted
    line: int
    fingerprint: str
    action: str


class PreviousRun(_Record, frozen=True, kw_only=True):
    """The run before this one."""

    run_id: str
    evidence_sha256: str


class ReplanTurn(_Record, frozen=True, kw_only=True):
    """One turn of whoever was asked for a new plan, and what it cost; None is what nobody said.

    `turn` is its folder among the workspace's turns, `attempt` the how-manieth new plan was asked for.
    """

    agent: str
    attempt: int
    turn: str
    failure: str | None
    usd: float | None
    tokens: int | None
    worked_s: float


class Evidence(_Record, frozen=True, kw_only=True, omit_defaults=True):
    """A run's whole record."""

    schema: Literal["loopwright.evidence.v1"]
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
    # The turns since the run before this one that were paid for a new plan: this run's, where one gave it.
    replanning: list[ReplanTurn] = []
