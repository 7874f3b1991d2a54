"""`loopwright loop pause`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.loop.output import say_loop
from loopwright.cli.options import context_of, in_workspace
from loopwright.verbs.loop.control import pause
from loopwright.verbs.loop.look import resolve

_EPILOG = """\b
Examples:
  loopwright loop pause LOOP
  loopwright loop pause LOOP --revision 12      only if nobody changed it since
"""


@click.command(epilog=_EPILOG)
@click.argument("loop")
@click.option("--revision", type=int, help="Refuse when the loop is not at this revision any more.")
@in_workspace
def command(loop: str, revision: int | None, project_root: Path, as_json: bool) -> int:
    """Hold a loop; what it runs is frozen within a second, and its budget's clock stands still."""
    context = context_of(project_root)
    say_loop(pause(context, resolve(context, loop), revision=revision), as_json=as_json, brief=True)
    return 0
