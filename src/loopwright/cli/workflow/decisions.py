"""`loopwright approve, reject, sign, undo`: what a person decides about a workflow."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.options import context_of, in_workspace, say
from loopwright.cli.workflow.output import say_view
from loopwright.verbs.workflow.decisions import approve, reject, sign, undo

_APPROVE_EXAMPLES = """\b
Examples:
  loopwright approve faster-imports --from clarify --to plan
  loopwright approve faster-imports --from review --to plan --rationale "the slices miss the cache"
"""


@click.command(epilog=_APPROVE_EXAMPLES)
@click.argument("slug")
@click.option("--from", "origin", required=True, metavar="STAGE", help="The stage that it is at.")
@click.option("--to", "target", required=True, metavar="STAGE", help="The stage that it may enter.")
@click.option("--rationale", default="", help="Why; going back needs one.")
@click.option("--as-branch", is_flag=True, help="review to done: leave a branch in place of changed files.")
@click.option("--revision", type=int, help="Refuse when the workflow is not at this revision any more.")
@in_workspace
def approve_command(
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


_REJECT_EXAMPLES = """\b
Examples:
  loopwright reject faster-imports --from plan --to build --reason "VS-2 has no check"
"""


@click.command(epilog=_REJECT_EXAMPLES)
@click.argument("slug")
@click.option("--from", "origin", required=True, metavar="STAGE", help="The stage that it is at.")
@click.option("--to", "target", required=True, metavar="STAGE", help="The stage that it may not enter.")
@click.option("--reason", required=True, help="What should be different; stays on record.")
@in_workspace
def reject_command(slug: str, origin: str, target: str, reason: str, project_root: Path, as_json: bool) -> int:
    """Refuse one transition, and say why. For people only."""
    say_view(reject(context_of(project_root), slug, origin, target, reason=reason), as_json=as_json)
    return 0


_SIGN_EXAMPLES = """\b
Examples:
  loopwright sign faster-imports VS-2 --note "looked at it in the browser"
  loopwright sign faster-imports tests/test_import.py --note "the old test was wrong about Windows"
  loopwright sign faster-imports project-tests --note "the old API is gone, and so are its tests"
"""


@click.command(epilog=_SIGN_EXAMPLES)
@click.argument("slug")
@click.argument("what", metavar="SLICE|FILE|project-tests")
@click.option("--note", default="", help="What you looked at; stays on record.")
@in_workspace
def sign_command(slug: str, what: str, note: str, project_root: Path, as_json: bool) -> int:
    """Sign off what needs a person: a slice, a changed judge, or tests that the work breaks. For people only."""
    say_view(sign(context_of(project_root), slug, what, note=note), as_json=as_json)
    return 0


_UNDO_EXAMPLES = """\b
Examples:
  loopwright undo faster-imports
"""


@click.command(epilog=_UNDO_EXAMPLES)
@click.argument("slug")
@in_workspace
def undo_command(slug: str, project_root: Path, as_json: bool) -> int:
    """Take a delivered change back, if nobody went on from it; whole or not at all. For people only."""
    done = undo(context_of(project_root), slug)
    if not as_json:
        say(done.sentence)
    say_view(done.view, as_json=as_json)
    return 0
