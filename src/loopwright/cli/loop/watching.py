"""`loopwright loop watch`."""

from __future__ import annotations

import click

from loopwright.cli.loop.options import in_loop
from loopwright.cli.loop.output import echo_status, exit_code, signal_code
from loopwright.cli.loop.reporting import LoopReporter, is_screen
from loopwright.cli.loop.screen.live import LiveView
from loopwright.cli.options import command_with_examples, echo_json_line
from loopwright.cli.run import stopping_on_signals
from loopwright.kernel.process import Cancellation
from loopwright.loop.model import Loop
from loopwright.loop.projection import document_of
from loopwright.stages.context import Context
from loopwright.verbs.loop.follow import LoopFollower, follow


@command_with_examples("""
  loopwright loop watch LOOP               live, in a terminal; q or Ctrl-C quits and the loop continues
  loopwright loop watch LOOP --no-follow   the current status
  loopwright loop watch LOOP --json        a line of JSON for each event and each line of the log

\b
Keys: q quit, p pause, r resume, s stop, arrows or j and k scroll the log, ? help.
""")
@click.argument("loop")
@click.option("--no-follow", is_flag=True, help="Show the current status, set the exit code by it, and quit.")
@in_loop
def command(context: Context, loop_id: str, no_follow: bool, as_json: bool) -> int:
    """Follow a loop from any terminal until it ends: tasks, actions, log, tests, holds, cost.

    Exit codes: 0 completed, or you quit with q; 12 failed; 130 and 143 interrupted. With --no-follow also: 0 running,
    or paused by a person; 14 nothing proves the work; 11 held for another reason.
    """
    with stopping_on_signals() as cancellation:
        if no_follow:
            after = LoopFollower(context, loop_id).look().loop
        elif as_json or not is_screen():
            after = _report(context, loop_id, cancellation, as_json=as_json)
        else:
            after = _show(context, loop_id, cancellation)
        reason = cancellation.reason
    if as_json:
        echo_json_line({"type": "loop", **document_of(after)})
    elif no_follow or is_screen():
        echo_status(context, after)
    return exit_code(after, reason) if no_follow or after.is_over else signal_code(reason)


def _report(context: Context, loop_id: str, cancellation: Cancellation, *, as_json: bool) -> Loop:
    reporter = LoopReporter(as_json=as_json)
    for seen in follow(context, loop_id, cancellation, whole_logs=as_json):
        reporter(seen)
    return seen.loop


def _show(context: Context, loop_id: str, cancellation: Cancellation) -> Loop:
    seen = LoopFollower(context, loop_id).look()
    if seen.loop.is_over:
        return seen.loop
    with LiveView(context, loop_id, cancellation) as view:
        while not (view.seen.loop.is_over or view.has_left or cancellation.reason):
            view.step()
    return view.seen.loop
