"""`loopwright verify, rerun`: recompute recorded evidence, and repeat a recorded run."""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec

from loopwright.errors import EvidenceMismatch, UnknownRun
from loopwright.evidence.model import Evidence
from loopwright.evidence.store import BASE_PATCH, PLAN, RunOrigin
from loopwright.evidence.verify import Verdict, verify_all, verify_run
from loopwright.kernel.digest import sha256
from loopwright.kernel.process import Cancellation
from loopwright.runner.events import Emitter, Listener
from loopwright.runner.request import Failure, RunRequest
from loopwright.runner.run_plan import SETUP_STEP, announce_end, run_plan
from loopwright.sandbox.model import FreshRequest, Mode, RecordedRequest
from loopwright.stages.context import Context
from loopwright.stages.recover import recover


def verify(context: Context, run: str | None) -> list[Verdict]:
    """Verify one run, or all runs that were not removed."""
    store = context.store
    repository = context.repository()
    with tempfile.TemporaryDirectory(prefix="loopwright-verify-") as scratch:
        if run is not None:
            return [verify_run(store, store.resolve(run), repository, Path(scratch))]
        store.resolve(None)
        return list(verify_all(store, repository, Path(scratch)))


class RerunReport(msgspec.Struct, frozen=True):
    """The first run, the second run, and their differences."""

    first: Evidence
    second: Evidence
    folder: Path
    differences: tuple[str, ...]
    failure: Failure | None


def rerun(context: Context, run: str, listener: Listener, cancellation: Cancellation) -> RerunReport:
    """Repeat a run, without reading or writing the latch and the latest files."""
    recover(context)
    store = context.store
    run_id = store.resolve(run)
    first, _ = store.load(run_id)
    plan = _recorded_plan(store.folder(run_id), first)
    sandbox_options = context.sandbox_options_for(
        _recorded_sandbox(context.sandbox_request(), store.folder(run_id), first)
    )
    if first.isolation is not None:
        sandbox_options = msgspec.structs.replace(sandbox_options, isolation=first.isolation.requested)
    request = RunRequest(
        f"the plan of {run_id}",
        plan,
        sandbox_options,
        context.step_environment(),
        origin=RunOrigin(run_id),
        run_id=f"{run_id}-rerun",
    )
    emitter = Emitter(listener)
    finished = run_plan(request, context.tools(), emitter, cancellation)
    announce_end(finished, finished.failure, emitter)
    return RerunReport(
        first, finished.evidence, finished.folder, tuple(differences(first, finished.evidence)), finished.failure
    )


def differences(first: Evidence, second: Evidence) -> list[str]:
    """Differences in exit codes, outcomes and the resulting tree. Steps that the first run skipped do not count."""
    different: list[str] = []
    if first.isolation and second.isolation and first.isolation.used != second.isolation.used:
        different.append(f"isolation: {first.isolation.used} then, {second.isolation.used} now")
    repeated = {step.id: step for step in second.steps}
    for step in first.steps:
        if step.outcome in ("skipped", "cancelled") or step.id == SETUP_STEP:
            continue
        other = repeated.get(step.id)
        then = [command.exit_code for command in step.commands]
        now = [command.exit_code for command in other.commands] if other else []
        if then != now:
            different.append(f"step {step.id}: exit codes {then} then, {now} now")
        elif other is not None and other.outcome != step.outcome:
            different.append(f"step {step.id}: {step.outcome} then, {other.outcome} now")
    if first.result_tree != second.result_tree:
        different.append(f"the change: tree {_short(first.result_tree)} then, {_short(second.result_tree)} now")
    return different


def _recorded_plan(folder: Path, first: Evidence) -> bytes:
    if PLAN not in first.files:
        raise UnknownRun(
            f"run {first.run_id} has no recorded plan ({first.error_code or 'no reason given'})",
            hint="choose a run that reached its steps",
        )
    try:
        data = (folder / PLAN).read_bytes()
    except OSError as problem:
        raise EvidenceMismatch(
            f"the plan of {first.run_id} is unreadable: {problem.strerror}",
            hint="see the details with `loopwright verify`",
        ) from problem
    if sha256(data) != first.plan_source_hash:
        raise EvidenceMismatch(
            f"the plan of {first.run_id} was changed after the run",
            hint=f"see the details with `loopwright verify {first.run_id}`",
        )
    return data


def _recorded_sandbox(request: FreshRequest, folder: Path, first: Evidence) -> RecordedRequest:
    if first.base is None or first.sandbox is None:
        raise UnknownRun(
            f"run {first.run_id} had no sandbox",
            hint="choose a run that reached its steps",
        )
    return RecordedRequest(request, Mode(first.sandbox.mode), first.base, folder / BASE_PATCH)


def _short(tree: str | None) -> str:
    return tree[:12] if tree else "none"
