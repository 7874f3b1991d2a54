"""Finds what proves each task of a loop: a test that failed before the task, and passes after it and at the end.

The tests run again on the work between two tasks. A loop with one task needs no such run.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.judging.project_scope import PlanScope
from loopwright.judging.verdict import PASSED
from loopwright.loop.actions.run_tests import MoreOfRun, commands_for, run_tests
from loopwright.loop.choice import tasks_to_prove
from loopwright.loop.decisions import granted_scope
from loopwright.loop.model import Loop, Tree
from loopwright.loop.proof import Doubt, TaskGrade, TaskProof
from loopwright.loop.split_work import work_with_tests
from loopwright.loop.test_runs import TestRun
from loopwright.loop.work_verdict import WorkVerdict
from loopwright.loop.worker_context import WorkerContext
from loopwright.loop.worker_sandbox import with_work

NOTHING = "the task changed nothing"
NO_TEST = "no test failed before the task and passes after it"


def prove_tasks(loop: Loop, context: WorkerContext, judged: WorkVerdict) -> tuple[TaskProof, ...]:
    """A grade for each task that writes, for work that the tests accept."""
    steps = list(_steps(loop, judged))
    changed = {task_id for task_id, before, after in steps if before != after.tree} | _changed_before_upgrade(loop)
    if (doubts := judged.doubts) or len(changed) < 2:
        return tuple(_by_all(task_id, task_id in changed, doubts) for task_id in tasks_to_prove(loop))
    moments = _Moments(loop, context, judged)
    proven = {
        task_id for task_id, before, after in steps if before != after.tree and moments.flips(before, after)
    }  # fmt: skip
    return tuple(_by_itself(task_id, task_id in changed, task_id in proven) for task_id in tasks_to_prove(loop))


def _changed_before_upgrade(loop: Loop) -> set[str]:
    """Tasks of an older version, which did not record the work after each task."""
    known = {task_id for task_id, _ in loop.work_after}
    return {task.id for task in loop.tasks if task.files_changed and task.id not in known} & set(tasks_to_prove(loop))


def nothing_done(loop: Loop) -> tuple[TaskProof, ...]:
    """The grades of tasks that changed nothing."""
    return tuple(_by_all(task_id, False, ()) for task_id in tasks_to_prove(loop))


def doubts_about(proofs: tuple[TaskProof, ...]) -> Iterator[Doubt]:
    """A reason for each task that nothing proves, if the work as a whole is proven."""
    for proof in proofs:
        if not proof.is_proven:
            yield Doubt(code="unproven", message=f"task {proof.task_id}: {proof.reason}")


def _by_all(task_id: str, is_changed: bool, doubts: tuple[Doubt, ...]) -> TaskProof:
    """The grade by the verdict on the whole work."""
    if not is_changed:
        return TaskProof(task_id=task_id, grade=TaskGrade.UNPROVEN, reason=NOTHING)
    if not doubts:
        return TaskProof(task_id=task_id, grade=TaskGrade.PROVEN)
    is_only_unproven = all(doubt.code == "unproven" for doubt in doubts)
    grade = TaskGrade.CHANGED if is_only_unproven else TaskGrade.UNPROVEN
    return TaskProof(task_id=task_id, grade=grade, reason="; ".join(doubt.message for doubt in doubts))


def _by_itself(task_id: str, is_changed: bool, is_proven: bool) -> TaskProof:
    if is_proven:
        return TaskProof(task_id=task_id, grade=TaskGrade.PROVEN)
    grade, reason = (TaskGrade.CHANGED, NO_TEST) if is_changed else (TaskGrade.UNPROVEN, NOTHING)
    return TaskProof(task_id=task_id, grade=grade, reason=reason)


def _steps(loop: Loop, judged: WorkVerdict) -> Iterator[tuple[str, str, Tree]]:
    """Each task with the tree before its work, and the work after it. A fix belongs to the task before it."""
    own, before = set(tasks_to_prove(loop)), judged.split.whole.base_tree
    current, start = "", before
    for task_id, after in loop.work_after:
        if task_id in own and task_id != current:
            current, start = task_id, before
        if current:
            yield current, start, after
        before = after.tree


class _Moments:
    """The results of the tests between two tasks, with the new tests of the whole work."""

    def __init__(self, loop: Loop, context: WorkerContext, judged: WorkVerdict) -> None:
        self._loop = loop
        self._context = context
        self._judged = judged
        split = judged.split
        self._trees = {after.tree: after for _, after in loop.work_after}
        if split.base_with_new_tests is not None:
            self._trees[split.whole.base_tree] = split.base_with_new_tests
            self._runs: dict[str, TestRun] = {}
        else:
            self._runs = {split.whole.base_tree: judged.base}
        self._runs[split.whole.tree] = judged.verified

    def flips(self, before: str, after: Tree) -> bool:
        """Whether a test that proves the work failed before and passes after."""
        now, then = self._run(after.tree).tree_result, self._run(before).tree_result
        if proving := self._judged.verdict.proving:
            return then.ended and any(then.is_failing(test) and now.tests.get(test) == PASSED for test in proving)
        return then.ended and not then.exited_with_0 and now.exited_with_0

    def _run(self, name: str) -> TestRun:
        if name not in self._runs:
            self._runs[name] = self._run_on(name)
        return self._runs[name]

    def _run_on(self, name: str) -> TestRun:
        loop, context, split = self._loop, self._context, self._judged.split
        tree, progress = self._trees[name], context.progress(loop)
        if name != split.whole.base_tree:
            plan = PlanScope(granted=granted_scope(loop))
            tree = work_with_tests(tree, split, progress, context.request().project, context.project, plan)
        sandbox = with_work(context.request(), tree, progress)
        commands = commands_for(context, split.judged_files)
        more = MoreOfRun(base_run=self._judged.base.run_id, scope=split.scope)
        without = frozenset(self._judged.base.without)
        return run_tests(loop, context, sandbox, commands, "between-tasks", without, more=more)
