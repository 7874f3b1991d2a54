"""Budgets: what is left, and whether an action may begin. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec

from loopwright.loop.model import LIMITS, Action, Budget, Hold, Holder, Loop, Spent

_WORDS = {
    "usd": "US dollars",
    "tokens": "tokens",
    "wall_s": "seconds of work",
    "turns": "turns of agents",
    "iterations": "iterations",
}
# Sums of fractions of seconds and dollars are not exact.
_NEAR = 1e-6
# Actions that call an agent or a command. A validation costs time only.
_COSTLY = frozenset({Action.INIT, Action.DEVELOP, Action.DEBUG})


class BudgetUse(msgspec.Struct, frozen=True):
    """What the loop or a task has spent, and its budget."""

    whose: str
    spent: Spent
    iterations: int
    budget: Budget

    def used(self, name: str) -> float:
        """How much of one kind is used."""
        found: float = self.iterations if name == "iterations" else getattr(self.spent, name)
        return found

    def left(self, name: str) -> float | None:
        """How much of one kind is left; None is no limit."""
        limit = getattr(self.budget, name)
        return None if limit is None else limit - self.used(name)


def budget_uses(loop: Loop, task_id: str | None) -> Iterator[BudgetUse]:
    """The budgets that pay for work at a task: of the loop, and of the task."""
    yield BudgetUse("the loop", loop.spent, loop.iteration, loop.budget)
    if task_id is not None:
        spent = loop.spent_by_task.get(task_id, Spent())
        yield BudgetUse(f"the task {task_id}", spent, loop.tries.get(task_id, 0), loop.budget_of(task_id))


def hold_before(loop: Loop, action: Action, task_id: str | None, now: str) -> Hold | None:
    """The hold for an action that may not begin; None if the budget allows it."""
    names = LIMITS if action in _COSTLY else ("wall_s",) if action is Action.VALIDATE else ()
    return _first_hold(loop, task_id, names, now)


def hold_before_call(loop: Loop, now: str) -> Hold | None:
    """The same for one call within the action under way, whose iteration has begun."""
    names = tuple(name for name in LIMITS if name not in ("iterations", "retries"))
    return _first_hold(loop, loop.task_id_under_way, names, now)


def still_over(loop: Loop, now: str) -> Hold | None:
    """The hold of a budget that is used up, whatever the next action is."""
    task_id = loop.task_id_under_way if loop.under_way else next((task.id for task in loop.pending), None)
    return _first_hold(loop, task_id, LIMITS, now)


def _first_hold(loop: Loop, task_id: str | None, names: tuple[str, ...], now: str) -> Hold | None:
    for use in budget_uses(loop, task_id):
        for name in names:
            if (said := _limit_message(use, name)) is not None:
                return Hold(holder=Holder.BUDGET, code=f"budget_{name}", message=said, since=now)
    return None


def _limit_message(use: BudgetUse, name: str) -> str | None:
    limit, used = getattr(use.budget, name), use.used(name)
    if limit is None:
        return None
    if name == "retries":
        # That many failed tries are followed by another try.
        failed = f"{use.whose} has {used:g} failed tries, and {limit:g} of them may be tried again"
        return failed if used > limit else None
    return f"{use.whose} has used {used:g} of {limit:g} {_WORDS[name]}" if used >= limit - _NEAR else None


def left_for_a_turn(loop: Loop, name: str) -> float | None:
    """How much of one kind a turn may use now: the least of what the loop and the task have left."""
    uses = budget_uses(loop, loop.task_id_under_way)
    lefts = [left for use in uses if (left := use.left(name)) is not None]
    return max(0.0, min(lefts)) if lefts else None


def hold_after(loop: Loop, name: str, now: str) -> Hold:
    """The hold for a turn that ended at this limit, of the loop or of the task: the one with less left."""
    whose = min(
        budget_uses(loop, loop.task_id_under_way),
        key=lambda use: math.inf if (left := use.left(name)) is None else left,
    )
    said = f"{whose.whose} has used {whose.used(name):g} of {getattr(whose.budget, name):g} {_WORDS[name]}"
    return Hold(holder=Holder.BUDGET, code=f"budget_{name}", message=f"{said}; the turn was ended", since=now)
