"""The options that say what a loop, every task of it, or one task may cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from loopwright.loop.model import Budget

_F = TypeVar("_F", bound=Callable[..., Any])


class _Amount(click.FloatRange):
    """Above 0, and a number: neither `nan` nor `inf` is a limit, and JSON has neither."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if not math.isfinite(found):
            self.fail(f"{value} is no amount", param, ctx)
        return found


_MONEY = _SECONDS = _Amount(min=0, min_open=True)
_COUNT, _RETRIES = click.IntRange(1), click.IntRange(0)
# The option's name, the budget's, the type, and what it says of a loop and of a task.
_OPTIONS: tuple[tuple[str, str, click.ParamType[Any], str, str], ...] = (
    ("usd", "usd", _MONEY, "US dollars that it may cost.", "US dollars"),
    ("tokens", "tokens", _COUNT, "Tokens that it may use.", "tokens"),
    ("wall", "wall_s", _SECONDS, "Seconds of work that it may take.", "seconds of work"),
    ("turns", "turns", _COUNT, "Agent turns that it may take.", "agent turns"),
    ("iterations", "iterations", _COUNT, "How often it is taken up.", "times that it is taken up"),
    ("retries", "retries", _RETRIES, "Failed tries that are followed by another.", "tries after a failed one"),
)


def loop_budget_options(command: _F) -> _F:
    """--usd … for the loop (its iterations are --max-iterations), --task-usd … for every task of it."""
    for option, name, kind, _, of_a_task in reversed(_OPTIONS):
        said = f"The same for each task: {of_a_task}."
        command = click.option(f"--task-{option}", f"task_{name}", type=kind, help=said)(command)
    for option, name, kind, of_the_loop, _ in reversed(_OPTIONS):
        if name != "iterations":
            command = click.option(f"--{option}", name, type=kind, help=of_the_loop)(command)
    return command


def flight_budget_options(command: _F) -> _F:
    """--usd … for all stages of a workflow together."""
    for option, name, kind, of_the_loop, _ in reversed(_OPTIONS):
        if name not in ("iterations", "retries"):
            command = click.option(f"--{option}", name, type=kind, help=of_the_loop)(command)
    return command


def task_budget_options(command: _F) -> _F:
    """--usd … for one task."""
    for option, name, kind, said, _ in reversed(_OPTIONS):
        command = click.option(f"--{option}", name, type=kind, help=said)(command)
    return command


def budget_from(limits: Mapping[str, Any], prefix: str = "") -> Budget:
    """What was said, as a budget; `task_` for what was said of each task."""
    return Budget(**{name: limits.get(f"{prefix}{name}") for _, name, _, _, _ in _OPTIONS})
