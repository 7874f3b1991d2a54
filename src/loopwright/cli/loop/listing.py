"""`loopwright loop list`."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from loopwright.cli.loop.output import COLORS
from loopwright.cli.options import context_of, in_workspace, say, say_json
from loopwright.verbs.loop.look import list_loops

_EPILOG = """\b
Examples:
  loopwright loop list
  loopwright loop list --status running --status paused
"""


@click.command(epilog=_EPILOG)
@click.option("--status", "statuses", multiple=True, type=click.Choice([*COLORS, "damaged"]), help="Only these.")
@in_workspace
def command(statuses: tuple[str, ...], project_root: Path, as_json: bool) -> int:
    """List all loops, the newest change first."""
    found = [one for one in list_loops(context_of(project_root)) if not statuses or one.line.status in statuses]
    if as_json:
        say_json({"loops": [{**msgspec.to_builtins(one.line), "has_worker": one.has_worker} for one in found]})
        return 0
    for one in found:
        line = one.line
        say(f"{line.loop_id}  ", nl=False)
        say(f"{line.status:<9}", fg=COLORS.get(line.status, "red"), nl=False)
        dead = line.status == "running" and not one.has_worker
        say(f"  {line.current_iteration}/{line.max_iterations}  {line.title}" + ("  (no worker)" if dead else ""))
    if not found:
        say("no loops; `loopwright loop new` makes one")
    return 0
