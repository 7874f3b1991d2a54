"""`loopwright loop complete`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.loop.output import say_loop
from loopwright.cli.options import context_of, in_workspace
from loopwright.verbs.loop.control import complete
from loopwright.verbs.loop.look import resolve

_EPILOG = """\b
Examples:
  loopwright loop complete LOOP --reason "released by hand as 2.1.4"
"""


@click.command(epilog=_EPILOG)
@click.argument("loop")
@click.option("--reason", required=True, help="Why it is done without a passed validation; stays on record.")
@click.option("--revision", type=int, help="Refuse when the loop is not at this revision any more.")
@in_workspace
def command(loop: str, reason: str, revision: int | None, project_root: Path, as_json: bool) -> int:
    """Close a loop as done, whatever its tests say, with a reason that stays on record. For people only."""
    context = context_of(project_root)
    say_loop(complete(context, resolve(context, loop), reason=reason, revision=revision), as_json=as_json, brief=True)
    return 0
