"""`loopwright loop task`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from loopwright.cli.loop.options import in_loop, task_budget_options
from loopwright.cli.loop.output import echo_loop
from loopwright.cli.options import GroupWithExamples, echo, echo_json
from loopwright.cli.run import stopping_on_signals
from loopwright.loop.projection import task_line
from loopwright.stages.context import Context
from loopwright.verbs.loop.generate import GenerateRequest, generate_tasks
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
  loopwright loop task done LOOP T-2
  loopwright loop task remove LOOP T-4
  loopwright loop task import LOOP tasks.jsonl
  loopwright loop task generate LOOP --count 5 --dry-run
"""
_MODE = click.option(
    "--mode", type=click.Choice(["write", "analysis"]), help="write: the task may change files; analysis: it may not."
)
_TOOL = click.option("--tool", help="Name of an agent, or bash: then the description is the command.")


@click.group(cls=GroupWithExamples, epilog=_EPILOG)
def command() -> None:
    """Manage the tasks of a loop: what to do, in which order, by which agent."""


@command.command("add")
@click.argument("loop")
@click.argument("description")
@_TOOL
@_MODE
@click.option("--before", metavar="TASK", help="Insert before this task; default: at the end.")
@task_budget_options
@in_loop
def add(context: Context, loop_id: str, before: str | None, as_json: bool, **options: Any) -> None:
    """Add a task."""
    echo_loop(add_task(context, loop_id, TaskRequest(**options), before=before), as_json=as_json)


@command.command("edit", short_help="Change a task.")
@click.argument("loop")
@click.argument("task")
@click.option("--description", help="What to do.")
@_TOOL
@_MODE
@click.option("--reopen", is_flag=True, help="Do a finished task again.")
@task_budget_options
@in_loop
def edit(context: Context, loop_id: str, task: str, as_json: bool, **options: Any) -> None:
    """Change a task. While an agent works on the task, only its budget can change."""
    echo_loop(edit_task(context, loop_id, task, TaskRequest(**options)), as_json=as_json)


@command.command("done")
@click.argument("loop")
@click.argument("task")
@in_loop
def done(context: Context, loop_id: str, task: str, as_json: bool) -> None:
    """Mark a task as done because you did it yourself."""
    echo_loop(finish_task(context, loop_id, task), as_json=as_json)


@command.command("remove")
@click.argument("loop")
@click.argument("task")
@in_loop
def remove(context: Context, loop_id: str, task: str, as_json: bool) -> None:
    """Remove a task."""
    echo_loop(remove_task(context, loop_id, task), as_json=as_json)


@command.command("order", short_help="Move tasks to the front, in this order.")
@click.argument("loop")
@click.argument("tasks", nargs=-1, required=True)
@in_loop
def order(context: Context, loop_id: str, tasks: tuple[str, ...], as_json: bool) -> None:
    """Move these tasks to the front, in this order. The others keep their order behind them."""
    echo_loop(order_tasks(context, loop_id, tasks), as_json=as_json)


@command.command("import", short_help="Add the tasks of a file.")
@click.argument("loop")
@click.argument("file", type=click.Path(path_type=Path))
@in_loop
def import_command(context: Context, loop_id: str, file: Path, as_json: bool) -> None:
    """Add the tasks of a file: one JSON object or one line of text for each task. All are added, or none."""
    echo_loop(import_tasks(context, loop_id, file), as_json=as_json)


@command.command("generate", short_help="Ask an agent for tasks.")
@click.argument("loop")
@click.option("--agent", default="", help="Agent that plans; default: agents.roles, then the loop's agent.")
@click.option("--count", "most", type=click.IntRange(1), help="Limit of tasks.")
@click.option("--dry-run", is_flag=True, help="Show the proposed tasks without adding them; the turn still costs.")
@in_loop
def generate(context: Context, loop_id: str, as_json: bool, **options: Any) -> None:
    """Ask an agent for tasks, based on the description of the loop and on the project. All are added, or none.

    The turn counts towards the budget of the loop. Use it only while no process drives the loop.
    """
    with stopping_on_signals() as cancellation:
        report = generate_tasks(context, loop_id, GenerateRequest(**options), cancellation)
    if as_json:
        tasks = [task_line(report.loop, task) for task in report.tasks]
        echo_json({"loop_id": report.loop.loop_id, "added": report.added, "tasks": tasks})
        return
    for task in report.tasks:
        echo(f"  {task.id} [{task.tool}] {task.description}")
    echo(f"{'tasks added' if report.added else 'tasks proposed, none added'}: {len(report.tasks)}")
