"""Asks an agent to split a loop's description into tasks. The agent is told the existing tasks."""

from __future__ import annotations

import itertools

import msgspec

from loopwright.agents.port import NoAnswer, Role
from loopwright.agents.structured import AgentRequest, json_form
from loopwright.errors import AgentFailed
from loopwright.kernel.clock import stamp
from loopwright.loop.actions.asking import ask
from loopwright.loop.actions.failing import HeldBack
from loopwright.loop.model import Loop, Task
from loopwright.loop.worker_context import WorkerContext
from loopwright.loop.worker_sandbox import workshop


class ProposedTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task as a planner proposes it."""

    description: str
    tool: str = ""
    mode: str = "write"


class ProposedTasks(msgspec.Struct, frozen=True, kw_only=True):
    """The planner's answer."""

    tasks: list[ProposedTask]


def plan_tasks(
    loop: Loop, context: WorkerContext, agent: str, most: int | None = None, work: str = ""
) -> tuple[Task, ...]:
    """New tasks with new ids; `HeldBack` if there are none. `work` names the work if no action is under way."""
    redactor = context.tools().redactor
    with workshop(loop, context, redactor) as turn_sandbox:
        form = json_form(ProposedTasks)
        request = AgentRequest(agent=agent, role=Role.PLANNER, prompt=_prompt(loop, context, most), form=form)
        answer = ask(loop, context, turn_sandbox, request, work)
    if isinstance(answer, NoAnswer):
        why = f"no plan came from {agent}: {answer.reason}: {redactor.clean(answer.detail).text}"
        raise HeldBack(context.blocked(answer.reason, why), turn_taken=True)
    proposed = answer.reply.tasks[:most]
    # Only a person says that a loop has nothing to change.
    is_work = any(task.mode == "write" for task in loop.tasks) or any(task.mode != "analysis" for task in proposed)
    now = stamp(context.clock())
    taken = {task.id for task in loop.tasks}
    names = (name for number in itertools.count(1) if (name := f"T-{number}") not in taken)
    return tuple(
        Task(
            id=name,
            description=redactor.clean(task.description).text,
            tool=redactor.clean(task.tool).text or _doer(loop, context, agent),
            mode="analysis" if task.mode == "analysis" and is_work else "write",
            status="pending",
            created_at=now,
        )
        for name, task in zip(names, (proposal for proposal in proposed if proposal.description.strip()), strict=False)
    )


def _doer(loop: Loop, context: WorkerContext, planner: str) -> str:
    """The agent of the loop; if it has none, the planner."""
    try:
        return context.agent_of(loop)
    except AgentFailed:
        return planner


def _prompt(loop: Loop, context: WorkerContext, most: int | None) -> str:
    prompt = context.book.prompt("planner", title=loop.title, description=loop.description)
    if loop.tasks:
        known = "\n".join(f"- {task.id} ({task.status}): {task.description}" for task in loop.tasks)
        prompt += f"\n{context.book.part('known_tasks', known=known)}\n"
    return prompt if most is None else f"{prompt}\n{context.book.part('most_tasks', most=str(most))}\n"
