"""`loopwright loop retry`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.loop.output import say_loop
from loopwright.cli.options import context_of, in_workspace
from loopwright.verbs.loop.control import retry
from loopwright.verbs.loop.look import resolve

_EPILOG = """\b
Examples:
  loopwright loop retry LOOP
  loopwright loop retry LOOP --max-iterations 30     where the iterations were used up
"""


@click.command(epilog=_EPILOG)
@click.argument("loop")
@click.option("--max-iterations", type=click.IntRange(1), help="The limit from now on.")
@click.option("--revision", type=int, help="Refuse when the loop is not at this revision any more.")
@in_workspace
def command(loop: str, max_iterations: int | None, revision: int | None, project_root: Path, as_json: bool) -> int:
    """Another attempt at a loop that failed or is done; its history stays."""
    context = context_of(project_root)
    again = retry(context, resolve(context, loop), max_iterations=max_iterations, revision=revision)
    say_loop(again, as_json=as_json, brief=True)
    return 0
