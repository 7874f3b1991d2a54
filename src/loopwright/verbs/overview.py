"""`loopwright status` and `next` as data: all workflows and loops, and what waits for a person. Imports little."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
from msgspec.structs import replace

from loopwright.loop.listing import STATUSES, Summary, way_on
from loopwright.workflow.listing import STAGES, WorkflowLine


def with_what_runs(workflows: list[WorkflowLine], loops: list[Summary]) -> list[WorkflowLine]:
    """The same, where somebody drives a build: it can't be started again, but watched, or resumed where it waits."""
    driven = {
        one.line.loopwright.workflow: way_on(one) or f"loopwright loop watch {one.line.loop_id}"
        for one in loops
        if one.has_worker and one.line.loopwright.workflow is not None
    }
    return [
        replace(one, recommended_next_action=driven[one.slug])
        if one.slug in driven and one.current_stage == "build" and one.pending_user_decision is None
        else one
        for one in workflows
    ]


def overview(workflows: list[WorkflowLine], loops: list[Summary]) -> dict[str, Any]:
    """How everything stands, for programs."""
    workflows = with_what_runs(workflows, loops)
    stages = Counter(one.current_stage for one in workflows)
    totals = Counter(one.line.status for one in loops)
    waiting = [
        {**msgspec.to_builtins(one.line), "has_worker": one.has_worker, "next": way_on(one)}
        for one in loops
        if way_on(one) is not None
    ]
    return {
        "stages": {stage: stages[stage] for stage in STAGES},
        "archived": sum(one.archive_status == "archived" for one in workflows),
        "workflows": [msgspec.to_builtins(one) for one in workflows],
        "loops": {status: totals[status] for status in STATUSES},
        "waiting": waiting,
    }


class WaitingLoop(msgspec.Struct, frozen=True):
    """A loop that waits, and the command with which it goes on."""

    loop_id: str
    title: str
    next: str


class Waiting(msgspec.Struct, frozen=True):
    """Everything that is not over, and what moves it on."""

    workflows: list[WorkflowLine]
    loops: list[WaitingLoop]

    def document(self) -> dict[str, Any]:
        """For programs."""
        builtins: dict[str, Any] = msgspec.to_builtins(self)
        return builtins


def what_waits(listed: list[WorkflowLine], of_loops: list[Summary]) -> Waiting:
    """A loop that builds is moved on by its workflow's command: one thing that waits is said once."""
    workflows = [one for one in with_what_runs(listed, of_loops) if one.archive_status != "archived"]
    building = {one.slug for one in workflows if one.current_stage == "build"}
    loops = [
        WaitingLoop(one.line.loop_id, one.line.title, way)
        for one in of_loops
        if one.line.loopwright.workflow not in building and (way := way_on(one)) is not None
    ]
    return Waiting(workflows, loops)
