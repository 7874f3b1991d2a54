"""`loopwright loop mode`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.loop.output import say_standing
from loopwright.cli.options import context_of, in_workspace
from loopwright.loop.model import Mode
from loopwright.verbs.loop.choice import set_mode
from loopwright.verbs.loop.look import resolve

_EPILOG = """\b
Examples:
  loopwright loop mode LOOP interactive     a person chooses before each action
  loopwright loop mode LOOP auto            the rules choose; what waits for a choice may go on
"""


@click.command(epilog=_EPILOG)
@click.argument("loop")
@click.argument("mode", type=click.Choice(["auto", "interactive"]))
@click.option("--revision", type=int, help="Refuse when the loop is not at this revision any more.")
@in_workspace
def command(loop: str, mode: Mode, revision: int | None, project_root: Path, as_json: bool) -> int:
    """Say who chooses what a loop does next, from now on; an action that is under way is not touched."""
    context = context_of(project_root)
    after = set_mode(context, resolve(context, loop), mode, revision=revision)
    say_standing(context, after, as_json=as_json)
    return 0
