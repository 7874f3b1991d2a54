"""The `*.latest.yaml` files: the result of the last run, and the blocker of the next run with what a failed step needs.

Only `loopwright run` writes them. Each file begins with its envelope. `loopwright explain needs` shows the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from loopwright.evidence.model import Evidence, ReplanTurn
from loopwright.evidence.store import EVIDENCE, PATCH, SUMMARY, redacted_to_text
from loopwright.kernel import codec
from loopwright.kernel.files import write_durably
from loopwright.redaction.model import Redacted
from loopwright.runner.request import Failure


class NeedRule(msgspec.Struct, frozen=True):
    """Words in a log, and what they indicate."""

    words: tuple[str, ...]
    needs: str
    reason: str


TABLE = (
    NeedRule(("not found", "no module", "import error"), "RESEARCH", "something that the step needs is missing"),
    NeedRule(("version", "incompatible"), "RESEARCH", "incompatible versions"),
    NeedRule(("assert", "expected", "test failed"), "REPLAN", "the result is not as expected"),
)
OTHERWISE = NeedRule((), "RESEARCH", "the log does not show the problem")


def needs_of(log: str) -> NeedRule:
    """The first rule with a word that the log contains. Case is ignored."""
    text = log.casefold()
    for row in TABLE:
        if any(word in text for word in row.words):
            return row
    return OTHERWISE


COMMAND = "reflectloop"
# The next command by error code. For all other codes, a person looks at the failure and unlatches.
NEXT_COMMANDS = {
    "MISSING_PLAN": "loopwright init && loopwright unlatch && loopwright run",
    "INTERRUPTED": "loopwright run",
    "ISOLATION_UNAVAILABLE": "loopwright doctor",
    "STORAGE_FAILED": "loopwright gc",
    "TOOL_MISSING": "loopwright doctor",
    "SANDBOX_CREATE_FAILED": "loopwright doctor",
}


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """The first fields of every latest file."""

    command: str
    timestamp: str
    status: str
    error_code: str | None
    # A caller names the plan, so its name may contain anything.
    missing_inputs: list[Redacted]
    artifacts_read: list[Redacted]
    artifacts_written: list[str]
    next: str | None


class StepLine(msgspec.Struct, frozen=True, kw_only=True):
    """A summary of one step."""

    id: str
    outcome: str
    exit_codes: list[int]
    duration_s: float
    verified: list[str]
    declared: list[Redacted]


class LatestResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a run."""

    envelope: Envelope
    run_id: str
    run_path: str
    plan_source_hash: str | None
    message: Redacted
    goal: Redacted
    mode: str | None
    isolation: str | None
    base_commit: str | None
    patch: str | None
    summary: str | None
    evidence: str
    env_status: dict[str, str]
    relaxed_rules: dict[str, str]
    findings: list[dict[str, str]]
    steps: list[StepLine]
    # Every turn for a new plan that the command paid for, including those that no later run mentions.
    replanning: list[ReplanTurn]


class LatestBlocker(msgspec.Struct, frozen=True, kw_only=True):
    """The blocker of the next run, for the next planner."""

    envelope: Envelope
    failed_step: str | None
    command: Redacted | None
    exit_code: int | None
    log_tail: Redacted
    needs: str
    needs_reason: str
    run_path: str
    plan_source_hash: str | None
    message: Redacted


def envelope_of(
    evidence: Evidence, failure: Failure | None, *, plan: Redacted | None, written: list[str], missing: bool
) -> Envelope:
    """The envelope for a run's end."""
    named = [] if plan is None else [plan]
    return Envelope(
        command=COMMAND,
        timestamp=evidence.finished_at,
        status="ERROR" if failure else "OK",
        error_code=failure.code if failure else None,
        missing_inputs=named if missing else [],
        artifacts_read=[] if missing else named,
        artifacts_written=written,
        next=NEXT_COMMANDS.get(failure.code, "loopwright unlatch") if failure else None,
    )


def write_result(
    path: Path,
    envelope: Envelope,
    evidence: Evidence,
    folder: Path,
    message: Redacted,
    replanning: Sequence[ReplanTurn] = (),
) -> None:
    """Replace the result file."""
    result = LatestResult(
        envelope=envelope,
        run_id=evidence.run_id,
        run_path=str(folder),
        plan_source_hash=evidence.plan_source_hash,
        message=message,
        goal=evidence.goal,
        mode=evidence.sandbox.mode if evidence.sandbox else None,
        isolation=evidence.isolation.used if evidence.isolation else None,
        base_commit=evidence.base.commit if evidence.base else None,
        patch=str(folder / PATCH) if evidence.patch_sha256 else None,
        summary=str(folder / SUMMARY) if SUMMARY in evidence.files else None,
        evidence=str(folder / EVIDENCE),
        env_status=dict(evidence.env_status),
        relaxed_rules=evidence.relaxed_rules,
        findings=[
            {
                "rule": f.rule,
                "file": f.source.text,
                "line": str(f.line),
                "fingerprint": f.fingerprint,
                "action": f.action,
            }
            for f in evidence.findings
        ],
        steps=[
            StepLine(
                id=step.id,
                outcome=step.outcome,
                exit_codes=[command.exit_code for command in step.commands],
                duration_s=step.duration_s,
                verified=[check.kind for check in step.checks if check.outcome == "passed"],
                declared=[check.expected for check in step.checks if check.outcome == "declared"],
            )
            for step in evidence.steps
        ],
        replanning=list(replanning),
    )
    write_durably(path, codec.to_yaml(result, redacted_to_text))


def write_blocker(path: Path, envelope: Envelope, evidence: Evidence, folder: Path, failure: Failure) -> LatestBlocker:
    """Replace the blocker file."""
    blocker = blocker_of(envelope, evidence, folder, failure)
    write_durably(path, codec.to_yaml(blocker, redacted_to_text))
    return blocker


def blocker_of(envelope: Envelope, evidence: Evidence, folder: Path, failure: Failure) -> LatestBlocker:
    """The blocker for a failure. The log decides what it needs."""
    tail = failure.log_tail or failure.message
    row = needs_of((failure.log_end or tail).text)
    return LatestBlocker(
        envelope=envelope,
        failed_step=failure.step,
        command=failure.command,
        exit_code=failure.exit_code,
        log_tail=tail,
        needs=row.needs,
        needs_reason=row.reason,
        run_path=str(folder),
        plan_source_hash=evidence.plan_source_hash,
        message=failure.message,
    )


def blocker_text(blocker: LatestBlocker) -> str:
    """The blocker as YAML, for a prompt."""
    return codec.to_yaml(blocker, redacted_to_text).decode()
