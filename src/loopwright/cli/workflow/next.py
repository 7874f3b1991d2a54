"""`loopwright next`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.language import told
from loopwright.cli.plain import in_workspace, place_of, say, say_json
from loopwright.cli.workflow.listing import up_to_date
from loopwright.kernel.escapes import neutralised
from loopwright.loop.listing import list_loops
from loopwright.verbs.overview import what_waits

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
    found = what_waits(up_to_date(project_root, layout, _SHOWN), list_loops(layout))
    workflows, loops = found.workflows, found.loops
    if as_json:
        say_json(found.document())
        return 0
    if not workflows and not loops:
        say('nothing waits; loopwright clarify SLUG --idea "…" begins something')
        return 0
    lines = []
    for one in workflows[:_SHOWN]:
        pending = f": {one.pending_user_decision}" if one.pending_user_decision else ""
        action = told(one.recommended_next_action)
        lines += [neutralised(f"{one.slug} ({one.current_stage}{told(pending)})"), f"  → {neutralised(action)}"]
    for loop in loops[:_SHOWN]:
        lines += [neutralised(f"{loop.loop_id} ({loop.title})"), f"  → {told(loop.next)}"]
    click.echo("\n".join(lines))
    return 0
