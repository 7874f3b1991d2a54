"""validate: the test command as a run with evidence of its own, its reports read into results."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from loopwright.errors import LoopwrightError
from loopwright.evidence.store import RunOrigin
from loopwright.kernel import codec
from loopwright.kernel.clock import stamp
from loopwright.loop import commands as c
from loopwright.loop.actions.asking import WORKER, HeldBack
from loopwright.loop.budget import hold_after, left_for_a_turn
from loopwright.loop.craft import Judging
from loopwright.loop.marks import mark_of
from loopwright.loop.model import Hold, Holder, Loop, Spent, Validation
from loopwright.loop.pages import add_to_page
from loopwright.loop.reports.find import Found, find_coverage_reports, find_test_reports
from loopwright.loop.reports.model import TestResult, UnreadableReport
from loopwright.loop.reports.numbers import moment_before_run
from loopwright.loop.reports.read import read_coverage_reports, read_test_reports
from loopwright.loop.work_files import note_tree
from loopwright.loop.worker_context import WorkerContext
from loopwright.loop.worker_sandbox import wanted_sandbox
from loopwright.redaction.model import Redacted
from loopwright.runner.events import Emitter, ignore
from loopwright.runner.request import Finished, RunRequest, SandboxOptions
from loopwright.runner.run_plan import SETUP_STEP, run_plan
from loopwright.sandbox.port import Sandbox

_STEP = "tests"
_TESTS_FAILED = "STEP_FAILED"


def perform(loop: Loop, context: WorkerContext, action_id: str) -> c.Command:
    """Run the tests on the work as it is kept, and say what they said."""
    judging = context.craft.judging(loop)
    reports = _Reports(context)
    request = RunRequest(
        plan_name=f"the tests of {loop.loop_id}",
        plan=_plan(loop, context) if judging is None else _judges(loop, judging),
        sandbox_options=SandboxOptions(
            wanted_sandbox(loop, context),
            context.isolation,
            context.setup,
            keep=False,
            limits=context.limits,
            shell=context.shell,
            freezer=context.freezer,
        ),
        environment=context.environment,
        origin=RunOrigin(loop_id=loop.loop_id, workflow=loop.workflow),
        run_id=f"{loop.loop_id}-validate",
        observer=reports if judging is None else judging.observer,
    )
    finished = run_plan(request, context.tools(), Emitter(ignore), context.cancellation)
    used_up = _count(loop, context, finished)
    context.cancellation.raise_if_requested()
    if used_up is not None:
        raise HeldBack(used_up)
    _require_that_it_ran(finished, context)
    if judging is None:
        validation = _validation(finished, reports, stamp(context.clock()))
    else:
        validation = _judged(finished, context.craft.results(loop, finished), stamp(context.clock()))
    then = context.craft.before_completion(loop, validation) if validation.holds else ()
    if loop.fallback is not None and not validation.holds:
        note_tree(context.progress(loop), loop.fallback)
    _write_down(loop, context, validation, reports)
    mark = mark_of(loop, validation=validation)
    return c.FinishValidate(action_id=action_id, validation=validation, mark=mark, then=then)


def _require_that_it_ran(finished: Finished, context: WorkerContext) -> None:
    """Tests that fail say something about the work; a run that was refused, or leaked, opens no gate."""
    failure = finished.failure
    prepared = next((step for step in finished.evidence.steps if step.id == SETUP_STEP), None)
    if prepared is not None and prepared.outcome != "passed":
        code, why = "setup_failed", f"sandbox.setup failed: {prepared.reason.text}"
    elif failure is None or failure.code == _TESTS_FAILED:
        return
    else:
        code, why = failure.code.lower(), f"{failure.code}: {failure.message.text}"
    said = f"the tests' run {finished.evidence.run_id} does not count: {why}"
    raise HeldBack(Hold(holder=Holder.BLOCKER, code=code, message=said, since=stamp(context.clock())))


def _count(loop: Loop, context: WorkerContext, finished: Finished) -> Hold | None:
    """The tests' time is work, too, also when they were interrupted.

    Where they were ended because no more time is left, they have said nothing: then the hold for that.
    """
    left_s = left_for_a_turn(loop, "wall_s")
    ended = any(one.ending == "timed_out" for step in finished.evidence.steps for one in step.commands)
    is_over = ended and left_s is not None and left_s < context.limits.timeout_s
    worked_s = sum(step.duration_s for step in finished.evidence.steps)
    spent = Spent(wall_s=round(max(worked_s, left_s or 0.0) if is_over else worked_s, 3))
    with context.store.changing(loop.loop_id) as opened:
        after = opened.apply(c.Count(spent=spent), WORKER).loop
    return hold_after(after, "wall_s", stamp(context.clock())) if is_over else None


def _timeout_s(loop: Loop, context: WorkerContext) -> float:
    left_s = left_for_a_turn(loop, "wall_s")
    return context.limits.timeout_s if left_s is None else max(0.1, min(context.limits.timeout_s, left_s))


class _Reports:
    """What the test command left, read while its sandbox is still there."""

    def __init__(self, context: WorkerContext) -> None:
        self._desk = context
        self._since = 0
        self.results: tuple[TestResult, ...] = ()
        self.gaps: tuple[str, ...] = ()
        self.coverage: float | None = None

    def before_steps(self, sandbox: Sandbox) -> None:
        """A report that is in the project already, or was made by setting up, is not this run's."""
        self._since = moment_before_run(sandbox.place.repo)

    def after_steps(self, sandbox: Sandbox) -> None:
        """Read what is newer than that."""
        repo, since = sandbox.place.repo, self._since
        clean = self._desk.tools().redactor.clean
        tests = find_test_reports(repo, self._desk.settings.reports, since)
        if tests.paths:
            self._read_tests(tests, clean)
        covered = find_coverage_reports(repo, self._desk.settings.coverage, since)
        if covered.paths:
            with suppress(UnreadableReport):  # how much was covered decides nothing
                self.coverage = read_coverage_reports(covered).percent

    def _read_tests(self, tests: Found, clean: Callable[[str], Redacted]) -> None:
        try:
            report = read_test_reports(tests)
        except UnreadableReport as problem:
            self.gaps = (clean(str(problem)).text,)
            return
        self.gaps = report.gaps
        self.results = tuple(
            TestResult(
                clean(one.test_name).text, clean(one.suite).text, one.status, one.duration_ms,
                clean(one.error_message).text, clean(one.stack_trace).text,
            )
            for one in report.results
        )  # fmt: skip


