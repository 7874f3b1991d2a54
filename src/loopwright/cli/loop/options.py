"""Options that commands of a loop share: the loop itself, and limits of the loop, of each task or of one task."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from loopwright.cli.options import in_context
from loopwright.loop.model import Budget
from loopwright.stages.context import Context
from loopwright.verbs.loop.look import resolve

# The name of the option, the field of the budget, the type, the help.
_Limit = tuple[str, str, click.ParamType[Any], str]


def in_loop(command: Callable[..., Any]) -> Callable[..., Any]:
    """Like `in_context`, for a command with the argument `loop`: it gets the context and the id of the loop."""

    @wraps(command)
    def call(context: Context, loop: str, **options: Any) -> Any:
        return command(context, resolve(context, loop), **options)

    return in_context(call)


class _Amount(click.FloatRange):
    """A finite number above 0: `nan` and `inf` are not limits, and JSON has neither."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        amount = super().convert(value, param, ctx)
        if not math.isfinite(amount):
            self.fail(f"{value} is not a valid amount", param, ctx)
        return amount


_MONEY = _SECONDS = _Amount(min=0, min_open=True)
_COUNT, _RETRIES = click.IntRange(1), click.IntRange(0)
# Name of the option, field of the budget, type, help for a loop or one task, help for each task of a loop.
_OPTIONS: tuple[tuple[str, str, click.ParamType[Any], str, str], ...] = (
    ("usd", "usd", _MONEY, "Cost limit in US dollars.", "Cost limit of each task in US dollars."),
    ("tokens", "tokens", _COUNT, "Token limit.", "Token limit of each task."),
    ("wall", "wall_s", _SECONDS, "Limit of working time in seconds.", "Limit of working time of each task in seconds."),
    ("turns", "turns", _COUNT, "Limit of agent turns.", "Limit of agent turns of each task."),
    ("iterations", "iterations", _COUNT, "Limit of iterations.", "Limit of iterations of each task."),
    ("retries", "retries", _RETRIES, "Limit of retries after a failure.", "Limit of retries of each task."),
)


def loop_budget_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--usd … as `budget` of the loop (its iterations are --max-iterations), --task-usd … as `task_budget`."""
    of_task = [(f"task-{option}", name, kind, help_text) for option, name, kind, _, help_text in _OPTIONS]
    return _limits("budget", _but("iterations"))(_limits("task_budget", of_task)(command))


def autopilot_budget_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--usd … as `budget` of all stages of a workflow together."""
    return _limits("budget", _but("iterations", "retries"))(command)


def task_budget_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--usd … as `budget` of one task."""
    return _limits("budget", _but())(command)


def _but(*names: str) -> list[_Limit]:
    return [(option, name, kind, help_text) for option, name, kind, help_text, _ in _OPTIONS if name not in names]


def _limits(parameter: str, limits: list[_Limit]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add an option for each limit; the command gets them as one budget, under this name."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def call(**options: Any) -> Any:
            budget = Budget(**{name: options.pop(f"{parameter}_{name}") for _, name, _, _ in limits})
            return command(**options, **{parameter: budget})

        for option, name, kind, help_text in reversed(limits):
            click.option(f"--{option}", f"{parameter}_{name}", type=kind, help=help_text)(call)
        return call

    return decorate
