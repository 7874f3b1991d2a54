"""`loopwright loop list`."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from loopwright.cli.language import told
from loopwright.cli.loop.output import COLORS
from loopwright.cli.plain import in_workspace, place_of, say, say_json
from loopwright.kernel.cells import one_line
from loopwright.loop.listing import STATUSES, Summary, list_loops

_EPILOG = """\b
Examples:
  loopwright loop list
  loopwright loop list --status running --status paused
"""


@click.command(epilog=_EPILOG)
@click.option("--status", "statuses", multiple=True, type=click.Choice(STATUSES), help="Only these.")
@in_workspace
def command(statuses: tuple[str, ...], project_root: Path, as_json: bool) -> int:
    """List all loops, the newest change first."""
    found = [one for one in list_loops(place_of(project_root).layout) if not statuses or one.line.status in statuses]
    if as_json:
        say_json({"loops": [{**msgspec.to_builtins(one.line), "has_worker": one.has_worker} for one in found]})
        return 0
    if not found:
        say("no loops; `loopwright loop new` makes one")
        return 0
    # All at once: a thousand lines one by one take longer than finding them.
    click.echo("\n".join(loop_line(one) for one in found))
    return 0


def loop_line(one: Summary) -> str:
    """A loop in a line."""
    line = one.line
    status = click.style(f"{line.status:<9}", fg=COLORS.get(line.status, "red"))
    note = f"  {told('(no worker)')}" if one.is_abandoned else ""
    rest = one_line(f"{line.current_iteration}/{line.max_iterations}  {line.title}{note}")
    return f"{line.loop_id}  {status}  {rest}"
