"""`loopwright install` and, by the same options, `loopwright uninstall`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from loopwright.agents.harness import HARNESSES, Scope
from loopwright.cli.language import told
from loopwright.cli.options import context_of, in_workspace, put, say, say_json
from loopwright.kernel.files import shown
from loopwright.verbs.install import Installed, install

_EPILOG = """\b
Examples:
  loopwright install --agent claude                  for this project
  loopwright install --agent claude --user           for all of your projects
  loopwright install --agent codex --dry-run         show the change, make none
  REFLECTION_MODE=solo claude                        sessions leave reflections from now on
"""


def for_agent(command: Callable[..., Any]) -> Callable[..., Any]:
    """--agent, --project or --user, --dry-run."""
    options = (
        click.option("--agent", type=click.Choice(list(HARNESSES)), required=True, help="Whose settings."),
        click.option("--project", "scope", flag_value="project", default="project", help="For this project (default)."),
        click.option("--user", "scope", flag_value="user", help="For all of your projects."),
        click.option("--dry-run", is_flag=True, help="Show the change, make none."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command(epilog=_EPILOG)
@for_agent
@in_workspace
def command(agent: str, scope: str, dry_run: bool, project_root: Path, as_json: bool) -> int:
    """Register our hooks in an agent's settings, beside those that are there: reflection, and the stop gate of builds.

    Reflection does nothing until REFLECTION_MODE is solo or orchestrated; the gate nothing but in an agent of a build.
    """
    done = install(context_of(project_root), agent, Scope(scope), dry_run=dry_run)
    report(done, "registered in", as_json=as_json, dry_run=dry_run)
    return 0


def report(done: Installed, verb: str, *, as_json: bool, dry_run: bool) -> None:
    """What of ours was changed, as a diff."""
    if as_json:
        say_json(
            {
                "agent": done.agent, "path": shown(done.path), "changed": done.is_changed and not dry_run,
                "would_change": done.is_changed, "diff": done.diff, "notes": list(done.notes),
            }
        )  # fmt: skip
        return
    for line in done.diff.splitlines():
        say(line, fg={"+": "green", "-": "red"}.get(line[:1]))
    if not done.is_changed:
        say(f"{shown(done.path)}: nothing to change")
    elif not dry_run:
        put(f"{told(verb)} {shown(done.path)}")
    for note in done.notes:
        say(f"note: {note}", fg="yellow")
