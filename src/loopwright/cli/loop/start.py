"""`loopwright loop new, start`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from loopwright.cli.loop.options import in_loop, loop_budget_options
from loopwright.cli.loop.output import echo_status, exit_code
from loopwright.cli.loop.reporting import BackgroundStep, LoopReporter, is_screen, reporting
from loopwright.cli.loop.screen.live import LiveView
from loopwright.cli.options import command_with_examples, echo, echo_json_line, in_context
from loopwright.cli.run import stopping_on_signals
from loopwright.errors import LoopwrightError
from loopwright.kernel.files import shown
from loopwright.kernel.process import Cancellation
from loopwright.loop.model import Loop, Mode, Running
from loopwright.loop.projection import document_of
from loopwright.stages.agent_choice import works_by_hand
from loopwright.stages.context import Context
from loopwright.verbs.loop.background import start_detached, write_failure
from loopwright.verbs.loop.control import LoopRequest, new_loop, set_mode
from loopwright.verbs.loop.look import has_worker, show_loop
from loopwright.verbs.workflow.build import drive


@command_with_examples("""
  loopwright loop new "faster imports" --description "import time below 100 ms"
  loopwright loop new "fix the parser" --task "write a failing test" --task "make it pass" --agent claude
  loopwright loop new "night shift" --max-iterations 50 --usd 10 --task-usd 2 --task-retries 1
""")
@click.argument("title")
@click.option("--description", default="", help="The goal; an agent can split it into tasks.")
@click.option("--task", "tasks", multiple=True, help="A task; can be repeated.")
@click.option("--agent", default="", help="Agent that works; default: agents.roles, then agents.default.")
@click.option(
    "--max-iterations",
    type=click.IntRange(1),
    help="Limit of iterations; each develop, debug or validate action is one.",
)
@click.option(
    "--mode",
    type=click.Choice(["auto", "interactive"]),
    default="auto",
    show_default=True,
    help="Who chooses each action: auto: the rules; interactive: a person.",
)
@click.option("--tag", "tags", multiple=True, help="A tag; can be repeated.")
@click.option("--priority", type=int, default=0, show_default=True, help="Priority; a higher number comes first.")
@loop_budget_options
@in_context
def new_command(context: Context, as_json: bool, **options: Any) -> None:
    """Create a loop. Start it with `loopwright loop start`."""
    echo_status(context, new_loop(context, LoopRequest(**options)), as_json=as_json)


@command_with_examples("""
  loopwright loop start LOOP
  loopwright loop start LOOP --detach
  loopwright loop start LOOP --mode auto      from now on the rules choose each action
  loopwright loop start LOOP --json | jq -r 'select(.type == "events").text[]'

\b
Keys in a terminal: q quit, p pause, r resume, s stop, arrows or j and k scroll the log, ? help.
Ctrl-C interrupts the current action; `loop resume` continues it.
""")
@click.argument("loop")
@click.option("--detach", is_flag=True, help="Run in the background, even after this terminal is closed.")
@click.option(
    "--mode",
    type=click.Choice(["auto", "interactive"]),
    help="From now on, who chooses each action: auto: the rules; interactive: a person.",
)
@click.option("--failure-file", type=click.Path(path_type=Path), hidden=True)
@in_loop
def start_command(
    context: Context, loop_id: str, detach: bool, mode: Mode | None, failure_file: Path | None, as_json: bool
) -> int:
    """Run a loop here until it is done, fails or is held. You can pause or stop it from another terminal.

    If an agent reports a rate limit and when the limit ends, the loop waits until then.

    Exit codes: 0 done, or paused by a person; 11 held (budget, quota, blocker, decision: the hold shows its code);
    12 failed, stopped, or out of iterations; 14 nothing proves the work (see `loop accept`); 130 and 143 interrupted.
    """
    if mode is not None:
        set_mode(context, loop_id, mode)
    try:
        return in_background(context, loop_id, as_json) if detach else drive_here(context, loop_id, as_json)
    except LoopwrightError as problem:
        if failure_file is not None:
            write_failure(failure_file, problem)
        raise


def in_background(context: Context, loop_id: str, as_json: bool) -> int:
    """Drive the loop in a process that continues after this terminal is closed."""
    worker = start_detached(context, loop_id)
    if as_json:
        echo_json_line({"type": "detached", "loop_id": loop_id, "pid": worker.pid, "log": shown(worker.log)})
        return 0
    echo(f"{loop_id} runs in the background, in process {worker.pid}")
    echo(f"  log     {shlex.quote(shown(worker.log))}")
    if works_by_hand(context, show_loop(context, loop_id).agent):
        echo(f"  turn    loopwright loop turn {loop_id} --wait")
    for verb in ("watch", "pause", "resume", "stop"):
        echo(f"  {verb:<7} loopwright loop {verb} {loop_id}")
    return 0


def drive_here(context: Context, loop_id: str, as_json: bool) -> int:
    """Drive the loop in this process, and print its status."""
    with stopping_on_signals() as cancellation:
        after = drive_shown(context, loop_id, cancellation, as_json=as_json)
        reason = cancellation.reason
    if as_json:
        echo_json_line({"type": "loop", **document_of(after)})
    else:
        echo_status(context, after)
        if reason is not None and isinstance(after.phase, Running):
            what = f"{after.under_way.action} was interrupted" if after.under_way else "interrupted"
            echo(f"{what}; continue with `loopwright loop resume {loop_id}`", fg="yellow")
    return exit_code(after, reason)


def drive_shown(context: Context, loop_id: str, cancellation: Cancellation, *, as_json: bool) -> Loop:
    """Drive the loop in this process: with a live screen in a terminal, otherwise with a line for each event."""
    # If another process drives the loop, only a refusal follows: that needs no screen.
    if is_screen() and not as_json and not has_worker(context, loop_id):
        with LiveView(context, loop_id, cancellation, drives=True) as view, BackgroundStep(view.step):
            return drive(context, loop_id, cancellation, ask=view.ask)
    since = show_loop(context, loop_id).revision
    with reporting(context, loop_id, LoopReporter(as_json=as_json, status_follows=True), since=since):
        return drive(context, loop_id, cancellation)
