"""`loopwright status` and `next` as data: all workflows and loops, and what waits for a person. Imports little."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
from msgspec.structs import replace

from loopwright.loop.listing import STATUSES, Summary, way_on, ways_on
from loopwright.wording.choices import PersonChoice
from loopwright.workflow.listing import STAGES, WorkflowLine


def with_what_runs(workflows: list[WorkflowLine], loops: list[Summary]) -> list[WorkflowLine]:
    """The workflows; for a build that a process drives, the next command watches or resumes its loop."""
    driven = {
        loop.line.loopwright.workflow: way_on(loop) or f"loopwright loop watch {loop.line.loop_id}"
        for loop in loops
        if loop.has_worker and loop.line.loopwright.workflow is not None
    }
    return [
        replace(workflow, recommended_next_action=driven[workflow.slug], choices=[PersonChoice(driven[workflow.slug])])
        if workflow.slug in driven and workflow.current_stage == "build" and workflow.pending_user_decision is None
        else workflow
        for workflow in workflows
    ]


def overview(workflows: list[WorkflowLine], loops: list[Summary]) -> dict[str, Any]:
    """The status of all workflows and loops, for programs."""
    workflows = with_what_runs(workflows, loops)
    stages = Counter(workflow.current_stage for workflow in workflows)
    totals = Counter(loop.line.status for loop in loops)
    waiting = [
        {
            **msgspec.to_builtins(loop.line),
            "has_worker": loop.has_worker,
            "next": way_on(loop),
            "choices": _choices(loop),
        }
        for loop in loops
        if way_on(loop) is not None
    ]
    return {
        "stages": {stage: stages[stage] for stage in STAGES},
        "archived": sum(workflow.archive_status == "archived" for workflow in workflows),
        "workflows": [msgspec.to_builtins(workflow) for workflow in workflows],
        "loops": {status: totals[status] for status in STATUSES},
        "waiting": waiting,
    }


def _choices(loop: Summary) -> list[dict[str, str]]:
    return [{"command": choice.command, "does": choice.does} for choice in ways_on(loop)]


class WaitingLoop(msgspec.Struct, frozen=True):
    """A loop that waits for a person, the command to begin with, and all commands among which a person chooses."""

    loop_id: str
    title: str
    next: str
    choices: list[PersonChoice]


class Waiting(msgspec.Struct, frozen=True):
    """Everything that is not finished, with the next command for each."""

    workflows: list[WorkflowLine]
    loops: list[WaitingLoop]

    def document(self) -> dict[str, Any]:
        """The list for programs."""
        builtins: dict[str, Any] = msgspec.to_builtins(self)
        return builtins


def what_waits(listed: list[WorkflowLine], loops: list[Summary]) -> Waiting:
    """Everything that waits. The loop of a build is not listed: its workflow is."""
    workflows = [flow for flow in with_what_runs(listed, loops) if not flow.is_over]
    building = {workflow.slug for workflow in workflows if workflow.current_stage == "build"}
    waiting = [
        WaitingLoop(loop.line.loop_id, loop.line.title, choices[0].command, choices)
        for loop in loops
        if loop.line.loopwright.workflow not in building and (choices := ways_on(loop))
    ]
    return Waiting(workflows, waiting)
