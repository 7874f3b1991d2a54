"""`loopwright loop show`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.loop.output import say_standing
from loopwright.cli.options import context_of, in_workspace
from loopwright.verbs.loop.look import show_loop

_EPILOG = """\b
Examples:
  loopwright loop show LOOP
  loopwright loop show LOOP --json | jq .skill_state.validate
"""


@click.command(epilog=_EPILOG)
@click.argument("loop")
@in_workspace
def command(loop: str, project_root: Path, as_json: bool) -> int:
    """Show a loop: its worker, tasks, holds, tests, hypotheses and cost, and what to type next."""
    context = context_of(project_root)
    say_standing(context, show_loop(context, loop), as_json=as_json)
    return 0
