"""`loopwright loop logs`."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from loopwright.cli.options import context_of, in_workspace, say, say_json_line
from loopwright.verbs.loop.history import history

_EPILOG = """\b
Examples:
  loopwright loop logs LOOP
  loopwright loop logs LOOP --json | tail -1
"""


@click.command(epilog=_EPILOG)
@click.argument("loop")
@in_workspace
def command(loop: str, project_root: Path, as_json: bool) -> int:
    """What happened to a loop, event by event: when, by whom, what."""
    for line in history(context_of(project_root), loop):
        if as_json:
            say_json_line(msgspec.to_builtins(line))
            continue
        for event in line.events:
            facts = {name: value for name, value in msgspec.to_builtins(event).items() if name != "kind"}
            text = ", ".join(f"{name}: {value}" for name, value in facts.items() if value not in (None, [], {}, ""))
            say(f"{line.revision:>5}  {line.at}  {line.actor:<10} {msgspec.to_builtins(event)['kind']}  {text[:200]}")
    return 0
