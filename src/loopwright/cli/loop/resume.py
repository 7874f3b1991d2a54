"""`loopwright loop resume`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.loop.budgets import budget_from, loop_budget_options
from loopwright.cli.loop.exits import exit_code
from loopwright.cli.loop.output import say_loop
from loopwright.cli.loop.start import drive_here, in_background
from loopwright.cli.options import context_of, in_workspace
from loopwright.verbs.loop.control import give_iterations, is_held, resume
from loopwright.verbs.loop.look import has_worker, resolve

_EPILOG = """\b
Examples:
  loopwright loop resume LOOP
  loopwright loop resume LOOP --detach
  loopwright loop resume LOOP --usd 20        the budget is 20 USD from now on
  loopwright loop resume LOOP --task-retries 5
"""


@click.command(epilog=_EPILOG)
@click.argument("loop")
@click.option("--revision", type=int, help="Refuse when the loop is not at this revision any more.")
@click.option("--no-start", is_flag=True, help="Lift the hold only; `loop start` drives it later.")
@click.option("--detach", is_flag=True, help="Where no process drives it any more, start one in the background.")
@click.option("--max-iterations", type=click.IntRange(1), help="It may take so many iterations in all, from now on.")
@loop_budget_options
@in_workspace
def command(
    loop: str,
    revision: int | None,
    no_start: bool,
    detach: bool,
    max_iterations: int | None,
    project_root: Path,
    as_json: bool,
    **limits: float | None,
) -> int:
    """Lift the hold of a loop; where no process drives it any more, go on with it here.

    Lifts a pause, a blocker and a rate limit; a budget where there is room in it now. The agent goes on
    with work that nothing proves. Exit 1: nothing of what holds it can be lifted so. 11: still held, or held again. 12:
    failed. 14: nothing proves the work. 0: done, paused by a person, or driven by another.
    """
    context = context_of(project_root)
    loop_id = resolve(context, loop)
    if max_iterations is not None:
        give_iterations(context, loop_id, max_iterations)
    after = resume(
        context, loop_id, budget=budget_from(limits), task_budget=budget_from(limits, "task_"), revision=revision
    )
    if is_held(after) or no_start or has_worker(context, loop_id):
        say_loop(after, as_json=as_json, brief=True)
        return exit_code(after, None)
    return in_background(context, loop_id, as_json) if detach else drive_here(context, loop_id, as_json)
