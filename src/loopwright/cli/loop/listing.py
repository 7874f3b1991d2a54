"""`loopwright loop list`."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from loopwright.cli.language import message, translate
from loopwright.cli.loop.output import COLORS
from loopwright.cli.plain import command_with_examples, echo, echo_json, in_workspace, place_of
from loopwright.kernel.cells import one_line
from loopwright.loop.listing import STATUSES, Summary, list_loops


@command_with_examples("""
  loopwright loop list
  loopwright loop list --status running --status paused
""")
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice(STATUSES),
    help="Show only loops with this status; can be repeated.",
)
@in_workspace
def command(statuses: tuple[str, ...], project_root: Path, as_json: bool) -> None:
    """List all loops, last changed first."""
    loops = list_loops(place_of(project_root).layout)
    listed = [loop for loop in loops if not statuses or loop.line.status in statuses]
    if as_json:
        echo_json({"loops": [{**msgspec.to_builtins(loop.line), "has_worker": loop.has_worker} for loop in listed]})
        return
    if not listed:
        echo("no loops; create one with `loopwright loop new TITLE`")
        return
    # One write: a thousand single writes take longer than reading the loops.
    click.echo("\n".join(loop_line(loop) for loop in listed))


def loop_line(loop: Summary) -> str:
    """One line about a loop."""
    line = loop.line
    status = click.style(f"{line.status:<9}", fg=COLORS.get(line.status, "red"))
    note = f"  {translate('(no worker)')}" if loop.is_abandoned else ""
    rest = one_line(f"{line.current_iteration}/{line.max_iterations}  {line.title}{note}")
    if line.is_accepted:
        own = line.loopwright
        facts = {"by": own.accepted_by, "at": line.completed_at, "reason": translate(own.forced)}
        rest += f"  {one_line(message('accepted by {by} at {at} [person]: {reason}', **facts))}"
    return f"{line.loop_id}  {status}  {rest}"
