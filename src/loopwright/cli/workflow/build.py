"""`loopwright build`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.loop.start import drive_here, in_background
from loopwright.cli.options import context_of, in_workspace, say
from loopwright.cli.run import stopping_on_signals
from loopwright.cli.workflow.output import say_view
from loopwright.errors import WorkflowRefused
from loopwright.stages.names import slug_of
from loopwright.verbs.workflow.build import BuildRequest, prepare_build, prepare_from_review, slug_from
from loopwright.verbs.workflow.status import show

_EPILOG = """\b
Examples:
  loopwright build faster-imports
  loopwright build faster-imports --agent claude --max-iterations 5
  loopwright build faster-imports --no-deslop   in the profile full: nobody tidies up
  loopwright build faster-imports --detach      then: loopwright loop watch LOOP

`loopwright loop pause`, `resume` and `stop` work on the loop that builds.
"""


@click.command(epilog=_EPILOG)
@click.argument("slug", metavar="SLUG|prd-SLUG.md", required=False)
@click.option(
    "--from-review",
    "from_review",
    type=click.Path(path_type=Path),
    metavar="review-report.md",
    help="Go back from the review that asked for it; typing it is the consent.",
)
@click.option("--max-iterations", type=click.IntRange(1), default=10, show_default=True, help="Passes at most.")
@click.option("--no-deslop", "deslop", is_flag=True, flag_value=False, default=True,
              help="In the profile full: do not tidy up what was built.")  # fmt: skip
@click.option("--agent", help="Who builds; default: by agents.roles, else agents.default.")
@click.option("--detach", is_flag=True, help="In the background; it outlives this terminal.")
@in_workspace
def command(
    slug: str | None, from_review: Path | None, max_iterations: int, deslop: bool, agent: str | None, detach: bool,
    project_root: Path, as_json: bool,
) -> int:  # fmt: skip
    """Build the slices of an approved plan in a sandbox; the tool runs their checks in a fresh one."""
    context = context_of(project_root)
    if slug is None and from_review is None:
        raise WorkflowRefused(
            "build_from_review_artifact_required",
            "neither a workflow nor a review's report is named",
            next_command="loopwright build SLUG, or loopwright build --from-review review-report.md",
        )
    name = slug_from(slug) if slug is not None else slug_of((from_review or Path()).resolve().parent.name)
    request = BuildRequest(agent=agent or "", max_iterations=max_iterations, deslop=deslop)
    with stopping_on_signals() as cancellation:
        tell = (lambda _: None) if as_json else say
        if from_review is not None:
            loop_id = prepare_from_review(context, from_review, request, tell, cancellation)
        else:
            loop_id = prepare_build(context, name, request, tell, cancellation)
    if detach:
        return in_background(context, loop_id, as_json)
    code = drive_here(context, loop_id, as_json)
    if not as_json:
        say_view(show(context, name), as_json=False)
    return code
