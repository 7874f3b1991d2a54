"""`loopwright undo`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.options import context_of, in_workspace, say
from loopwright.cli.workflow.output import say_view
from loopwright.verbs.workflow.decisions import undo

_EPILOG = """\b
Examples:
  loopwright undo faster-imports
"""


@click.command(epilog=_EPILOG)
@click.argument("slug")
@in_workspace
def command(slug: str, project_root: Path, as_json: bool) -> int:
    """Take a delivered change back, if nobody went on from it; whole or not at all. For people only."""
    done = undo(context_of(project_root), slug)
    if not as_json:
        say(done.sentence)
    say_view(done.view, as_json=as_json)
    return 0
