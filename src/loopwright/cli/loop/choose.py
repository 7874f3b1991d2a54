"""`loopwright loop choose`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.loop.output import say_loop
from loopwright.cli.loop.start import drive_here, in_background
from loopwright.cli.options import context_of, in_workspace
from loopwright.loop.model import Action
from loopwright.verbs.loop.choice import choose
from loopwright.verbs.loop.look import has_worker, resolve

_EPILOG = """\b
Examples:
  loopwright loop choose LOOP validate
  loopwright loop choose LOOP develop --detach
  loopwright loop choose LOOP debug --no-start     say it only; `loop start` does it later
"""


@click.command(epilog=_EPILOG)
@click.argument("loop")
@click.argument("action", type=click.Choice([action.value for action in Action]))
@click.option("--revision", type=int, help="Refuse when the loop is not at this revision any more.")
@click.option("--no-start", is_flag=True, help="Say it only; `loop start` drives it later.")
@click.option("--detach", is_flag=True, help="Where no process drives it, start one in the background.")
@in_workspace
def command(
    loop: str, action: str, revision: int | None, no_start: bool, detach: bool, project_root: Path, as_json: bool
) -> int:
    """Say what a loop in interactive mode does next; where no process drives it, do it here."""
    context = context_of(project_root)
    loop_id = resolve(context, loop)
    after = choose(context, loop_id, Action(action), revision=revision)
    if no_start or has_worker(context, loop_id):
        say_loop(after, as_json=as_json, brief=True)
        return 0
    return in_background(context, loop_id, as_json) if detach else drive_here(context, loop_id, as_json)
