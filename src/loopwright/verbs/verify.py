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
from loopwright.runner.request import Failure, Finished, RunRequest
from loopwright.runner.run_plan import SETUP_STEP, announce_end, run_plan
from loopwright.runner.test_reports import RunReports
from loopwright.sandbox.model import CLOSED, FreshRequest, Mode, RecordedRequest
from loopwright.stages.context import Context
from loopwright.stages.proof import contradicted_runs
from loopwright.stages.recover import recover


def verify(context: Context, run: str | None) -> list[Verdict]:
    """Verify one run, or all runs that were not removed.

    A run that the journal of runs lost, or recorded again with another content, does not match.
    """
    store, contradictions = context.store, contradicted_runs(context)
    if run is not None and run in contradictions:
        return [Verdict(run, 1, (contradictions[run],), ())]
    repository = context.repository()
    with tempfile.TemporaryDirectory(prefix="loopwright-verify-") as scratch:
        if run is not None:
            return [verify_run(store, store.resolve(run), repository, Path(scratch))]
        if not contradictions:
            store.resolve(None)
        verdicts = {verdict.run_id: verdict for verdict in verify_all(store, repository, Path(scratch))}
    for run_id, why in contradictions.items():
        verdict = verdicts.get(run_id, Verdict(run_id, 0, (), ()))
        mismatches = (*verdict.mismatches, why)
        verdicts[run_id] = msgspec.structs.replace(verdict, checked=verdict.checked + 1, mismatches=mismatches)
    return list(verdicts.values())


class RerunReport(msgspec.Struct, frozen=True):
    """The first run, the second run, and their differences. `flaky` are tests whose results differ between reruns."""

    first: Evidence
    second: Evidence
    folder: Path
    differences: tuple[str, ...]
    failure: Failure | None
    flaky: tuple[str, ...] = ()


def rerun(context: Context, run: str, listener: Listener, cancellation: Cancellation) -> RerunReport:
    """Repeat a run, without reading or writing the latch and the latest files.

    If tests have other results now, the run is repeated once more: a test that then differs again is flaky.
    """
    recover(context)
    run_id = context.store.resolve(run)
    first, _ = context.store.load(run_id)
    if first.control:
        raise UnknownRun(
            f"run {run_id} is a control ({first.control}): files were altered for it, and are not kept",
            hint="repeat the run on the work; `loopwright verify` checks this one",
        )
    second = _repeat(context, first, listener, cancellation)
    flaky: tuple[str, ...] = ()
    if cancellation.reason is None and changed_tests(first, second.evidence):
        third = _repeat(context, first, listener, cancellation)
        flaky = changed_tests(second.evidence, third.evidence)
    different = tuple(differences(first, second.evidence, frozenset(flaky)))
    return RerunReport(first, second.evidence, second.folder, different, second.failure, flaky)


def _repeat(context: Context, first: Evidence, listener: Listener, cancellation: Cancellation) -> Finished:
    folder = context.store.folder(first.run_id)
    plan = _recorded_plan(folder, first)
    sandbox_options = context.sandbox_options_for(_recorded_sandbox(context.sandbox_request(), folder, first))
    if first.isolation is not None:
        sandbox_options = msgspec.structs.replace(
            sandbox_options,
            isolation=first.isolation.requested,
            closes_network=first.isolation.network == CLOSED,
        )
    request = RunRequest(
        f"the plan of {first.run_id}",
        plan,
        sandbox_options,
        context.step_environment(),
        origin=RunOrigin(first.run_id),
        run_id=f"{first.run_id}-rerun",
        observer=_reports(context, first),
    )
    emitter = Emitter(listener)
    finished = run_plan(request, context.tools(), emitter, cancellation)
    announce_end(finished, finished.failure, emitter)
    return finished


def _reports(context: Context, first: Evidence) -> RunReports | None:
    """Reads results per test, with the reporters of the first run, if the first run has such results."""
    if not any(step.tests or step.runners for step in first.steps):
        return None
    without = {step.id: frozenset(step.left_out) for step in first.steps if step.left_out}
    settings = context.settings.values.loop
    return RunReports(settings.reports, settings.coverage, context.tools().redactor, without)


def changed_tests(first: Evidence, second: Evidence) -> tuple[str, ...]:
    """The tests whose results differ. A test that only the second run has does not count."""
    return tuple(name for names in _changed_tests(first, second).values() for name in names)


def _changed_tests(first: Evidence, second: Evidence) -> dict[str, dict[str, str]]:
    """By step, each test that the first run has and whose result differs, with both results."""
    now = {step.id: {test.id.text: test.status for test in step.tests} for step in second.steps}
    changed: dict[str, dict[str, str]] = {}
    for step in first.steps:
        results = now.get(step.id, {})
        changed[step.id] = {
            test.id.text: f"{test.status} then, {results.get(test.id.text, 'missing')} now"
            for test in step.tests
            if results.get(test.id.text) != test.status
        }
    return changed


def differences(first: Evidence, second: Evidence, flaky: frozenset[str] = frozenset()) -> list[str]:
    """Differences in results per test, exit codes, outcomes and the tree. Steps that the first run skipped don't count.

    Results per test decide where both runs have them: a flaky test changes the exit code as well.
    """
    different: list[str] = []
    if first.isolation and second.isolation and first.isolation.used != second.isolation.used:
        different.append(f"isolation: {first.isolation.used} then, {second.isolation.used} now")
    if first.isolation and second.isolation and first.isolation.network != second.isolation.network:
        different.append(f"network: {first.isolation.network} then, {second.isolation.network} now")
    repeated, tests = {step.id: step for step in second.steps}, _changed_tests(first, second)
    for step in first.steps:
        if step.outcome in ("skipped", "cancelled") or step.id == SETUP_STEP:
            continue
        other = repeated.get(step.id)
        changed = {name: how for name, how in tests[step.id].items() if name not in flaky}
        different += [f"step {step.id}: {name}: {how}" for name, how in changed.items()]
        if changed or (other is not None and tests[step.id]):
            continue
        then = [command.exit_code for command in step.commands]
        now = [command.exit_code for command in other.commands] if other else []
        if then != now:
            different.append(f"step {step.id}: exit codes {then} then, {now} now")
        elif other is not None and other.outcome != step.outcome:
            different.append(f"step {step.id}: {step.outcome} then, {other.outcome} now")
    # A run that a flaky test made fail keeps no tree.
    is_comparable = not flaky & {name for names in tests.values() for name in names}
    if first.result_tree != second.result_tree and is_comparable:
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
