"""`loopwright next`."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from loopwright.cli.language import told
from loopwright.cli.plain import in_workspace, place_of, say, say_json
from loopwright.cli.workflow.listing import up_to_date
from loopwright.kernel.escapes import neutralised
from loopwright.verbs.loop.glance import list_loops, way_on

_SHOWN = 10
_EPILOG = """\b
Examples:
  loopwright next            what should I do now?
  loopwright next --json
"""


@click.command(epilog=_EPILOG)
@in_workspace
def command(project_root: Path, as_json: bool) -> int:
    """What should I do now? The exact command for everything that waits for a person."""
    layout = place_of(project_root).layout
    workflows = [one for one in up_to_date(project_root, layout, _SHOWN) if one.archive_status != "archived"]
    building = {one.slug for one in workflows if one.current_stage == "build"}
    # A loop that builds is moved on by its workflow's command: one thing that waits is said once.
    waiting = [one for one in list_loops(layout) if one.line.loopwright.workflow not in building]
    loops = [(one.line.loop_id, one.line.title, way_on(one)) for one in waiting if way_on(one) is not None]
    if as_json:
        say_json(
            {
                "workflows": [msgspec.to_builtins(one) for one in workflows],
                "loops": [{"loop_id": name, "title": title, "next": way} for name, title, way in loops],
            }
        )
        return 0
    if not workflows and not loops:
        say('nothing waits; loopwright clarify SLUG --idea "…" begins something')
        return 0
    lines = []
    for one in workflows[:_SHOWN]:
        pending = f": {one.pending_user_decision}" if one.pending_user_decision else ""
        action = told(one.recommended_next_action)
        lines += [neutralised(f"{one.slug} ({one.current_stage}{told(pending)})"), f"  → {neutralised(action)}"]
    for name, title, way in loops[:_SHOWN]:
        lines += [neutralised(f"{name} ({title})"), f"  → {told(way or '')}"]
    click.echo("\n".join(lines))
    return 0
