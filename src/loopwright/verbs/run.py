"""`loopwright run`: run the plan, and write result, blocker and latch; replan after a failure; watch the plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from loopwright.errors import Latched, LoopwrightError, MaxRetries, ReplanUnproven
from loopwright.evidence.model import Evidence, ReplanTurn
from loopwright.evidence.store import EVIDENCE, PATCH, PLAN, SUMMARY
from loopwright.kernel.digest import sha256
from loopwright.kernel.files import shown, write_durably
from loopwright.kernel.process import Cancellation, wait_for_request
from loopwright.plan.kept_steps import dropped_steps
from loopwright.plan.model import Step
from loopwright.plan.parse import parse_plan, read_plan_file
from loopwright.runner.events import Emitter, GaveUp, Listener, ignore
from loopwright.runner.latch import Latch, clear_latch, read_latch
from loopwright.runner.latest import envelope_of, write_blocker, write_result
from loopwright.runner.request import Failure, Finished, RunRequest
from loopwright.runner.run_plan import announce_end, run_plan
from loopwright.stages.context import Context
from loopwright.stages.person import require_person
from loopwright.stages.recover import latch, latches, recover
from loopwright.stages.replan import FailedAttempt, Replanner, can_be_replanned
from loopwright.workspace.layout import record_choice

_LOOK_EVERY_S = 0.3


class RunOptions(msgspec.Struct, frozen=True):
    """Options of a run in addition to the settings."""

    plan: Path | None = None
    replan_with: str | None = None


class RunReport(msgspec.Struct, frozen=True):
    """The end of a run. `failure` is None if all steps passed."""

    evidence: Evidence
    folder: Path
    failure: Failure | None
    attempts: tuple[str, ...]


def run(
    context: Context,
    request: RunOptions,
    listener: Listener = ignore,
    cancellation: Cancellation | None = None,
) -> RunReport:
    """Recover, run, settle; with an agent, replan and run again until a run passes or the limit is reached."""
    cancellation = cancellation or Cancellation()
    record_choice(context.layout)
    recover(context)
    emitter = Emitter(listener)
    agent = request.replan_with
    replanner = Replanner(context, agent, emitter, cancellation) if agent is not None else None
    path = request.plan or context.layout.plan
    first = _once(context, path, lambda: read_plan_file(path), emitter, cancellation)
    if replanner is None or first.failure is None:
        return RunReport(first.evidence, first.folder, first.failure, (first.evidence.run_id,))
    return _replan_and_run(context, replanner, path, first, emitter, cancellation)


def watch(
    context: Context,
    request: RunOptions,
    listening: Callable[[], AbstractContextManager[Listener]],
    cancellation: Cancellation,
) -> Iterator[RunReport]:
    """A report for each new content of the plan file, until a stop is requested. Waits while latched."""
    path = request.plan or context.layout.plan
    seen: bytes | None = None
    while cancellation.reason is None:
        plan = _plan_in(path)
        if plan is not None and plan != seen:
            with listening() as listener:
                report = run(context, request, listener, cancellation)
            yield report
            # The replanning agent may have written a new plan, which has already run.
            seen = _plan_in(path) if request.replan_with else plan
            if report.failure is not None and report.failure.code == "LATCHED":
                while read_latch(context.layout.latch) is not None:
                    if wait_for_request(cancellation, _LOOK_EVERY_S):
                        return
                seen = None
        wait_for_request(cancellation, _LOOK_EVERY_S)


def _replan_and_run(
    context: Context,
    replanner: Replanner,
    path: Path,
    first: Finished,
    emitter: Emitter,
    cancellation: Cancellation,
) -> RunReport:
    """Ask for a new plan after each failure; never run the same plan twice."""
    tries = context.settings.values.run.max_retries
    seen = {first.evidence.plan_source_hash}
    attempts = [first.evidence.run_id]
    last, plan, recorded_turns = first, _plan_in(path) or b"", 0
    required, dropped = _not_passed(plan, first.evidence), tuple[str, ...]()
    for number in range(1, tries + 1):
        if last.failure is None or not can_be_replanned(last.failure):
            break
        failed = FailedAttempt(last, last.failure, plan, number, tries)
        try:
            answer = replanner.plan_for(failed)
        except LoopwrightError:
            # No run follows: the result of the last run records the cost of this turn.
            settle(context, path, last, last.failure, replanner.turns)
            raise
        if answer is None or sha256(answer) in seen:
            continue
        plan = answer
        seen.add(sha256(plan))
        _clear_own_latch(context, attempts)
        dropped = _dropped(required, plan)
        if not dropped:
            _keep_plan(context, path, plan)
        last = _once(context, path, partial(bytes, plan), emitter, cancellation, replanner.turns, recorded_turns)
        recorded_turns = len(replanner.turns)
        attempts.append(last.evidence.run_id)
    failure = last.failure
    if failure is not None and can_be_replanned(failure):
        _clear_own_latch(context, attempts)
        failure = _give_up(context, path, last, failure, tries, replanner.turns)
        emitter.emit(GaveUp(last.evidence.run_id, tries, failure.code, failure.message, failure.hint))
    elif failure is None and dropped:
        failure = _unproven(context, path, last, dropped, replanner.turns)
    return RunReport(last.evidence, last.folder, failure, tuple(attempts))


def _once(
    context: Context,
    path: Path,
    read: Callable[[], bytes],
    emitter: Emitter,
    cancellation: Cancellation,
    replanning: Sequence[ReplanTurn] = (),
    recorded_turns: int = 0,
) -> Finished:
    """One attempt. The evidence of earlier attempts already contains the first `recorded_turns` replanning turns."""
    plan: bytes | LoopwrightError
    try:
        plan = _latched(context) or read()
    except LoopwrightError as problem:
        plan = problem
    new_turns = tuple(replanning[recorded_turns:])
    request = RunRequest(
        _name(context, path), plan, context.sandbox_options(), context.step_environment(), replanning=new_turns
    )
    finished = run_plan(request, context.tools(), emitter, cancellation)
    settle(context, path, finished, finished.failure, replanning)
    announce_end(finished, finished.failure, emitter)
    return finished


def settle(
    context: Context, path: Path, finished: Finished, failure: Failure | None, replanning: Sequence[ReplanTurn] = ()
) -> None:
    """Write the latest files, and for a failure the blocker card and the latch."""
    layout, evidence = context.layout, finished.evidence
    written = [str(layout.result), str(finished.folder / EVIDENCE)]
    written += [str(finished.folder / name) for name in (PATCH, SUMMARY) if (finished.folder / name).exists()]
    if failure is not None and failure.code != "LATCHED":
        written.append(str(layout.blocker))
    missing = failure is not None and failure.code == "MISSING_PLAN"
    plan = context.tools().redactor.clean(_name(context, path))
    envelope = envelope_of(evidence, failure, plan=plan, written=written, missing=missing)
    # The latch first and the result last: if the result is older than the latch, the next start knows of a crash.
    if failure is not None and latches(failure.code) and context.settings.values.run.latch:
        latch(context, evidence.run_id, f"{failure.code}: {_first_line(failure)}")
    if failure is not None and failure.code != "LATCHED":
        write_blocker(layout.blocker, envelope, evidence, finished.folder, failure)
    message = failure.message if failure else evidence.message
    write_result(layout.result, envelope, evidence, finished.folder, message, replanning)


def _first_line(failure: Failure) -> str:
    return " ".join(failure.message.text.splitlines()[:2])


def _not_passed(plan: bytes, evidence: Evidence) -> tuple[Step, ...]:
    """The steps of the first plan that failed, or could not run because another step failed."""
    passed = {step.id for step in evidence.steps if step.outcome == "passed"}
    try:
        return tuple(step for step in parse_plan(plan, "plan").steps if step.id not in passed)
    except LoopwrightError:
        return ()


def _dropped(required: tuple[Step, ...], plan: bytes) -> tuple[str, ...]:
    try:
        return dropped_steps(required, parse_plan(plan, "plan"))
    except LoopwrightError:
        return ()  # an invalid plan fails by itself


def _unproven(
    context: Context, path: Path, last: Finished, dropped: tuple[str, ...], replanning: Sequence[ReplanTurn]
) -> Failure:
    """The failure of a run that passed because its plan lacks what had failed; a person decides."""
    steps, new_plan = ", ".join(dropped), shown(last.folder / PLAN)
    problem = ReplanUnproven(
        f"the new plan passed, but it lacks steps that had not passed, or changes their commands or checks: {steps}",
        hint=f"compare {new_plan} with your plan; to accept it: `loopwright unlatch`, then "
        f"`loopwright run --plan {new_plan}`",
    )
    failure = Failure(problem.code, context.tools().redactor.clean(problem.message), problem.hint)
    settle(context, path, last, failure, replanning)
    return failure


def _give_up(
    context: Context, path: Path, last: Finished, why_last: Failure, tries: int, replanning: Sequence[ReplanTurn]
) -> Failure:
    why = why_last.message.text.splitlines()[0]
    problem = MaxRetries(
        f"no success; new plans tried: {tries}; the last run failed: {why}",
        hint="read the blocker card and decide, then type `loopwright unlatch` and `loopwright run`",
    )
    clean = context.tools().redactor.clean
    failure = replace(why_last, code=problem.code, message=clean(problem.message), hint=problem.hint)
    settle(context, path, last, failure, replanning)
    return failure


def _latched(context: Context) -> Latched | None:
    if not context.settings.values.run.latch:
        return None
    latch = read_latch(context.layout.latch)
    if latch is None:
        return None
    return Latched(
        f"run {latch.run_id} latched the workspace at {latch.created_at}: {latch.reason}",
        hint="read the blocker card, then type `loopwright unlatch`",
    )


def _clear_own_latch(context: Context, attempts: list[str]) -> None:
    latch = read_latch(context.layout.latch)
    if latch is not None and latch.run_id in attempts:
        clear_latch(context.layout.latch)


def _keep_plan(context: Context, path: Path, plan: bytes) -> None:
    """Replace the plan of the workspace with the new plan; a plan file that the caller named stays unchanged."""
    if path == context.layout.plan and not context.tools().redactor.scan(plan, "plan", trusts_pragma=True).findings:
        write_durably(path, plan)


def _plan_in(path: Path) -> bytes | None:
    try:
        return read_plan_file(path)
    except LoopwrightError:
        return None


def _name(context: Context, path: Path) -> str:
    return shown(path.relative_to(context.project)) if path.is_relative_to(context.project) else shown(path)


def unlatch(context: Context) -> Latch | None:
    """Remove the latch and return it; None if the workspace was not latched."""
    require_person(context.environment, "unlatch")
    latch = read_latch(context.layout.latch)
    if latch is not None:
        clear_latch(context.layout.latch)
    return latch
