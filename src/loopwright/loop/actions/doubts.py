"""Why tests that pass may not prove the work of a loop: it lost tests, or it passes only as it changed them."""

from __future__ import annotations

from loopwright.loop.actions.project_tests import tests_on_base
from loopwright.loop.actions.run_tests import run_tests
from loopwright.loop.model import Doubt, Loop, Tree
from loopwright.loop.restored_tests import restore_tests
from loopwright.loop.test_runs import TestRun, lost_tests
from loopwright.loop.worker_context import WorkerContext
from loopwright.loop.worker_sandbox import with_work
from loopwright.workflow.seal import find_test_files

_MOST_NAMES = 20


def find_doubts(loop: Loop, context: WorkerContext, work: TestRun) -> tuple[Doubt, ...]:
    """Nothing where the work changed nothing: that is a doubt of its own, and no run is needed to see it."""
    tree = loop.tree
    if tree is None or not tree.has_changes:
        return ()
    doubt = _lost(loop, context, tree, work) or _by_changed_tests(loop, context, tree)
    return (doubt,) if doubt is not None else ()


def _lost(loop: Loop, context: WorkerContext, tree: Tree, work: TestRun) -> Doubt | None:
    """By the names of the tests; without a report they are not known."""
    if not work.results and not context.settings.reports:
        return None
    lost = lost_tests(tests_on_base(loop, context, tree).results, work.results)
    if not lost:
        return None
    return Doubt(code="tests_lost", message=f"tests that ran before the work are missing or skipped: {_few(lost)}")


def _by_changed_tests(loop: Loop, context: WorkerContext, tree: Tree) -> Doubt | None:
    """The tests as they were before the work, on the work's source."""
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
        message=f"the tests pass only with what the work did to {touched}: as before the work they fail ({run.run_id})",
    )


def _few(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more
