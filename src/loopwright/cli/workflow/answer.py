"""`loopwright answer`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.options import context_of, in_workspace
from loopwright.cli.workflow.output import say_view
from loopwright.verbs.workflow.clarify import answer

_EPILOG = """\b
Examples:
  loopwright answer faster-imports A-1 "below 100 ms on the CI machine"
  loopwright answer faster-imports D-1 "yes, drop Python 3.10"
"""


@click.command(epilog=_EPILOG)
@click.argument("slug")
@click.argument("item", metavar="A-1|D-1")
@click.argument("text")
@in_workspace
def command(slug: str, item: str, text: str, project_root: Path, as_json: bool) -> int:
    """Answer an open question of the spec, or a decision that an agent asked for. For people only."""
    say_view(answer(context_of(project_root), slug, item, text), as_json=as_json)
    return 0
