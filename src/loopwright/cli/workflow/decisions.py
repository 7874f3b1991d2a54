"""`loopwright approve, reject, sign, undo`: decisions of a person about a workflow."""

from __future__ import annotations

from typing import Any

import click

from loopwright.cli.options import command_with_examples, echo, in_context
from loopwright.cli.run import stopping_on_signals
from loopwright.cli.workflow.output import echo_view
from loopwright.stages.context import Context
from loopwright.verbs.workflow.decisions import PROTECTED, WITHOUT_PROTECTED, approve, reject, sign, undo

# `--protected` without a glob.
ALL = "**"


@command_with_examples("""
  loopwright approve faster-imports --from clarify --to plan
  loopwright approve faster-imports --from review --to plan --rationale "the slices miss the cache"
""")
@click.argument("slug")
@click.option("--from", "origin", required=True, metavar="STAGE", help="Current stage.")
@click.option("--to", "target", required=True, metavar="STAGE", help="Stage to enter.")
@click.option("--rationale", default="", help="Reason; required to go back to an earlier stage.")
@click.option("--as-branch", is_flag=True, help="From review to done: create a branch instead of changing files.")
@click.option("--revision", type=int, help="Refuse if the workflow is no longer at this revision.")
@in_context
def approve_command(context: Context, slug: str, as_json: bool, **options: Any) -> None:
    """Approve one transition, for the current content of the workflow. For people only."""
    done = approve(context, slug, **options)
    if done.sentence and not as_json:
        echo(done.sentence)
    echo_view(done.view, as_json=as_json)


@command_with_examples("""
  loopwright reject faster-imports --from plan --to build --reason "VS-2 has no check"
""")
@click.argument("slug")
@click.option("--from", "origin", required=True, metavar="STAGE", help="Current stage.")
@click.option("--to", "target", required=True, metavar="STAGE", help="Stage that must not be entered.")
@click.option("--reason", required=True, help="What has to change; is recorded.")
@in_context
def reject_command(context: Context, slug: str, as_json: bool, **options: Any) -> None:
    """Reject one transition, with a reason. For people only."""
    echo_view(reject(context, slug, **options), as_json=as_json)


@command_with_examples("""
  loopwright sign faster-imports VS-2 --note "tried it in the browser"
  loopwright sign faster-imports --protected --note "the old test was wrong about Windows"
  loopwright sign faster-imports --protected "tests/**" --note "the tests, and not the Makefile"
  loopwright sign faster-imports --without-protected --note "the Makefile stays as it was"
  loopwright sign faster-imports project-tests --note "the old API was removed on purpose, and its tests with it"
""")
@click.argument("slug")
@click.argument("what", metavar="[SLICE|REQUIREMENT|CHECK|FILE|project-tests]", required=False)
@click.option(
    "--protected",
    is_flag=False,
    flag_value=ALL,
    metavar="[GLOB]",
    help="Accept the work's changes to protected files. With GLOB: only these, after a run of the checks without the "
    "others.",
)
@click.option("--without-protected", is_flag=True, help="Leave the work's changes to protected files out.")
@click.option("--note", default="", help="What you checked; is recorded.")
@in_context
def sign_command(
    context: Context,
    slug: str,
    what: str | None,
    protected: str | None,
    without_protected: bool,
    note: str,
    as_json: bool,
) -> None:
    """Sign off a slice, changes to protected files, or project tests that the work breaks. For people only."""
    named = [what, PROTECTED if protected is not None else None, WITHOUT_PROTECTED if without_protected else None]
    subjects = [subject for subject in named if subject is not None]
    if len(subjects) != 1:
        raise click.UsageError("name one thing to sign: a slice, a file, --protected or --without-protected")
    only = "" if protected is None or protected == ALL else protected
    with stopping_on_signals() as cancellation:
        view = sign(context, slug, subjects[0], only=only, note=note, cancellation=cancellation)
    echo_view(view, as_json=as_json)


@command_with_examples("""
  loopwright undo faster-imports
""")
@click.argument("slug")
@in_context
def undo_command(context: Context, slug: str, as_json: bool) -> None:
    """Undo a delivered change, all of it or nothing. Refused if later work builds on it. For people only."""
    done = undo(context, slug)
    if not as_json:
        echo(done.sentence)
    echo_view(done.view, as_json=as_json)
