"""`loopwright status`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click
import msgspec

from loopwright.cli.loop.colors import COLORS
from loopwright.cli.loop.listing import loop_line
from loopwright.cli.plain import in_workspace, place_of, say, say_json
from loopwright.kernel.escapes import neutralised
from loopwright.verbs.loop.glance import STATUSES, Summary, list_loops

_SHOWN = 20
_EPILOG = """\b
Examples:
  loopwright status
  loopwright status --json
"""


@click.command(epilog=_EPILOG)
@in_workspace
def command(project_root: Path, as_json: bool) -> int:
    """How the work in this workspace stands: what runs, what waits for a person, and what to type."""
    found = list_loops(place_of(project_root).layout)
    totals = Counter(one.line.status for one in found)
    waiting = [one for one in found if _way_on(one) is not None]
    if as_json:
        say_json(
            {
                "loops": {status: totals[status] for status in STATUSES},
                "waiting": [
                    {**msgspec.to_builtins(one.line), "has_worker": one.has_worker, "next": _way_on(one)}
                    for one in waiting
                ],
            }
        )
        return 0
    if not found:
        say("nothing here yet; `loopwright loop new` makes a loop, `loopwright run` runs a plan")
        return 0
    counted = [click.style(f"{totals[name]} {name}", fg=COLORS.get(name, "red")) for name in STATUSES if totals[name]]
    lines = [f"loops: {', '.join(counted)}"]
    at_work = [one for one in found if one.line.status == "running" and one.has_worker]
    lines += [f"  {loop_line(one)}" for one in at_work[:_SHOWN]]
    if waiting:
        lines.append("waiting for a person:")
    for one in waiting[:_SHOWN]:
        lines.append(f"  {loop_line(one)}")
        lines += [f"      {neutralised(hold.message)}" for hold in one.line.loopwright.holds]
        lines.append(f"      → {_way_on(one)}")
    if len(waiting) > _SHOWN:
        lines.append(f"  … and {len(waiting) - _SHOWN} more: `loopwright loop list`")
    click.echo("\n".join(lines))
    return 0


def _way_on(one: Summary) -> str | None:
    """The command with which a person moves it on; None when it needs none."""
    loop_id = one.line.loop_id
    match one.line.status:
        case "paused":
            return f"loopwright loop resume {loop_id}"
        case "running" if one.is_abandoned:
            return f"loopwright loop resume {loop_id}"
        case "damaged":
            return f"loopwright loop check {loop_id} --fix"
        case "created":
            return f"loopwright loop start {loop_id}"
        case _:
            return None
