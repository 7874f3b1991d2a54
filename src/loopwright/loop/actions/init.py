"""init: the loop gets its tasks, from the task list or from an agent that splits the description."""

from __future__ import annotations

from loopwright.agents.port import Role
from loopwright.loop import commands as c
from loopwright.loop.actions.failing import HeldBack
from loopwright.loop.actions.planning import plan_tasks
from loopwright.loop.model import Loop, Task
from loopwright.loop.outside import InvalidField
from loopwright.loop.restore import tasks_in
from loopwright.loop.work_files import add_to_page
from loopwright.loop.worker_context import WorkerContext


def perform(loop: Loop, context: WorkerContext, action_id: str) -> c.FinishInit:
    """Take the loop's tasks, else those of the task list, else ask an agent for tasks."""
    tasks: tuple[Task, ...] = ()
    if not loop.tasks:
        tasks = _listed(loop, context) or plan_tasks(loop, context, context.agent_for_role(Role.PLANNER, loop.agent))
    redactor = context.tools().redactor
    lines = [f"# {loop.title}", "", loop.description, ""]
    lines += [f"- {task.id} [{task.tool}] {task.description}" for task in (*loop.tasks, *tasks)]
    add_to_page(context.progress(loop), "develop", redactor.clean("\n".join(lines)))
    return c.FinishInit(action_id=action_id, tasks=tasks)


def _listed(loop: Loop, context: WorkerContext) -> tuple[Task, ...]:
    path = context.store.paths(loop.loop_id).tasks
    try:
        return tasks_in(path.read_bytes())
    except FileNotFoundError:
        return ()
    except (OSError, InvalidField) as problem:
        hold = context.blocked("tasks_unreadable", f"the task list {path.name} can't be read: {problem}")
        raise HeldBack(hold) from problem
