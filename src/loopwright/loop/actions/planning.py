"""Tasks from an agent that is asked to split a loop's description; what is there already is told to it."""

from __future__ import annotations

import itertools
from typing import Literal

from loopwright.agents.port import NoAnswer, Role
from loopwright.errors import AgentFailed
from loopwright.kernel.clock import stamp
from loopwright.loop.actions.asking import HeldBack, ask_for
from loopwright.loop.answers import ProposedTasks
from loopwright.loop.desk import Desk
from loopwright.loop.model import Hold, Holder, Loop, Task
from loopwright.loop.workshop import workshop


def plan_tasks(loop: Loop, desk: Desk, agent: str, most: int | None = None, work: str = "") -> tuple[Task, ...]:
    """New tasks with ids of their own; `HeldBack` when none came. `work` is its name where no action is under way."""
    redactor = desk.tools().redactor
    with workshop(loop, desk, redactor) as booth:
        prompt = _prompt(loop, desk, most)
        answer = ask_for(loop, desk, booth, agent, Role.PLANNER, prompt, ProposedTasks, work=work)
    if isinstance(answer, NoAnswer):
        raise _held(
            desk, answer.reason, f"no plan came from {agent}: {answer.reason}: {redactor.clean(answer.detail).text}"
        )
    proposed = answer.tasks[:most]
    now = stamp(desk.clock())
    taken = {task.id for task in loop.tasks}
    names = (name for number in itertools.count(1) if (name := f"T-{number}") not in taken)
    return tuple(
        Task(
            id=name,
            description=redactor.clean(task.description).text,
            tool=redactor.clean(task.tool).text or _doer(loop, desk, agent),
            mode=_mode(task.mode),
            status="pending",
            created_at=now,
        )
        for name, task in zip(names, (one for one in proposed if one.description.strip()), strict=False)
    )


def _doer(loop: Loop, desk: Desk, planner: str) -> str:
    """Who works on the loop; where nobody is named for that, whoever planned it."""
    try:
        return desk.agent_of(loop)
    except AgentFailed:
        return planner


def _prompt(loop: Loop, desk: Desk, most: int | None) -> str:
    prompt = desk.book.prompt("planner", title=loop.title, description=loop.description)
    if loop.tasks:
        known = "\n".join(f"- {task.id} ({task.status}): {task.description}" for task in loop.tasks)
        prompt += f"\n{desk.book.part('known_tasks', known=known)}\n"
    return prompt if most is None else f"{prompt}\n{desk.book.part('most_tasks', most=str(most))}\n"


def _mode(text: str) -> Literal["analysis", "write"]:
    return "analysis" if text == "analysis" else "write"


def _held(desk: Desk, code: str, message: str) -> HeldBack:
    hold = Hold(holder=Holder.BLOCKER, code=code, message=message, since=stamp(desk.clock()))
    return HeldBack(hold, turn_taken=True)
