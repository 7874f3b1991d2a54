"""`loopwright loop new`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.loop.budgets import budget_from, loop_budget_options
from loopwright.cli.loop.output import say_standing
from loopwright.cli.options import context_of, in_workspace
from loopwright.loop.model import Mode
from loopwright.verbs.loop.control import LoopRequest, new_loop

_EPILOG = """\b
Examples:
  loopwright loop new "faster imports" --description "import time below 100 ms"
  loopwright loop new "fix the parser" --task "write a failing test" --task "make it pass" --agent claude
  loopwright loop new "night shift" --max-iterations 50 --usd 10 --task-usd 2 --task-retries 1
"""


@click.command(epilog=_EPILOG)
@click.argument("title")
@click.option("--description", default="", help="What it is about; an agent can split it into tasks.")
@click.option("--task", "tasks", multiple=True, help="A task; can be given several times.")
@click.option("--agent", default="", help="Who works on it; default: by agents.roles, else agents.default.")
@click.option("--max-iterations", type=click.IntRange(1), help="Develop, debug and validate count one each.")
@click.option(
    "--mode",
    type=click.Choice(["auto", "interactive"]),
    default="auto",
    show_default=True,
    help="Who chooses what is next: the rules, or a person before each action.",
)
@click.option("--tag", "tags", multiple=True, help="A word to find it by.")
@click.option("--priority", type=int, default=0, show_default=True, help="Higher comes first.")
@loop_budget_options
@in_workspace
def command(
    title: str,
    description: str,
    tasks: tuple[str, ...],
    agent: str,
    max_iterations: int | None,
    mode: Mode,
    tags: tuple[str, ...],
    priority: int,
    project_root: Path,
    as_json: bool,
    **limits: float | None,
) -> int:
    """Make a loop. It does nothing until it is started."""
    context = context_of(project_root)
    loop = new_loop(
        context,
        LoopRequest(
            title=title, description=description, max_iterations=max_iterations, mode=mode, agent=agent, tags=tags,
            priority=priority, budget=budget_from(limits), task_budget=budget_from(limits, "task_"), tasks=tasks,
        ),
    )  # fmt: skip
    say_standing(context, loop, as_json=as_json)
    return 0
