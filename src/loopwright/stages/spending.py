"""What a workflow has cost so far, in its stages and in the loops that built it; and what an autopilot has left."""

from __future__ import annotations

from msgspec.structs import replace

from loopwright.agents.failover import Takeover
from loopwright.agents.port import Allowance, Reason
from loopwright.errors import LoopwrightError, WorkflowRefused
from loopwright.loop import events as e
from loopwright.loop.model import Budget, Loop, reason_in
from loopwright.stages.context import Context, loops_of, workflows_of
from loopwright.stages.open_turns import count_the_dead
from loopwright.stages.person import actor
from loopwright.workflow.flight import left_of, used_up
from loopwright.workflow.model import Amounts, Flight, Workflow

_LIMITED = ("usd", "tokens", "wall_s", "turns")


def loops_for(context: Context, workflow: Workflow) -> list[Loop]:
    """The loops that built for it; one that is gone says nothing any more."""
    found = []
    for loop_id in workflow.loops:
        try:
            found.append(loops_of(context).load(loop_id))
        except LoopwrightError:
            continue
    return found


def takeovers_of(workflow: Workflow, loops: list[Loop]) -> tuple[Takeover, ...]:
    """Who took over from whom, in its stages and in the loops that built it, in the order of time."""
    found = (*workflow.takeovers, *(one for loop in loops for one in loop.takeovers))
    return tuple(sorted(found, key=lambda one: one.at))


def spent_on(workflow: Workflow, loops: list[Loop]) -> Amounts:
    """All of it, as far as agents said."""
    costs, spent = workflow.costs, [loop.spent for loop in loops]
    return Amounts(
        usd=round(sum(cost.usd or 0.0 for cost in costs) + sum(one.usd for one in spent), 6),
        tokens=sum(cost.tokens or 0 for cost in costs) + sum(one.tokens for one in spent),
        wall_s=round(sum(cost.wall_s for cost in costs) + sum(one.wall_s for one in spent), 3),
        turns=len(costs) + sum(one.turns for one in spent),
    )


class Spending:
    """An autopilot's purse: asked before each call of an agent, and what that call may use."""

    def __init__(self, context: Context, slug: str) -> None:
        self._context = context
        self._slug = slug

    def allowance(self) -> Allowance:
        """For the next call; refused, with the limit's code, when one is used up."""
        flight, spent = self._now()
        if flight is None:
            return Allowance()
        if (over := used_up(flight, spent)) is not None:
            raise self.refusal(*over)
        return Allowance(*(left_of(flight, spent, name) for name in Allowance.__struct_fields__))

    def refusal(self, code: str, message: str) -> WorkflowRefused:
        """The autopilot stops: this limit is used up."""
        more = "--max-iterations …" if code == "budget_iterations" else "--usd …, --tokens …, --wall …, --turns …"
        way = f"give it more: loopwright autopilot {self._slug} {more}"
        if reason_in(code) is Reason.BUDGET_USED:  # what an agent's own program says, and none of our limits
            way = f"the limit is the agent's own: raise it, then `loopwright autopilot {self._slug}`"
        return WorkflowRefused("autopilot_phase_blocked", message, next_command=way, blockers=((code, message, way),))

    def after_an_end(self, code: str, message: str) -> WorkflowRefused:
        """Work was ended for a limit: the autopilot's own, where one is used up, else what was said of it."""
        flight, spent = self._now()
        over = used_up(flight, spent) if flight is not None else None
        return self.refusal(*(over or (code, message)))

    def bind(self, loop_id: str) -> None:
        """The loop that builds may use what is left, and no more than its own settings allow."""
        flight, spent = self._now()
        if flight is None:
            return
        own = limits_for(self._context, Budget())
        with loops_of(self._context).changing(loop_id) as opened:
            limits: dict[str, float | int | None] = {}
            for name in _LIMITED:
                left = left_of(flight, spent, name)
                most = None if left is None else getattr(opened.loop.spent, name) + left
                known = [one for one in (most, getattr(own, name)) if one is not None]
                limits[name] = min(known) if known else None
            budget = replace(opened.loop.budget, **limits)
            if budget != opened.loop.budget:
                opened.apply(e.BudgetSet(budget=budget), actor())

    def _now(self) -> tuple[Flight | None, Amounts]:
        with workflows_of(self._context).changing(self._slug) as opened:
            workflow = opened.workflow
        workflow = count_the_dead(self._context, workflow)
        return workflow.flight, spent_on(workflow, loops_for(self._context, workflow))


def limits_for(context: Context, requested: Budget) -> Budget:
    """The loop's limits. In the settings 0 means no limit."""
    defaults = context.settings.values.budget
    limits = Budget(
        usd=defaults.usd or None,
        tokens=defaults.tokens or None,
        wall_s=float(defaults.wall_s) or None,
        turns=defaults.turns or None,
        retries=defaults.retries or None,
    )
    return limits.but(requested)


def task_limits_for(context: Context, requested: Budget) -> Budget:
    """The limits of each task."""
    defaults = context.settings.values.budget
    limits = Budget(
        usd=defaults.task_usd or None,
        tokens=defaults.task_tokens or None,
        wall_s=float(defaults.task_wall_s) or None,
        turns=defaults.task_turns or None,
        iterations=defaults.task_iterations or None,
        retries=defaults.task_retries or None,
    )
    return limits.but(requested)
