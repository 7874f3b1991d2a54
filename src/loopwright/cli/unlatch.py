"""`loopwright unlatch`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.options import context_of, in_workspace, say, say_json
from loopwright.verbs.unlatch import unlatch

_EPILOG = """\b
Example:
  loopwright unlatch && loopwright run
"""


@click.command(epilog=_EPILOG)
@in_workspace
def command(project_root: Path, as_json: bool) -> int:
    """Show why the workspace is latched, and unlatch it. A person's command: agents are refused."""
    context = context_of(project_root)
    latch = unlatch(context)
    if as_json:
        fields = ("run_id", "created_at", "reason", "pid")
        say_json({"ok": True, "latch": {name: getattr(latch, name) for name in fields} if latch else None})
    elif latch is None:
        say("it was not latched")
    else:
        say(f"latched by run {latch.run_id} at {latch.created_at}")
        say(f"  {latch.reason}")
        say(f"  blocker card: {context.layout.blocker}")
        say("unlatched; `loopwright run` runs again", fg="green")
    return 0
