"""`loopwright loop task …`: the task list of a loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from loopwright.errors import LoopRefused, WrongUsage
from loopwright.kernel import codec
from loopwright.kernel.clock import stamp
from loopwright.kernel.files import shown
from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop.model import Budget, Loop, TaskMode
from loopwright.loop.outside import InvalidField, tasks_of
from loopwright.loop.store import OpenedLoop
from loopwright.stages.context import Context, loops_of
from loopwright.stages.loop_control import NO_LIMITS, pending_task
from loopwright.stages.loop_texts import checked_bytes, checked_text, required_text
from loopwright.stages.person import actor, require_person

_MOST_BYTES = 16 << 20


class TaskRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a new task, or the changes to a task; None means no change."""

    description: str | None = None
    tool: str | None = None
    mode: TaskMode | None = None
    reopen: bool = False
    budget: Budget = NO_LIMITS


def add_task(context: Context, loop_id: str, request: TaskRequest, *, before: str | None = None) -> Loop:
    """Add a task at the end, or before another task."""
    if request.budget != NO_LIMITS:
        require_person(context.environment, "loop task add")  # agents must not raise their own budget
    description = required_text(context, "a task", request.description or "")
    tool = checked_text(context, "the tool", request.tool or "")
    with loops_of(context).changing(loop_id) as opened:
        task = pending_task(context, opened.loop, description, tool=tool, mode=request.mode or "write")
        opened.apply(e.TaskAdded(task=task, before=before), actor())
        _set_budget(opened, task.id, request.budget)
        return opened.loop


def edit_task(context: Context, loop_id: str, task_id: str, request: TaskRequest) -> Loop:
    """Change the description, tool, mode or budget of a task, or reopen it. Agents must not change their own tasks."""
    require_person(context.environment, "loop task edit")
    description = None if request.description is None else required_text(context, "a task", request.description)
    tool = checked_text(context, "the tool", request.tool or "")
    with loops_of(context).changing(loop_id) as opened:
        task = opened.loop.task(task_id)
        if task is None:
            # The rules refuse this, and list the existing tasks.
            return opened.apply(e.TaskRemoved(task_id=task_id), actor())
        # The budget may change while the task is held because of it; everything else only while no agent works on it.
        _set_budget(opened, task_id, request.budget)
        edited = replace(
            task,
            description=task.description if description is None else description,
            tool=tool or task.tool,
            mode=request.mode or task.mode,
        )
        if request.reopen:
            edited = replace(edited, status="pending", completed_at=None)
        return opened.apply(e.TaskEdited(task=edited), actor()) if edited != task else opened.loop


def _set_budget(opened: OpenedLoop, task_id: str, limits: Budget) -> None:
    if limits != NO_LIMITS:
        budget = opened.loop.task_budgets.get(task_id, NO_LIMITS).but(limits)
        opened.apply(e.TaskBudgetSet(task_id=task_id, budget=budget), actor())


def finish_task(context: Context, loop_id: str, task_id: str) -> Loop:
    """Mark a task as done by a person."""
    require_person(context.environment, "loop task done")
    with loops_of(context).changing(loop_id) as opened:
        return opened.apply(c.MarkTaskDone(task_id=task_id), actor())


def remove_task(context: Context, loop_id: str, task_id: str) -> Loop:
    """Remove a task. Agents must not drop work that they were asked for."""
    require_person(context.environment, "loop task remove")
    with loops_of(context).changing(loop_id) as opened:
        return opened.apply(e.TaskRemoved(task_id=task_id), actor())


def order_tasks(context: Context, loop_id: str, task_ids: tuple[str, ...]) -> Loop:
    """Move these tasks to the front, in this order; the others keep their order behind them."""
    with loops_of(context).changing(loop_id) as opened:
        rest = tuple(task.id for task in opened.loop.tasks if task.id not in task_ids)
        return opened.apply(e.TasksOrdered(task_ids=(*task_ids, *rest)), actor())


def import_tasks(context: Context, loop_id: str, source: Path) -> Loop:
    """Add the tasks of a file: a JSON object or a line of text for each task. All are added, or none."""
    lines = _lines(context, source)
    with loops_of(context).changing(loop_id) as opened:
        known = {task.id for task in opened.loop.tasks}
        taken = known | {name for line in lines if isinstance(name := line.get("id"), str)}
        names = (name for number in range(1, 1_000_000) if (name := f"T-{number}") not in taken)
        try:
            # The same default as in `task add`: with an agent, a line of text is a task for the agent, not a command.
            tool = opened.loop.agent or "bash"
            tasks = tasks_of([{"id": next(names) if "id" not in line else "", "tool": tool, **line} for line in lines])
        except InvalidField as problem:
            raise WrongUsage(f"{shown(source)}: {problem}", hint="fix that line; nothing was imported") from problem
        if duplicates := [task.id for task in tasks if task.id in known]:
            raise LoopRefused(
                "task_exists",
                f"the loop already has these tasks: {', '.join(duplicates[:5])}",
                hint="change the ids in the file; nothing was imported",
            )
        return opened.apply(c.AddTasks(tasks=tasks), actor()) if tasks else opened.loop


def _lines(context: Context, source: Path) -> list[dict[str, Any]]:
    try:
        data = source.read_bytes()[: _MOST_BYTES + 1]
    except OSError as problem:
        raise WrongUsage(f"{shown(source)} is unreadable: {problem.strerror}", hint="check the path") from problem
    if len(data) > _MOST_BYTES:
        raise WrongUsage(f"{shown(source)} has more than {_MOST_BYTES:,} bytes", hint="split the file")
    data = checked_bytes(context, shown(source), data)
    lines: list[dict[str, Any]] = []
    now = stamp(context.clock())
    for number, raw in enumerate(data.decode("utf-8", "replace").split("\n"), start=1):
        text = raw.strip()
        if not text:
            continue
        line: Any = {"description": text.removeprefix("- ").removeprefix("[ ] ")}
        if text.startswith("{"):
            try:
                line = codec.from_json(text.encode(), dict)
            except codec.Undecodable as problem:
                raise WrongUsage(
                    f"{shown(source)} line {number} is not JSON: {problem}", hint="fix the line; nothing was imported"
                ) from problem
        lines.append({"mode": "write", "status": "pending", "created_at": now, **line})
    return lines
