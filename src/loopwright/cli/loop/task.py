"""`loopwright loop task`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.loop.budgets import budget_from, task_budget_options
from loopwright.cli.loop.output import say_loop
from loopwright.cli.options import context_of, in_workspace, say, say_json
from loopwright.cli.run import stopping_on_signals
from loopwright.loop.model import TaskMode
from loopwright.loop.projection import task_line
from loopwright.verbs.loop.generate import GenerateRequest, generate_tasks
from loopwright.verbs.loop.look import resolve
from loopwright.verbs.loop.tasks import (
    TaskRequest,
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
  loopwright loop task generate LOOP --count 5 --dry-run
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
    request = TaskRequest(description=description, tool=tool, mode=mode, budget=budget_from(limits))
    say_loop(add_task(context, resolve(context, loop), request, before=before), as_json=as_json)
    return 0


@command.command("edit", short_help="Change a task that nobody is at.")
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
    request = TaskRequest(description=description, tool=tool, mode=mode, reopen=reopen, budget=budget_from(limits))
    say_loop(edit_task(context, resolve(context, loop), task, request), as_json=as_json)
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


@command.command("order", short_help="Put these tasks first, in this order.")
@click.argument("loop")
@click.argument("tasks", nargs=-1, required=True)
@in_workspace
def order(loop: str, tasks: tuple[str, ...], project_root: Path, as_json: bool) -> int:
    """Put these tasks first, in this order; the others follow as they were."""
    context = context_of(project_root)
    say_loop(order_tasks(context, resolve(context, loop), tasks), as_json=as_json)
    return 0


@command.command("import", short_help="Add the tasks of a file, all or none.")
@click.argument("loop")
@click.argument("file", type=click.Path(path_type=Path))
@in_workspace
def import_command(loop: str, file: Path, project_root: Path, as_json: bool) -> int:
    """Add the tasks of a file, all or none: one JSON a line, or a line of text for each."""
    context = context_of(project_root)
    say_loop(import_tasks(context, resolve(context, loop), file), as_json=as_json)
    return 0


@command.command("generate", short_help="Ask an agent for tasks.")
@click.argument("loop")
@click.option("--agent", default="", help="Who plans; default: by agents.roles, else the loop's agent.")
@click.option("--count", "most", type=click.IntRange(1), help="So many tasks at most.")
@click.option("--dry-run", is_flag=True, help="Show what the agent proposes, and add nothing; the turn is paid for.")
@in_workspace
def generate(loop: str, agent: str, most: int | None, dry_run: bool, project_root: Path, as_json: bool) -> int:
    """Ask an agent for tasks, from the description and from what is there; all are added, or none.

    Within the loop's budget, and only while no process drives the loop.
    """
    context = context_of(project_root)
    request = GenerateRequest(agent=agent, most=most, dry_run=dry_run)
    with stopping_on_signals() as cancellation:
        found = generate_tasks(context, resolve(context, loop), request, cancellation)
    if as_json:
        tasks = [task_line(task) for task in found.tasks]
        say_json({"loop_id": found.loop.loop_id, "added": found.added, "tasks": tasks})
        return 0
    for task in found.tasks:
        say(f"  {task.id} [{task.tool}] {task.description}")
    say(f"{len(found.tasks)} tasks {'were added' if found.added else 'were proposed; nothing was added'}")
    return 0
