"""`loopwright build, autopilot`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from loopwright.cli.loop.options import autopilot_budget_options
from loopwright.cli.loop.start import drive_here, in_background
from loopwright.cli.options import command_with_examples, echo, in_context
from loopwright.cli.run import stopping_on_signals
from loopwright.cli.workflow.output import echo_view
from loopwright.errors import WorkflowRefused
from loopwright.stages.context import Context
from loopwright.verbs.workflow.build import (
    BuildRequest,
    prepare_build,
    prepare_from_review,
    slug_from,
    slug_of_report,
)
from loopwright.verbs.workflow.stages import AutopilotRequest, autopilot
from loopwright.verbs.workflow.status import show


@command_with_examples("""
  loopwright build faster-imports
  loopwright build faster-imports --agent claude --max-iterations 5
  loopwright build faster-imports --no-deslop   with the profile full: skip the cleanup
  loopwright build faster-imports --detach      then follow it: loopwright loop watch LOOP

Control the loop of the build with `loopwright loop pause`, `resume` and `stop`.
""")
@click.argument("slug", metavar="SLUG|prd-SLUG.md", required=False)
@click.option(
    "--from-review",
    "from_review",
    type=click.Path(path_type=Path),
    metavar="review-report.md",
    help="Build again after a review that requested changes; this also approves the way back.",
)
@click.option("--max-iterations", type=click.IntRange(1), default=10, show_default=True, help="Limit of iterations.")
@click.option("--no-deslop", "deslop", is_flag=True, flag_value=False, default=True,
              help="With the profile full: skip the cleanup of the built code.")  # fmt: skip
@click.option(
    "--agent",
    default="",
    help="Agent that builds; takes over a build that has begun. Default: the agent of the build, then the settings.",
)
@click.option("--detach", is_flag=True, help="Run in the background, even after this terminal is closed.")
@in_context
def build_command(
    context: Context, slug: str | None, from_review: Path | None, detach: bool, as_json: bool, **options: Any
) -> int:
    """Build the slices of an approved plan in a sandbox. Loopwright runs their checks in a fresh sandbox."""
    if slug is None and from_review is None:
        raise WorkflowRefused(
            "build_from_review_artifact_required",
            "the command names neither a workflow nor a review report",
            next_command="loopwright build SLUG, or loopwright build --from-review review-report.md",
        )
    name = slug_from(slug) if slug is not None else slug_of_report(from_review or Path())
    request = BuildRequest(**options)
    with stopping_on_signals() as cancellation:
        tell = (lambda _: None) if as_json else echo
        if from_review is not None:
            loop_id = prepare_from_review(context, from_review, request, tell, cancellation)
        else:
            loop_id = prepare_build(context, name, request, tell, cancellation)
    if detach:
        return in_background(context, loop_id, as_json)
    code = drive_here(context, loop_id, as_json)
    if not as_json:
        echo_view(show(context, name), as_json=False)
    return code


@command_with_examples("""
  loopwright autopilot faster-imports --agent claude
  loopwright autopilot faster-imports --agent claude --reviewer codex
  loopwright autopilot faster-imports --agent claude --usd 5 --wall 3600

The limits cover all stages together, and all autopilot runs of this change. Without options the settings budget.*
apply. The setting autopilot.may_approve lists the approvals that autopilot may give itself; without "complete", a
person accepts the result.
""")
@click.argument("slug")
@click.option("--agent", default="", help="Agent that works; default: agents.roles, then agents.default.")
@click.option("--reviewer", default="", help="Agent that reviews if the risk requires it; default: agents.roles.")
@click.option(
    "--max-iterations", type=click.IntRange(1), default=10, show_default=True, help="Limit of iterations of the build."
)
@autopilot_budget_options
@in_context
def autopilot_command(context: Context, slug: str, as_json: bool, **options: Any) -> None:
    """Run all stages with the approvals that your policy allows; stop with a reason if a person is needed."""
    with stopping_on_signals() as cancellation:
        view = autopilot(
            context, slug, AutopilotRequest(**options), (lambda _: None) if as_json else echo, cancellation
        )
    echo_view(view, as_json=as_json)
