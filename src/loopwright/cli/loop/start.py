"""`loopwright loop start`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.loop.output import say_loop
from loopwright.cli.options import context_of, in_workspace, say, say_json_line
from loopwright.cli.run import stopping_on_signals
from loopwright.kernel.files import shown
from loopwright.loop.desk import Told
from loopwright.loop.model import Failed, Held, Holder, Loop
from loopwright.loop.projection import document_of
from loopwright.verbs.context import Context
from loopwright.verbs.loop.background import start_detached
from loopwright.verbs.loop.look import resolve
from loopwright.verbs.loop.start import start

_HELD, _FAILED = 11, 12
_SIGNALS = {"SIGINT": 130, "SIGTERM": 143}
_EPILOG = """\b
Examples:
  loopwright loop start LOOP
  loopwright loop start LOOP --detach
  loopwright loop start LOOP --json | jq .text
"""


@click.command(epilog=_EPILOG)
@click.argument("loop")
@click.option("--detach", is_flag=True, help="In the background; it outlives this terminal.")
@in_workspace
def command(loop: str, detach: bool, project_root: Path, as_json: bool) -> int:
    """Drive a loop here until it is done, fails or is held; another terminal can pause or stop it.

    Exit 0: done, or paused by a person. 11: held (budget, quota, blocker, decision; the hold's code says why). 12:
    failed, stopped, or out of iterations. 130, 143: interrupted. At a rate limit whose end is known it waits for that.
    """
    context = context_of(project_root)
    if detach:
        return in_background(context, resolve(context, loop), as_json)
    return drive_here(context, resolve(context, loop), as_json)


def in_background(context: Context, loop_id: str, as_json: bool) -> int:
    """Drive it in a process that outlives this terminal."""
    found = start_detached(context, loop_id)
    if as_json:
        say_json_line({"type": "detached", "loop_id": loop_id, "pid": found.pid, "log": shown(found.log)})
    else:
        say(f"{loop_id} is driven by process {found.pid}; its log: {shown(found.log)}")
        say(f"  → loopwright loop watch {loop_id}")
    return 0


def drive_here(context: Context, loop_id: str, as_json: bool) -> int:
    """Drive it in this process, with a line for each action."""

    def tell(told: Told) -> None:
        if as_json:
            say_json_line({"type": "action", "loop_id": told.loop.loop_id, "text": told.text})
        else:
            say(told.text)

    with stopping_on_signals() as cancellation:
        after = start(context, loop_id, tell, cancellation)
        reason = cancellation.reason
    if as_json:
        say_json_line({"type": "loop", **document_of(after)})
    else:
        say_loop(after, as_json=False)
    return exit_code(after, reason)


def exit_code(loop: Loop, stopped_by: str | None) -> int:
    """The contract's code for how a worker left a loop."""
    match loop.phase:
        case Failed():
            return _FAILED
        case _ if stopped_by in _SIGNALS:
            return _SIGNALS[stopped_by]
        case Held(holds=holds) if any(hold.holder is not Holder.OPERATOR for hold in holds):
            return _HELD
    return 0
