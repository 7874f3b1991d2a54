"""Drives a loop. In a build the plan briefs the builder, its checks judge, and the result is recorded at the end."""

from __future__ import annotations

from msgspec.structs import replace

from loopwright.kernel.process import Cancellation
from loopwright.loop.model import Completed, Loop
from loopwright.loop.worker_context import Ask, WorkerContext
from loopwright.stages.building.briefing import SliceBriefing, StopGate
from loopwright.stages.building.judge import CheckJudging
from loopwright.stages.building.lanes import BuildLanes
from loopwright.stages.building.settle import settle_build
from loopwright.stages.context import Context, loops_of
from loopwright.stages.loop_worker import start


def drive_loop(
    context: Context, loop_id: str, cancellation: Cancellation | None = None, *, ask: Ask | None = None
) -> Loop:
    """Drive a loop in this process until it ends or is held; a build with the checks of its plan."""
    cancellation = cancellation or Cancellation()
    loop = loops_of(context).load(loop_id)
    if loop.workflow is None:
        return start(context, loop_id, cancellation, ask=ask)
    if isinstance(loop.phase, Completed):
        # A crash or a stop came between the loop's end and its record.
        settle_build(context, loop.workflow, loop_id)
        return loops_of(context).load(loop_id)
    return _drive_build(context, loop.workflow, loop_id, cancellation, ask)


def _drive_build(context: Context, slug: str, loop_id: str, cancellation: Cancellation, ask: Ask | None) -> Loop:
    """Drive the loop that builds a workflow. However that ends, the build's state is recorded."""
    lanes, gate = BuildLanes(context, slug), StopGate(context, slug)

    def add_build(worker: WorkerContext) -> WorkerContext:
        return replace(
            worker,
            judge=lambda loop: CheckJudging(context, slug, loop, lanes.record_checks, cancellation),
            brief=lambda loop, task: SliceBriefing(context, slug, loop, task, lanes, gate),
            lanes=lanes,
            tasks_after_checks=lanes.after_checks,
            on_change=gate.follow,
        )

    try:
        start(context, loop_id, cancellation, ask=ask, adapt=add_build)
    finally:
        settle_build(context, slug, loop_id)
    return loops_of(context).load(loop_id)
