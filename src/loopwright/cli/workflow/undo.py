"""`loopwright undo`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.options import context_of, in_workspace, say
from loopwright.cli.workflow.output import say_workflow
from loopwright.verbs.workflow.undo import undo

_EPILOG = """\b
Examples:
  loopwright undo faster-imports
"""


@click.command(epilog=_EPILOG)
@click.argument("slug")
@in_workspace
def command(slug: str, project_root: Path, as_json: bool) -> int:
    """Take a delivered change back, if nobody went on from it; whole or not at all. For people only."""
    context = context_of(project_root)
    done = undo(context, slug)
    if not as_json:
        say(done.sentence)
    say_workflow(context, slug, as_json=as_json)
    return 0
