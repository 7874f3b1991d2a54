"""`loopwright loop logs`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import click
import msgspec

from loopwright.cli.loop.output import signal_code
from loopwright.cli.loop.told import sentences
from loopwright.cli.options import context_of, in_workspace, say, say_json_line
from loopwright.cli.run import stopping_on_signals
from loopwright.loop.log import Line
from loopwright.loop.sentences import sentence
from loopwright.verbs.loop.agent_logs import Printed
from loopwright.verbs.loop.follow import agent_output, follow, history
from loopwright.verbs.loop.look import resolve

_EPILOG = """\b
Examples:
  loopwright loop logs LOOP
  loopwright loop logs LOOP --since 40 --follow     what happened behind revision 40, and what happens
  loopwright loop logs LOOP --agent                 what its agents printed
  loopwright loop logs LOOP --json | tail -1
"""


@click.command(epilog=_EPILOG)
@click.argument("loop")
@click.option("--follow", "following", is_flag=True, help="Go on until the loop is over; Ctrl-C ends it.")
@click.option("--since", type=click.IntRange(0), default=0, metavar="REVISION", help="Only what came behind this one.")
@click.option("--agent", "of_agents", is_flag=True, help="What its agents and tests printed, instead of what happened.")
@in_workspace
def command(loop: str, following: bool, since: int, of_agents: bool, project_root: Path, as_json: bool) -> int:
    """What happened to a loop, event by event: when, by whom, what. With --agent: what its agents and tests printed."""
    context = context_of(project_root)
    loop_id = resolve(context, loop)
    with stopping_on_signals() as cancellation:
        if of_agents:
            before = ""
            for printed in agent_output(context, loop_id, cancellation if following else None):
                before = _say_printed(printed, before, as_json=as_json)
        elif following:
            for seen in follow(context, loop_id, cancellation, since=since):
                _say_lines(seen.lines, as_json=as_json)
        else:
            _say_lines(history(context, loop_id, since=since), as_json=as_json)
    return signal_code(cancellation.reason)


def _say_lines(lines: Iterable[Line], *, as_json: bool) -> None:
    for line in lines:
        _say_line(line, as_json=as_json)
    sys.stdout.flush()


def _say_line(line: Line, *, as_json: bool) -> None:
    if as_json:
        text = [sentence(event) for event in line.events]
        say_json_line({**msgspec.to_builtins(line), "text": text})
        return
    for text_line in sentences(line):
        say(f"{line.revision:>5}  {line.at[:10]} {text_line}")


def _say_printed(printed: Printed, before: str, *, as_json: bool) -> str:
    """Say it under its name; returns the name, which is not said twice in a row."""
    if printed.name != before and not as_json:
        say(f"==> {printed.name} <==", bold=True)
    for text in printed.lines:
        if as_json:
            say_json_line({"type": "log", "log": printed.name, "text": text})
        else:
            say(text)
    sys.stdout.flush()
    return printed.name
