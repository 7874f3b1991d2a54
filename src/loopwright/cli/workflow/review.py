"""`loopwright review`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.options import context_of, in_workspace, say
from loopwright.cli.run import stopping_on_signals
from loopwright.cli.workflow.output import say_view
from loopwright.verbs.workflow.review import ReviewRequest, review

_EPILOG = """\b
Examples:
  loopwright review faster-imports                       the risk floor decides whether anybody must look
  loopwright review faster-imports --reviewer codex      an agent that did not build it
  loopwright review faster-imports --verdict request-changes --target plan --rationale "VS-2 misses Windows"
"""


@click.command(epilog=_EPILOG)
@click.argument("slug", metavar="SLUG|execution-record.md")
@click.option(
    "--reviewer", default="", help="Who reviews: an agent's name, never who built it; default: by agents.roles."
)
@click.option("--verdict", type=click.Choice(["approve", "request-changes"]), help="Your own verdict, as a person.")
@click.option("--target", type=click.Choice(["build", "plan", "clarify"]), help="Where it goes back to.")
@click.option("--rationale", default="", help="Why; stays on record.")
@in_workspace
def command(
    slug: str, reviewer: str, verdict: str | None, target: str | None, rationale: str, project_root: Path, as_json: bool
) -> int:
    """Judge what was built: evidence, audit, scope and judges first; reviewers where the risk floor asks for them."""
    context = context_of(project_root)
    request = ReviewRequest(reviewer=reviewer, verdict=verdict, target=target, rationale=rationale)
    with stopping_on_signals() as cancellation:
        view = review(context, slug, request, (lambda _: None) if as_json else say, cancellation)
    say_view(view, as_json=as_json)
    return 0
