"""`loopwright loop accept`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.loop.output import say_standing
from loopwright.cli.options import context_of, in_workspace
from loopwright.verbs.loop.control import accept
from loopwright.verbs.loop.look import resolve

_EPILOG = """\b
Examples:
  loopwright loop accept LOOP --reason "the test was wrong, the new one is right"
"""


@click.command(epilog=_EPILOG)
@click.argument("loop")
@click.option("--reason", default="", help="Why; stays on record. Without it: the doubts that you accept.")
@click.option("--revision", type=int, help="Refuse when the loop is not at this revision any more.")
@in_workspace
def command(loop: str, reason: str, revision: int | None, project_root: Path, as_json: bool) -> int:
    """Accept work that nothing proves: the loop is completed, and who accepted it stays on record. For people only."""
    context = context_of(project_root)
    accepted = accept(context, resolve(context, loop), reason=reason, revision=revision)
    say_standing(context, accepted, as_json=as_json)
    return 0
