"""`loopwright sign`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.options import context_of, in_workspace
from loopwright.cli.workflow.output import say_view
from loopwright.verbs.workflow.decisions import sign

_EPILOG = """\b
Examples:
  loopwright sign faster-imports VS-2 --note "looked at it in the browser"
  loopwright sign faster-imports tests/test_import.py --note "the old test was wrong about Windows"
  loopwright sign faster-imports project-tests --note "the old API is gone, and so are its tests"
"""


@click.command(epilog=_EPILOG)
@click.argument("slug")
@click.argument("what", metavar="SLICE|FILE|project-tests")
@click.option("--note", default="", help="What you looked at; stays on record.")
@in_workspace
def command(slug: str, what: str, note: str, project_root: Path, as_json: bool) -> int:
    """Sign off what needs a person: a slice, a changed judge, or tests that the work breaks. For people only."""
    say_view(sign(context_of(project_root), slug, what, note=note), as_json=as_json)
    return 0
