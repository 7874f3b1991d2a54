"""A person names another agent for a loop that has begun: which tasks the agent takes over. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from loopwright.loop.model import Loop, Task, TaskKind


def open_tasks_for(loop: Loop, agent: str) -> tuple[Task, ...]:
    """The open tasks that the agent takes over."""
    return tuple(task for task in loop.tasks if _is_for_the_builder(task, loop.agent) and task.tool != agent)


def taken_over(loop: Loop, agent: str) -> Loop:
    """The loop with this agent for its open tasks, and for every task that follows."""
    ids = {task.id for task in open_tasks_for(loop, agent)}
    tasks = tuple(replace(task, tool=agent) if task.id in ids else task for task in loop.tasks)
    # No agent can continue the session of another agent.
    under_way = replace(loop.under_way, session=None) if loop.under_way is not None else None
    # The agent has not tried yet: iterations of another agent without progress do not count against it.
    return replace(loop, agent=agent, tasks=tasks, under_way=under_way, marks=())


def _is_for_the_builder(task: Task, agent: str) -> bool:
    """Whether an agent builds the task. A command stays a command, and a review stays with its own reviewer."""
    is_reviewed_by_another = task.kind is TaskKind.LOOK and task.tool != agent
    return task.status != "completed" and task.tool != "bash" and not is_reviewed_by_another
