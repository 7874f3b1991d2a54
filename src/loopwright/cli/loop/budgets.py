"""Options for the limits of a loop, of each of its tasks, or of one task."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from loopwright.loop.model import Budget

_F = TypeVar("_F", bound=Callable[..., Any])


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


def loop_budget_options(command: _F) -> _F:
    """--usd … for the loop (its iterations are --max-iterations), --task-usd … for each of its tasks."""
    for option, name, kind, _, task_help in reversed(_OPTIONS):
        command = click.option(f"--task-{option}", f"task_{name}", type=kind, help=task_help)(command)
    for option, name, kind, loop_help, _ in reversed(_OPTIONS):
        if name != "iterations":
            command = click.option(f"--{option}", name, type=kind, help=loop_help)(command)
    return command


def flight_budget_options(command: _F) -> _F:
    """--usd … for all stages of a workflow together."""
    for option, name, kind, loop_help, _ in reversed(_OPTIONS):
        if name not in ("iterations", "retries"):
            command = click.option(f"--{option}", name, type=kind, help=loop_help)(command)
    return command


def task_budget_options(command: _F) -> _F:
    """--usd … for one task."""
    for option, name, kind, task_help, _ in reversed(_OPTIONS):
        command = click.option(f"--{option}", name, type=kind, help=task_help)(command)
    return command


def budget_from(limits: Mapping[str, Any], prefix: str = "") -> Budget:
    """The limits given on the command line; the prefix `task_` selects the limits of each task."""
    return Budget(**{name: limits.get(f"{prefix}{name}") for _, name, _, _, _ in _OPTIONS})
