"""`loopwright loop watch`."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path

import click
import msgspec
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from loopwright.cli.loop.colors import COLORS
from loopwright.cli.loop.output import MARKS, cost_of, hold_line
from loopwright.cli.options import context_of, in_workspace, say, say_json_line
from loopwright.cli.run import stopping_on_signals
from loopwright.kernel.escapes import neutralised
from loopwright.loop import log
from loopwright.loop.model import Held, Loop
from loopwright.loop.projection import progress_of
from loopwright.loop.rules import status_of
from loopwright.verbs.loop.follow import Seen, follow
from loopwright.verbs.loop.look import resolve

_SHOWN_LINES = 12
_EPILOG = """\b
Examples:
  loopwright loop watch LOOP               live, in a terminal; Ctrl-C ends the watching, not the loop
  loopwright loop watch LOOP --json        a line of JSON for each change
"""


@click.command(epilog=_EPILOG)
@click.argument("loop")
@in_workspace
def command(loop: str, project_root: Path, as_json: bool) -> int:
    """Follow a loop from any terminal: tasks, actions, holds, tests, cost. It does not touch the loop."""
    context = context_of(project_root)
    loop_id = resolve(context, loop)
    is_live = sys.stdout.isatty() and not as_json
    happened: list[log.Line] = []
    with stopping_on_signals() as cancellation:
        screen = Live(console=Console(), auto_refresh=False) if is_live else nullcontext()
        with screen as live:
            for seen in follow(context, loop_id, cancellation):
                if as_json:
                    _say_json(seen)
                elif live is None:
                    for line in seen.lines:
                        say(_sentence(line))
                else:
                    happened = [*happened, *seen.lines][-_SHOWN_LINES:]
                    live.update(_view(seen, happened), refresh=True)
    return 0


def _say_json(seen: Seen) -> None:
    for line in seen.lines:
        say_json_line({"type": "events", **msgspec.to_builtins(line)})
    sys.stdout.buffer.flush()


def _view(seen: Seen, happened: list[log.Line]) -> Group:
    loop = seen.loop
    status = status_of(loop.phase)
    head = Text.assemble(
        (f"{loop.title}  ", "bold"), (status, COLORS[status]),
        f"  iteration {loop.iteration} of {loop.max_iterations}  {progress_of(loop).overall:g} %",
        ("" if seen.has_worker or status != "running" else "  no worker", "red"),
    )  # fmt: skip
    parts: list[Text | Table] = [head, Text(loop.loop_id, "dim")]
    if isinstance(loop.phase, Held):
        parts += [Text(neutralised(hold_line(hold)), "yellow") for hold in loop.phase.holds]
    parts.append(_tasks(loop))
    if loop.under_way is not None:
        parts.append(Text(f"now: {loop.under_way.action}", "cyan"))
    if loop.validation.last_run_at:
        color = "green" if loop.validation.passed else "red"
        failed = ", ".join(loop.validation.failed_tests[:3])
        parts.append(Text(f"tests: {loop.validation.pass_rate:g} % passed  {neutralised(failed)}", color))
    parts.append(Text(cost_of(loop.spent, loop.budget), "dim"))
    parts += [Text(_sentence(line), "dim", no_wrap=True, overflow="ellipsis") for line in happened]
    return Group(*parts)


def _tasks(loop: Loop) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1))
    for task in loop.tasks:
        table.add_row(MARKS[task.status], task.id, task.tool, Text(neutralised(task.description), overflow="ellipsis"))
    return table


def _sentence(line: log.Line) -> str:
    kinds = ", ".join(str(msgspec.to_builtins(event)["kind"]) for event in line.events)
    return f"{line.at}  {line.actor}: {kinds}"
