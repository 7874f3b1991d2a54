"""debug, in a build: the failed checks are the next task. They name what is wrong, so no agent is asked for causes."""

from __future__ import annotations

from loopwright.kernel.clock import stamp
from loopwright.loop import commands as c
from loopwright.loop.choice import mark_of
from loopwright.loop.model import Criteria, Hypothesis, Loop, Task, TaskKind
from loopwright.loop.worker_context import WORKER, WorkerContext

MOST_EVIDENCE = 4000


def perform(loop: Loop, context: WorkerContext, action_id: str) -> c.FinishDebug:
    """Record the failed checks as a cause that their run confirmed, and make them a task."""
    bug, run_id = ", ".join(loop.validation.failed_tests[:5]), loop.validation.run_id
    cause = Hypothesis(
        id="H1",
        description=f"what fails is what is missing: {bug}",
        testable_condition=f"run {run_id}",
        logging_point="",
        evidence_criteria=Criteria(confirm="a check fails", reject="all checks pass"),
        likelihood=1,
    )
    failed = _failed_checks(loop)
    judged = c.JudgeHypothesis(
        action_id=action_id,
        hypothesis_id=cause.id,
        status="confirmed",
        evidence=failed[-MOST_EVIDENCE:],
        verdict_reason=f"run {run_id} says so",
    )
    with context.store.changing(loop.loop_id) as opened:
        opened.apply(c.ProposeHypotheses(action_id=action_id, bug=bug, hypotheses=(cause,)), WORKER)
        opened.apply(judged, WORKER)
    mark = mark_of(loop, cause=cause.description)
    return c.FinishDebug(action_id=action_id, fix=fix_task(loop, context, failed), mark=mark)


def _failed_checks(loop: Loop) -> str:
    failed = [result for result in loop.validation.results if result.status == "failed"]
    listed = "\n".join(f"- {result.test_name} ({result.suite}): {result.error_message}" for result in failed[:10])
    return f"Make these checks pass:\n{listed}"


def fix_task(loop: Loop, context: WorkerContext, description: str) -> Task:
    """A task that repairs what a validation found."""
    return Task(
        id=loop.new_task_id(TaskKind.FIX),
        description=description,
        tool=context.agent_of(loop),
        mode="write",
        status="pending",
        created_at=stamp(context.clock()),
    )
