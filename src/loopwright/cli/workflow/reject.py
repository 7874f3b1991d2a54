"""`loopwright reject`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.options import context_of, in_workspace
from loopwright.cli.workflow.output import say_view
from loopwright.verbs.workflow.decisions import reject

_EPILOG = """\b
Examples:
  loopwright reject faster-imports --from plan --to build --reason "VS-2 has no check"
"""


@click.command(epilog=_EPILOG)
@click.argument("slug")
@click.option("--from", "origin", required=True, metavar="STAGE", help="The stage that it is at.")
@click.option("--to", "target", required=True, metavar="STAGE", help="The stage that it may not enter.")
@click.option("--reason", required=True, help="What should be different; stays on record.")
@in_workspace
def command(slug: str, origin: str, target: str, reason: str, project_root: Path, as_json: bool) -> int:
    """Refuse one transition, and say why. For people only."""
    say_view(reject(context_of(project_root), slug, origin, target, reason=reason), as_json=as_json)
    return 0
