"""`loopwright loop stop`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.loop.output import say_loop
from loopwright.cli.options import context_of, in_workspace
from loopwright.verbs.loop.control import stop
from loopwright.verbs.loop.look import resolve

_EPILOG = """\b
Examples:
  loopwright loop stop LOOP
  loopwright loop stop LOOP --revision 12      only if nobody changed it since
"""


@click.command(epilog=_EPILOG)
@click.argument("loop")
@click.option("--revision", type=int, help="Refuse when the loop is not at this revision any more.")
@in_workspace
def command(loop: str, revision: int | None, project_root: Path, as_json: bool) -> int:
    """End a loop for good, and every process of it. `retry` makes another attempt."""
    context = context_of(project_root)
    say_loop(stop(context, resolve(context, loop), revision=revision), as_json=as_json, brief=True)
    return 0
