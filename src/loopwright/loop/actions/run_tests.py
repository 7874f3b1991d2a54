"""Runs the test command on the work of a loop, and on the tree that the loop started from. Reads the reports."""

from __future__ import annotations

from pathlib import Path

import msgspec

from loopwright.evidence.store import RunOrigin
from loopwright.kernel import codec
from loopwright.kernel.clock import stamp
from loopwright.kernel.digest import digest_of
from loopwright.kernel.files import make_folder, replace_without_sync
from loopwright.loop import events as e
from loopwright.loop.actions.failing import HeldBack
from loopwright.loop.budget import hold_after, left_for_a_turn
from loopwright.loop.model import Hold, Loop, Spent, Tree
from loopwright.loop.reports.model import TestResult
from loopwright.loop.reports.read import RunReports
from loopwright.loop.test_runs import Comparison, TestRun, compare
from loopwright.loop.worker_context import WORKER, WorkerContext
from loopwright.loop.worker_sandbox import base_sandbox, sandbox_request
from loopwright.runner.events import Emitter, ignore
from loopwright.runner.request import Finished, Observer, RunRequest
from loopwright.runner.run_plan import SETUP_STEP, run_plan
from loopwright.sandbox.port import SandboxRequest

_STEP = "tests"
_TESTS_FAILED = "STEP_FAILED"
_MOST_OUTPUT = 1500


def run_tests(loop: Loop, context: WorkerContext, sandbox: SandboxRequest, name: str) -> TestRun:
    """Run the test command in this sandbox; `HeldBack` if it is not set or could not run."""
    reports = RunReports(context.settings.reports, context.settings.coverage, context.tools().redactor)
    plan = _plan(loop, context)
    finished = run_judges(loop, context, sandbox, plan, f"{loop.loop_id}-{name}", reports)
    step = next((step for step in finished.evidence.steps if step.id == _STEP), None)
    return TestRun(
        run_id=finished.evidence.run_id,
        exited_with_0=step is not None and step.outcome == "passed",
        results=reports.results,
        gaps=reports.gaps,
        coverage=reports.coverage,
        duration_ms=round(1000 * step.duration_s, 1) if step is not None else 0,
        message=finished.evidence.message.text,
        output=_end_of_output(finished),
    )


def run_judges(
    loop: Loop,
    context: WorkerContext,
    sandbox: SandboxRequest,
    plan: bytes,
    run_id: str,
    observer: Observer | None,
) -> Finished:
    """Run a plan that judges the work. Its time counts as work. `HeldBack` if the run says nothing about the work."""
    request = RunRequest(
        plan_name=f"the tests of {loop.loop_id}",
        plan=plan,
        sandbox_options=context.options(sandbox),
        environment=context.environment,
        origin=RunOrigin(loop_id=loop.loop_id, workflow=loop.workflow),
        run_id=run_id,
        observer=observer,
    )
    finished = run_plan(request, context.tools(), Emitter(ignore), context.cancellation)
    used_up = _count(loop, context, finished)
    context.cancellation.raise_if_requested()
    if used_up is not None:
        raise HeldBack(used_up)
    _require_that_it_ran(finished, context)
    return finished


def _require_that_it_ran(finished: Finished, context: WorkerContext) -> None:
    """Failed tests say something about the work. A run that was refused or that leaked a secret does not count."""
    failure = finished.failure
    prepared = next((step for step in finished.evidence.steps if step.id == SETUP_STEP), None)
    if prepared is not None and prepared.outcome != "passed":
        code, why = "setup_failed", f"sandbox.setup failed: {prepared.reason.text}"
    elif failure is None or failure.code == _TESTS_FAILED:
        return
    else:
        code, why = failure.code.lower(), f"{failure.code}: {failure.message.text}"
    said = f"the test run {finished.evidence.run_id} does not count: {why}"
    raise HeldBack(context.blocked(code, said))


def _count(loop: Loop, context: WorkerContext, finished: Finished) -> Hold | None:
    """Count the tests' time as work, also if they were interrupted.

    Tests that ended because the time budget is used up say nothing: then return the hold for that.
    """
    with context.store.changing(loop.loop_id) as opened:
        left_s = left_for_a_turn(opened.loop, "wall_s")
        ended = any(command.ending == "timed_out" for step in finished.evidence.steps for command in step.commands)
        is_over = ended and left_s is not None and left_s < context.timeout_s
        worked_s = sum(step.duration_s for step in finished.evidence.steps)
        spent = Spent(wall_s=round(max(worked_s, left_s or 0.0) if is_over else worked_s, 3))
        after = opened.apply(e.CostCounted(spent=spent), WORKER)
    return hold_after(after, "wall_s", stamp(context.clock())) if is_over else None


def _plan(loop: Loop, context: WorkerContext) -> bytes:
    command = context.settings.test_command
    if not command:
        raise HeldBack(context.blocked("no_test_command", "loop.test_command is not set: nothing checks the work"))
    step = {
        "id": _STEP,
        "action": "run the project's tests",
        "commands": [command],
        "timeout_s": _timeout_s(loop, context),
    }
    return codec.to_yaml({"new_plan": {"unified_goal": f"the tests of {loop.title}", "steps": [step]}})


def _timeout_s(loop: Loop, context: WorkerContext) -> float:
    """The timeout of the settings, but no more than the time budget leaves."""
    if left_for_a_turn(loop, "wall_s") is None:
        return context.timeout_s
    left_s = left_for_a_turn(context.store.load(loop.loop_id), "wall_s") or 0.0
    return max(0.1, min(context.timeout_s, left_s))


def _end_of_output(finished: Finished) -> str:
    logs = [command.log for step in finished.evidence.steps if step.id == _STEP for command in step.commands]
    if not logs or logs[-1] is None:
        return ""
    return (finished.folder / str(logs[-1])).read_bytes()[-_MOST_OUTPUT:].decode("utf-8", "replace").strip()


def compare_tests(loop: Loop, context: WorkerContext) -> Comparison | None:
    """Compare the project's tests on base and work; None without a test command or without changes."""
    tree = loop.tree
    if not context.settings.test_command or tree is None or not tree.has_changes:
        return None
    base = tests_on_base(loop, context, tree)
    return compare(base, run_tests(loop, context, sandbox_request(loop, context), "tests"))


def tests_on_base(loop: Loop, context: WorkerContext, tree: Tree) -> TestRun:
    """The result of the test command on the loop's base. It is kept for the next iteration."""
    path = _kept_as(loop, context, tree)
    kept = codec.read_json(path, TestRun)
    if kept is not None and context.tools().store.folder(kept.run_id).is_dir():
        return kept
    run = run_tests(loop, context, base_sandbox(context.request(), tree, context.progress(loop)), "base-tests")
    # Later only names and results are needed. The traces of a whole suite take megabytes.
    results = tuple(TestResult(result.test_name, result.suite, result.status) for result in run.results)
    make_folder(path.parent)
    replace_without_sync(path, codec.to_json(msgspec.structs.replace(run, results=results)))
    return run


def _kept_as(loop: Loop, context: WorkerContext, tree: Tree) -> Path:
    """The path of the kept result, by everything that the result depends on."""
    settings = context.settings
    key = digest_of([tree.base_tree, settings.test_command, settings.reports, list(context.setup)])
    return context.progress(loop) / "work" / f"base-tests-{key[:16]}.json"
