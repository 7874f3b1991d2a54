"""`loopwright loop logs`."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click
import msgspec

from loopwright.cli.loop.options import in_loop
from loopwright.cli.loop.output import signal_code
from loopwright.cli.loop.reporting import sentences
from loopwright.cli.options import command_with_examples, echo, echo_json_line
from loopwright.cli.run import stopping_on_signals
from loopwright.loop.log import Line
from loopwright.loop.sentences import sentence
from loopwright.stages.context import Context
from loopwright.verbs.loop.agent_logs import Printed
from loopwright.verbs.loop.follow import agent_output, follow, history


@command_with_examples("""
  loopwright loop logs LOOP
  loopwright loop logs LOOP --since 40 --follow     events after revision 40, then new events live
  loopwright loop logs LOOP --agent                 output of its agents
  loopwright loop logs LOOP --json | tail -1
""")
@click.argument("loop")
@click.option("--follow", "following", is_flag=True, help="Print new events until the loop ends; Ctrl-C quits.")
@click.option("--since", type=click.IntRange(0), default=0, metavar="REVISION", help="Only events after this revision.")
@click.option("--agent", "of_agents", is_flag=True, help="Show the output of agents and tests, not the events.")
@in_loop
def command(context: Context, loop_id: str, following: bool, since: int, of_agents: bool, as_json: bool) -> int:
    """Show the events of a loop: time, actor, event. With --agent: the output of its agents and tests."""
    with stopping_on_signals() as cancellation:
        if of_agents:
            last_name = ""
            for printed in agent_output(context, loop_id, cancellation if following else None):
                last_name = _echo_printed(printed, last_name, as_json=as_json)
        elif following:
            for seen in follow(context, loop_id, cancellation, since=since):
                _echo_lines(seen.lines, as_json=as_json)
        else:
            _echo_lines(history(context, loop_id, since=since), as_json=as_json)
    return signal_code(cancellation.reason)


def _echo_lines(lines: Iterable[Line], *, as_json: bool) -> None:
    for line in lines:
        if as_json:
            echo_json_line({**msgspec.to_builtins(line), "text": [sentence(event) for event in line.events]})
            continue
        for text_line in sentences(line):
            echo(f"{line.revision:>5}  {line.at[:10]} {text_line}")
    sys.stdout.flush()


def _echo_printed(printed: Printed, last_name: str, *, as_json: bool) -> str:
    """Print the lines under the name of their log, unless it is the last name; return the name."""
    if printed.name != last_name and not as_json:
        echo(f"==> {printed.name} <==", bold=True)
    for text in printed.lines:
        if as_json:
            echo_json_line({"type": "log", "log": printed.name, "text": text})
        else:
            echo(text)
    sys.stdout.flush()
    return printed.name
