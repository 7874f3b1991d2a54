"""What a new loop and its tasks may use: the settings, and what the request says instead."""

from __future__ import annotations

from loopwright.loop.model import Budget
from loopwright.stages.context import Context


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
