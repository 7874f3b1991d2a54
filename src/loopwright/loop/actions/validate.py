"""validate: judge the work as it is kept, and find reasons why tests that pass prove nothing."""

from __future__ import annotations

from msgspec.structs import replace

from loopwright.kernel import codec
from loopwright.kernel.clock import stamp
from loopwright.loop import commands as c
from loopwright.loop.actions.run_tests import compare_tests, run_judges, run_tests, tests_on_base
from loopwright.loop.choice import mark_of
from loopwright.loop.model import Doubt, Loop, Tree, Validation
from loopwright.loop.own_work import restore_tests
from loopwright.loop.port import Judging
from loopwright.loop.test_runs import TestRun, lost_tests
from loopwright.loop.work_files import add_to_page, note_tree
from loopwright.loop.worker_context import WorkerContext
from loopwright.loop.worker_sandbox import sandbox_request, with_work
from loopwright.workflow.seal import find_test_files


def perform(loop: Loop, context: WorkerContext, action_id: str) -> c.FinishValidate:
    """Judge the work as it is kept: by the test command, or by the checks of the build."""
    judge, more = context.judge, context.tasks_after_checks
    validation, gaps = _tested(loop, context) if judge is None else (_judged(loop, context, judge(loop)), ())
    then = more(loop) if more is not None and validation.holds else ()
    if loop.fallback is not None and not validation.holds:
        note_tree(context.progress(loop), loop.fallback)
    _write_down(loop, context, validation, gaps)
    mark = mark_of(loop, validation=validation)
    return c.FinishValidate(action_id=action_id, validation=validation, mark=mark, then=then)


def _tested(loop: Loop, context: WorkerContext) -> tuple[Validation, tuple[str, ...]]:
    """Judge by the test command; also return what its report lacks."""
    run = run_tests(loop, context, sandbox_request(loop, context), "validate")
    validation = Validation(
        results=run.findings,
        coverage=run.coverage,
        passed=run.passed,
        last_run_at=stamp(context.clock()),
        run_id=run.run_id,
    )
    doubts = find_doubts(loop, context, run) if validation.holds else ()
    return replace(validation, doubts=doubts), run.gaps


def _judged(loop: Loop, context: WorkerContext, judging: Judging) -> Validation:
    """Judge by the checks of the build; each check is one result."""
    steps = list(judging.steps)
    plan = codec.to_yaml({"new_plan": {"unified_goal": f"the checks of {loop.title}", "steps": steps}})
    name = f"{loop.loop_id}-validate"
    finished = run_judges(loop, context, sandbox_request(loop, context), plan, name, judging.observer)
    results = judging.results(finished, lambda: compare_tests(loop, context))
    passed = bool(results) and all(result.status == "passed" for result in results)
    now = stamp(context.clock())
    return Validation(results=results, passed=passed, last_run_at=now, run_id=finished.evidence.run_id)


def _write_down(loop: Loop, context: WorkerContext, validation: Validation, gaps: tuple[str, ...]) -> None:
    outcome = "passed" if validation.passed else "failed"
    lines = [
        f"## {outcome} at {validation.last_run_at}",
        "",
        f"run {validation.run_id}, {validation.pass_rate:g} % passed",
    ]
    lines += [f"- failed: {name}" for name in validation.failed_tests[:50]]
    lines += [f"- missing from the report: {gap}" for gap in gaps]
    lines += [f"- not proven: {doubt.message}" for doubt in validation.doubts]
    add_to_page(context.progress(loop), "validate", context.tools().redactor.clean("\n".join(lines)))


_MOST_NAMES = 20


def find_doubts(loop: Loop, context: WorkerContext, work: TestRun) -> tuple[Doubt, ...]:
    """Doubts that need a run. Without changes there are none here: that is a doubt of its own, found without a run."""
    tree = loop.tree
    if tree is None or not tree.has_changes:
        return ()
    doubt = _lost(loop, context, tree, work) or _by_changed_tests(loop, context, tree)
    return (doubt,) if doubt is not None else ()


def _lost(loop: Loop, context: WorkerContext, tree: Tree, work: TestRun) -> Doubt | None:
    """A doubt if tests are missing or skipped, by their names; None without a report."""
    if not work.results and not context.settings.reports:
        return None
    lost = lost_tests(tests_on_base(loop, context, tree).results, work.results)
    if not lost:
        return None
    return Doubt(code="tests_lost", message=f"tests that ran before the work are missing or skipped: {_few(lost)}")


def _by_changed_tests(loop: Loop, context: WorkerContext, tree: Tree) -> Doubt | None:
    """A doubt if the work fails the tests as they were before."""
    request, progress = context.request(), context.progress(loop)
    judges = find_test_files(request.project, context.settings.test_command, context.seal)
    restored = restore_tests(tree, progress, request.project, judges)
    if restored is None:
        return None
    run = run_tests(loop, context, with_work(request, restored.tree, progress), "tests-as-before")
    if run.passed:
        return None
    touched = _few(restored.touched)
    return Doubt(
        code="tests_changed",
        message=f"the tests pass only with the work's changes to {touched}; the earlier tests fail ({run.run_id})",
    )


def _few(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more
