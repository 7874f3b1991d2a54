"""init: the loop gets its tasks, from the list or from an agent that is asked to split the description."""

from __future__ import annotations

import json
from typing import Any, Literal

from loopwright.agents.port import NoAnswer, Role
from loopwright.agents.prompts import prompt_for
from loopwright.kernel.clock import stamp
from loopwright.loop import commands as c
from loopwright.loop.actions.asking import HeldBack, ask
from loopwright.loop.answers import NotAnswered, ProposedTasks, read_answer
from loopwright.loop.desk import Desk
from loopwright.loop.model import Hold, Holder, Loop, Task
from loopwright.loop.outside import NotTaken, tasks_of
from loopwright.loop.pages import add_to_page
from loopwright.loop.workshop import workshop


def perform(loop: Loop, desk: Desk, action_id: str) -> c.Command:
    """Tasks that are there, else those of the list beside the state file, else an agent's."""
    tasks = () if loop.tasks else (_listed(loop, desk) or _planned(loop, desk))
    redactor = desk.tools().redactor
    lines = [f"# {loop.title}", "", loop.description, ""]
    lines += [f"- {task.id} [{task.tool}] {task.description}" for task in (*loop.tasks, *tasks)]
    add_to_page(desk.progress(loop), "develop", redactor.clean("\n".join(lines)))
    return c.FinishInit(action_id=action_id, tasks=tasks)


def _listed(loop: Loop, desk: Desk) -> tuple[Task, ...]:
    path = desk.store.paths(loop.loop_id).tasks
    try:
        lines: list[dict[str, Any]] = [
            json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line
        ]
        return tasks_of(lines)
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, NotTaken) as problem:
        raise _held(desk, "tasks_unreadable", f"the task list {path.name} can't be read: {problem}") from problem


def _planned(loop: Loop, desk: Desk) -> tuple[Task, ...]:
    redactor = desk.tools().redactor
    prompt = prompt_for(Role.PLANNER, title=loop.title, description=loop.description)
    with workshop(loop, desk, redactor) as booth:
        answer = ask(loop, desk, booth, loop.agent, Role.PLANNER, prompt)
    if isinstance(answer, NoAnswer):
        raise _held(desk, answer.reason, f"no plan came from {loop.agent}: {redactor.clean(answer.detail).text}")
    try:
        proposed = read_answer(answer.text, ProposedTasks).tasks
    except NotAnswered as problem:
        raise _held(desk, "invalid_answer", str(redactor.clean(str(problem)).text)) from problem
    now = stamp(desk.clock())
    return tuple(
        Task(
            id=f"T-{number}",
            description=redactor.clean(task.description).text,
            tool=task.tool or loop.agent,
            mode=_mode(task.mode),
            status="pending",
            created_at=now,
        )
        for number, task in enumerate(proposed, start=1)
    )


def _mode(text: str) -> Literal["analysis", "write"]:
    return "analysis" if text == "analysis" else "write"


def _held(desk: Desk, code: str, message: str) -> HeldBack:
    return HeldBack(Hold(holder=Holder.BLOCKER, code=code, message=message, since=stamp(desk.clock())))
