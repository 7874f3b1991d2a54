"""The cost of a workflow, in its stages and its loops; and what remains of the budget of an autopilot."""

from __future__ import annotations

from msgspec.structs import replace

from loopwright.agents.failover import Takeover
from loopwright.agents.port import Allowance, Reason
from loopwright.errors import LoopwrightError, WorkflowRefused
from loopwright.loop import events as e
from loopwright.loop.model import Budget, Loop, Spent, reason_in
from loopwright.stages.context import Context, loops_of, workflows_of
from loopwright.stages.open_turns import count_dead_turns
from loopwright.stages.person import actor
from loopwright.workflow.flight import left_of, used_up
from loopwright.workflow.model import Amounts, Flight, Workflow

_LIMITED = ("usd", "tokens", "wall_s", "turns")


def loops_for(context: Context, workflow: Workflow) -> list[Loop]:
    """The loops of the builds of a workflow; unreadable loops are skipped."""
    loops = []
    for loop_id in workflow.loops:
        try:
            loops.append(loops_of(context).load(loop_id))
        except LoopwrightError:
            continue
    return loops


def takeovers_of(workflow: Workflow, loops: list[Loop]) -> tuple[Takeover, ...]:
    """The takeovers in the stages and the loops of a workflow, oldest first."""
    takeovers = (*workflow.takeovers, *(takeover for loop in loops for takeover in loop.takeovers))
    return tuple(sorted(takeovers, key=lambda takeover: takeover.at))


def spent_on(workflow: Workflow, loops: list[Loop]) -> Amounts:
    """The total cost, as far as agents reported it."""
    costs, in_loops = workflow.costs, sum((loop.spent for loop in loops), Spent())
    return Amounts(
        usd=round(sum(cost.usd or 0.0 for cost in costs) + in_loops.usd, 6),
        tokens=sum(cost.tokens or 0 for cost in costs) + in_loops.tokens,
        wall_s=round(sum(cost.wall_s for cost in costs) + in_loops.wall_s, 3),
        turns=len(costs) + in_loops.turns,
    )


class Spending:
    """The budget of an autopilot: checked before each turn of an agent, and the limit of that turn."""

    def __init__(self, context: Context, slug: str) -> None:
        self._context = context
        self._slug = slug

    def allowance(self) -> Allowance:
        """The limits of the next turn; refused with the code of the limit if one is reached."""
        flight, spent = self._now()
        if flight is None:
            return Allowance()
        if (over := used_up(flight, spent)) is not None:
            raise self.refusal(*over)
        return Allowance(*(left_of(flight, spent, name) for name in Allowance.__struct_fields__))

    def refusal(self, code: str, message: str) -> WorkflowRefused:
        """The autopilot stops because this limit is reached."""
        more = "--max-iterations …" if code == "budget_iterations" else "--usd …, --tokens …, --wall …, --turns …"
        hint = f"raise the limit: loopwright autopilot {self._slug} {more}"
        if reason_in(code) is Reason.BUDGET_USED:  # a limit of the agent's program, not of Loopwright
            hint = f"raise the limit of the agent, then `loopwright autopilot {self._slug}`"
        return WorkflowRefused("autopilot_phase_blocked", message, next_command=hint, blockers=((code, message, hint),))

    def after_an_end(self, code: str, message: str) -> WorkflowRefused:
        """The refusal after a limit ended the work: a limit of the autopilot, else the reported one."""
        flight, spent = self._now()
        over = used_up(flight, spent) if flight is not None else None
        return self.refusal(*(over or (code, message)))

    def bind(self, loop_id: str) -> None:
        """Limit the loop of the build to the remaining budget, and to the limits of the settings."""
        flight, spent = self._now()
        if flight is None:
            return
        own = limits_for(self._context, Budget())
        with loops_of(self._context).changing(loop_id) as opened:
            limits: dict[str, float | int | None] = {}
            for name in _LIMITED:
                left = left_of(flight, spent, name)
                most = None if left is None else getattr(opened.loop.spent, name) + left
                known = [limit for limit in (most, getattr(own, name)) if limit is not None]
                limits[name] = min(known) if known else None
            budget = replace(opened.loop.budget, **limits)
            if budget != opened.loop.budget:
                opened.apply(e.BudgetSet(budget=budget), actor())

    def _now(self) -> tuple[Flight | None, Amounts]:
        with workflows_of(self._context).changing(self._slug) as opened:
            workflow = opened.workflow
        workflow = count_dead_turns(self._context, workflow)
        return workflow.flight, spent_on(workflow, loops_for(self._context, workflow))


def limits_for(context: Context, requested: Budget) -> Budget:
    """The limits of a loop. In the settings, 0 means no limit."""
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
    """The limits of each task. In the settings, 0 means no limit."""
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
