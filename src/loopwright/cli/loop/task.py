"""`loopwright loop task`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.loop.budgets import budget_from, task_budget_options
from loopwright.cli.loop.output import say_loop
from loopwright.cli.options import context_of, in_workspace
from loopwright.loop.model import TaskMode
from loopwright.verbs.loop.look import resolve
from loopwright.verbs.loop.tasks import (
    TaskWish,
    add_task,
    edit_task,
    finish_task,
    import_tasks,
    order_tasks,
    remove_task,
)

_EPILOG = """\b
Examples:
  loopwright loop task add LOOP "write a failing test" --tool claude
  loopwright loop task add LOOP "make lint" --tool bash --before T-2
  loopwright loop task edit LOOP T-1 --description "write two failing tests"
  loopwright loop task edit LOOP T-1 --usd 2 --retries 1
  loopwright loop task order LOOP T-3 T-1
  loopwright loop task import LOOP tasks.jsonl
"""
_MODE = click.option("--mode", type=click.Choice(["write", "analysis"]), help="May it change files?")
_TOOL = click.option("--tool", help="An agent's name, or bash: then the description is the command.")


@click.group(epilog=_EPILOG)
def command() -> None:
    """The tasks of a loop: what is to be done, in which order, by whom."""


@command.command("add")
@click.argument("loop")
@click.argument("description")
@_TOOL
@_MODE
@click.option("--before", metavar="TASK", help="Put it in front of this one; default: at the end.")
@task_budget_options
@in_workspace
def add(
    loop: str, description: str, tool: str | None, mode: TaskMode | None, before: str | None, project_root: Path,
    as_json: bool, **limits: float | None,
) -> int:  # fmt: skip
    """Add a task."""
    context = context_of(project_root)
    wish = TaskWish(description=description, tool=tool, mode=mode, budget=budget_from(limits))
    say_loop(add_task(context, resolve(context, loop), wish, before=before), as_json=as_json)
    return 0


@command.command("edit")
@click.argument("loop")
@click.argument("task")
@click.option("--description", help="What is to be done.")
@_TOOL
@_MODE
@click.option("--reopen", is_flag=True, help="It is to be done again.")
@task_budget_options
@in_workspace
def edit(
    loop: str, task: str, description: str | None, tool: str | None, mode: TaskMode | None, reopen: bool,
    project_root: Path, as_json: bool, **limits: float | None,
) -> int:  # fmt: skip
    """Change a task that nobody is at; what it may cost can be changed at any time."""
    context = context_of(project_root)
    wish = TaskWish(description=description, tool=tool, mode=mode, reopen=reopen, budget=budget_from(limits))
    say_loop(edit_task(context, resolve(context, loop), task, wish), as_json=as_json)
    return 0


@command.command("done")
@click.argument("loop")
@click.argument("task")
@in_workspace
def done(loop: str, task: str, project_root: Path, as_json: bool) -> int:
    """Say that a task is done: you did it yourself."""
    context = context_of(project_root)
    say_loop(finish_task(context, resolve(context, loop), task), as_json=as_json)
    return 0


@command.command("remove")
@click.argument("loop")
@click.argument("task")
@in_workspace
def remove(loop: str, task: str, project_root: Path, as_json: bool) -> int:
    """Take a task out."""
    context = context_of(project_root)
    say_loop(remove_task(context, resolve(context, loop), task), as_json=as_json)
    return 0


@command.command("order")
@click.argument("loop")
@click.argument("tasks", nargs=-1, required=True)
@in_workspace
def order(loop: str, tasks: tuple[str, ...], project_root: Path, as_json: bool) -> int:
    """Put these tasks first, in this order; the others follow as they were."""
    context = context_of(project_root)
    say_loop(order_tasks(context, resolve(context, loop), tasks), as_json=as_json)
    return 0


@command.command("import")
@click.argument("loop")
@click.argument("file", type=click.Path(path_type=Path))
@in_workspace
def import_command(loop: str, file: Path, project_root: Path, as_json: bool) -> int:
    """Add the tasks of a file, all or none: one JSON a line, or a line of text for each."""
    context = context_of(project_root)
    say_loop(import_tasks(context, resolve(context, loop), file), as_json=as_json)
    return 0
