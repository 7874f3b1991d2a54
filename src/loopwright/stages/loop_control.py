"""Creates loops, lifts their holds, answers their questions and adds tasks: for people, and for builds."""

from __future__ import annotations

import secrets
import string

import msgspec
from msgspec.structs import replace

from loopwright.errors import LoopRefused
from loopwright.kernel.clock import stamp
from loopwright.kernel.locks import is_held
from loopwright.loop import commands as c
from loopwright.loop import events as e
from loopwright.loop.budget import hold_before_call, still_over
from loopwright.loop.choice import is_held_for_choice
from loopwright.loop.events import LoopCreated
from loopwright.loop.guidance import is_own_limit
from loopwright.loop.model import Budget, Held, Holder, Loop, Mode, Running, Task, TaskMode
from loopwright.stages.context import Context, loops_of
from loopwright.stages.loop_texts import checked_text, required_text
from loopwright.stages.person import actor, require_person
from loopwright.stages.spending import limits_for, task_limits_for
from loopwright.workspace.layout import record_choice

# Holds that `resume` by a person lifts: a pause, and holds that ask a person to look.
_LIFTED = frozenset({Holder.OPERATOR, Holder.BLOCKER, Holder.QUOTA, Holder.PROOF})
NO_LIMITS = Budget()
_LETTERS = string.ascii_lowercase + string.digits


class LoopRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a new loop."""

    title: str
    description: str = ""
    tasks: tuple[str, ...] = ()
    max_iterations: int | None = None
    mode: Mode = "auto"
    agent: str = ""
    tags: tuple[str, ...] = ()
    priority: int = 0
    budget: Budget = Budget()
    task_budget: Budget = Budget()
    # Ids of the tasks, one for each, or none; and the workflow that the tasks build.
    task_ids: tuple[str, ...] = ()
    workflow: str | None = None


def create_loop(context: Context, request: LoopRequest) -> Loop:
    """Create a loop. It does nothing until it is started."""
    record_choice(context.layout)
    settings = context.settings.values
    loop_id = f"loop-v2-{context.clock():%Y%m%d}-{''.join(secrets.choice(_LETTERS) for _ in range(6))}"
    created = LoopCreated(
        loop_id=loop_id,
        title=required_text(context, "the title", request.title),
        description=checked_text(context, "the description", request.description),
        max_iterations=request.max_iterations or settings.loop.max_iterations,
        mode=request.mode,
        agent=checked_text(context, "the agent", request.agent) or settings.agents.default_for_role("builder"),
        tags=tuple(required_text(context, "a tag", tag) for tag in request.tags),
        priority=request.priority,
        budget=limits_for(context, request.budget),
        task_budget=task_limits_for(context, request.task_budget),
        workflow=request.workflow,
    )
    ids = request.task_ids or tuple(f"T-{number}" for number in range(1, len(request.tasks) + 1))
    tasks = (
        new_task(context, task_id, required_text(context, "a task", text), created.agent or "bash")
        for task_id, text in zip(ids, request.tasks, strict=True)
    )
    return loops_of(context).create(created, actor(), *(e.TaskAdded(task=task) for task in tasks))


def lift_holds(
    context: Context,
    loop_id: str,
    *,
    budget: Budget = NO_LIMITS,
    task_budget: Budget = NO_LIMITS,
    max_iterations: int | None = None,
    revision: int | None = None,
) -> Loop:
    """Lift every hold that a person can lift, and a budget hold if the new budget allows more."""
    require_person(context.environment, "loop resume")
    with loops_of(context).changing(loop_id, revision=revision) as opened:
        if max_iterations is not None:
            opened.apply(e.IterationsGiven(max_iterations=max_iterations), actor())
        before = opened.loop
        after = replace(before, budget=before.budget.but(budget), task_budget=before.task_budget.but(task_budget))
        lifts = _lifted(before, after, now := stamp(context.clock()))
        is_lifted = isinstance(before.phase, Held) and any(hold.holder in lifts for hold in before.phase.holds)
        # A running loop has no hold to lift: its worker died, and the caller starts another one.
        if is_lifted or not (isinstance(before.phase, Running) or _budget_was_the_obstacle(before, after, now)):
            if not isinstance(before.phase, Held) and after != before and (over := still_over(after, now)) is not None:
                raise LoopRefused(over.code, over.message, hint="set a higher limit")
            opened.apply(c.Resume(lifts=lifts), actor())
        if after.budget != before.budget:
            opened.apply(e.BudgetSet(budget=after.budget), actor())
        if after.task_budget != before.task_budget:
            opened.apply(e.TaskBudgetSet(budget=after.task_budget), actor())
        return opened.loop


def _lifted(before: Loop, after: Loop, now: str) -> frozenset[Holder]:
    """The holders to lift. Only a new turn shows whether the limit of an agent was raised, so that hold is lifted."""
    has_room = still_over(after, now) is None or any(is_own_limit(hold) for hold in before.holds)
    lifts = _LIFTED | ({Holder.BUDGET} if has_room else frozenset())
    return lifts | {Holder.DECISION} if is_held_for_choice(before) else lifts  # the worker asks again


def _budget_was_the_obstacle(before: Loop, after: Loop, now: str) -> bool:
    """Whether only the budget was in the way: tasks can be planned for a loop that does not run."""
    return any(over(before, now) is not None and over(after, now) is None for over in (still_over, hold_before_call))


def answer_decision(
    context: Context, loop_id: str, decision_id: str, text: str, *, revision: int | None = None
) -> Loop:
    """Record the answer; the hold of the loop is lifted when no question is open."""
    require_person(context.environment, "loop answer")
    answer = checked_text(context, "the answer", text)
    with loops_of(context).changing(loop_id, revision=revision) as opened:
        return opened.apply(e.DecisionAnswered(decision_id=decision_id, answer=answer, by=actor()), actor())


def has_worker(context: Context, loop_id: str) -> bool:
    """Whether a process drives the loop."""
    return is_held(context.layout.loop_worker(loop_id))


def pending_task(context: Context, loop: Loop, description: str, *, tool: str, mode: TaskMode = "write") -> Task:
    """A new task for a loop, with the first free id; without a tool, the agent of the loop does the task."""
    taken = {task.id for task in loop.tasks}
    free = next(name for number in range(1, len(taken) + 2) if (name := f"T-{number}") not in taken)
    return new_task(context, free, description, tool or loop.agent or "bash", mode)


def new_task(context: Context, task_id: str, description: str, tool: str, mode: TaskMode = "write") -> Task:
    """A pending task that is created now."""
    now = stamp(context.clock())
    return Task(id=task_id, description=description, tool=tool, mode=mode, status="pending", created_at=now)
