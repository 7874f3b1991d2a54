"""`loopwright uninstall`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.agents.harness import Scope
from loopwright.cli.install import for_agent, report
from loopwright.cli.options import context_of, in_workspace
from loopwright.verbs.install import uninstall

_EPILOG = """\b
Examples:
  loopwright uninstall --agent claude
  loopwright uninstall --agent claude --user --dry-run
"""


@click.command(epilog=_EPILOG)
@for_agent
@in_workspace
def command(agent: str, scope: str, dry_run: bool, project_root: Path, as_json: bool) -> int:
    """Take the hook out of an agent's settings again; everything else in them stays."""
    done = uninstall(context_of(project_root), agent, Scope(scope), dry_run=dry_run)
    report(done, "removed from", as_json=as_json, dry_run=dry_run)
    return 0
