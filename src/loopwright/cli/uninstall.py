"""`loopwright uninstall`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.install import for_agent, parts_in, report
from loopwright.cli.options import context_of, in_workspace
from loopwright.install.model import Scope
from loopwright.verbs.install import uninstall

_EPILOG = """\b
Examples:
  loopwright uninstall --agent claude
  loopwright uninstall --agent claude --what mcp
  loopwright uninstall --agent claude --scope user --dry-run
"""


@click.command(epilog=_EPILOG)
@for_agent
@in_workspace
def command(agent: str, scope: str, what: str, dry_run: bool, project_root: Path, as_json: bool) -> int:
    """Remove what `install` added; everything else stays, and so does our content once you changed it."""
    done = uninstall(context_of(project_root), agent, Scope(scope), parts=parts_in(what), dry_run=dry_run)
    report(done, as_json=as_json, dry_run=dry_run, takes_out=True)
    return 0
