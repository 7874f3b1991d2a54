"""`loopwright loop show`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.loop.output import say_loop
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
    """Show a loop: its tasks, holds, tests, hypotheses and cost."""
    say_loop(show_loop(context_of(project_root), loop), as_json=as_json)
    return 0
