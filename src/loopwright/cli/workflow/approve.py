"""`loopwright approve`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.options import context_of, in_workspace, say
from loopwright.cli.workflow.output import say_view
from loopwright.verbs.workflow.decisions import approve

_EPILOG = """\b
Examples:
  loopwright approve faster-imports --from clarify --to plan
  loopwright approve faster-imports --from review --to plan --rationale "the slices miss the cache"
"""


@click.command(epilog=_EPILOG)
@click.argument("slug")
@click.option("--from", "origin", required=True, metavar="STAGE", help="The stage that it is at.")
@click.option("--to", "target", required=True, metavar="STAGE", help="The stage that it may enter.")
@click.option("--rationale", default="", help="Why; going back needs one.")
@click.option("--as-branch", is_flag=True, help="review to done: leave a branch in place of changed files.")
@click.option("--revision", type=int, help="Refuse when the workflow is not at this revision any more.")
@in_workspace
def command(
    slug: str, origin: str, target: str, rationale: str, as_branch: bool, revision: int | None, project_root: Path,
    as_json: bool,
) -> int:  # fmt: skip
    """Consent to one transition, with exactly what is there now. For people only."""
    context = context_of(project_root)
    done = approve(context, slug, origin, target, rationale=rationale, revision=revision, as_branch=as_branch)
    if done.sentence and not as_json:
        say(done.sentence)
    say_view(done.view, as_json=as_json)
    return 0