def _plan(loop: Loop, context: WorkerContext) -> bytes | LoopwrightError:
    command = context.settings.test_command
    if not command:
        raise HeldBack(
            Hold(
                holder=Holder.BLOCKER,
                code="no_test_command",
                message="loop.test_command is not set: nothing could say whether the work is right",
                since=stamp(context.clock()),
            )
        )
    step = {
        "id": _STEP,
        "action": "run the project's tests",
        "commands": [command],
        "timeout_s": _timeout_s(loop, context),
    }
    return codec.to_yaml({"new_plan": {"unified_goal": f"the tests of {loop.title}", "steps": [step]}})


def _judges(loop: Loop, judging: Judging) -> bytes:
    return codec.to_yaml({"new_plan": {"unified_goal": f"the checks of {loop.title}", "steps": list(judging.steps)}})


def _judged(finished: Finished, results: tuple[TestResult, ...], now: str) -> Validation:
    """Each judge is one result."""
    passed = bool(results) and all(one.status == "passed" for one in results)
    return Validation(results=results, passed=passed, last_run_at=now, run_id=finished.evidence.run_id)


def _validation(finished: Finished, reports: _Reports, now: str) -> Validation:
    step = next((step for step in finished.evidence.steps if step.id == _STEP), None)
    passed = step is not None and step.outcome == "passed"
    results = reports.results
    if not results:
        message = "" if passed else finished.evidence.message.text
        duration = round(1000 * step.duration_s, 1) if step is not None else 0
        results = (TestResult("the test command", _STEP, "passed" if passed else "failed", duration, message),)
    # What keeps a report from being believed is a failure with a name, so that nobody has to guess why.
    doubts = [TestResult("the report", _STEP, "failed", 0, gap) for gap in reports.gaps]
    if all(one.status == "skipped" for one in results):
        doubts.append(TestResult("all tests were skipped", _STEP, "failed", 0, "nothing was shown by any test"))
    if not passed and not any(one.status == "failed" for one in (*results, *doubts)):
        doubts.append(TestResult("the test command", _STEP, "failed", 0, finished.evidence.message.text))
    results = (*results, *doubts)
    # The command decides; a report with a failure in it is not talked away by an exit code of 0.
    return Validation(
        results=results,
        coverage=reports.coverage,
        passed=passed and not any(one.status == "failed" for one in results),
        last_run_at=now,
        run_id=finished.evidence.run_id,
    )


def _write_down(loop: Loop, context: WorkerContext, validation: Validation, reports: _Reports) -> None:
    said = "passed" if validation.passed else "failed"
    lines = [
        f"## {said} at {validation.last_run_at}",
        "",
        f"run {validation.run_id}, {validation.pass_rate:g} % passed",
    ]
    lines += [f"- failed: {name}" for name in validation.failed_tests[:50]]
    lines += [f"- missing from the report: {gap}" for gap in reports.gaps]
    add_to_page(context.progress(loop), "validate", context.tools().redactor.clean("\n".join(lines)))
