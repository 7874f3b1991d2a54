"""`loopwright loop new, start`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from loopwright.cli.loop.budgets import budget_from, loop_budget_options
from loopwright.cli.loop.output import exit_code, say_standing
from loopwright.cli.loop.screen.live import LiveView
from loopwright.cli.loop.told import BackgroundStep, LoopReporter, is_screen, telling
from loopwright.cli.options import context_of, in_workspace, say, say_json_line
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
from loopwright.verbs.loop.look import has_worker, resolve, show_loop
from loopwright.verbs.workflow.build import drive

_NEW_EXAMPLES = """\b
Examples:
  loopwright loop new "faster imports" --description "import time below 100 ms"
  loopwright loop new "fix the parser" --task "write a failing test" --task "make it pass" --agent claude
  loopwright loop new "night shift" --max-iterations 50 --usd 10 --task-usd 2 --task-retries 1
"""


@click.command(epilog=_NEW_EXAMPLES)
@click.argument("title")
@click.option("--description", default="", help="What it is about; an agent can split it into tasks.")
@click.option("--task", "tasks", multiple=True, help="A task; can be given several times.")
@click.option("--agent", default="", help="Who works on it; default: by agents.roles, else agents.default.")
@click.option("--max-iterations", type=click.IntRange(1), help="Develop, debug and validate count one each.")
@click.option(
    "--mode",
    type=click.Choice(["auto", "interactive"]),
    default="auto",
    show_default=True,
    help="Who chooses what is next: the rules, or a person before each action.",
)
@click.option("--tag", "tags", multiple=True, help="A word to find it by.")
@click.option("--priority", type=int, default=0, show_default=True, help="Higher comes first.")
@loop_budget_options
@in_workspace
def new_command(
    title: str,
    description: str,
    tasks: tuple[str, ...],
    agent: str,
    max_iterations: int | None,
    mode: Mode,
    tags: tuple[str, ...],
    priority: int,
    project_root: Path,
    as_json: bool,
    **limits: float | None,
) -> int:
    """Make a loop. It does nothing until it is started."""
    context = context_of(project_root)
    loop = new_loop(
        context,
        LoopRequest(
            title=title, description=description, max_iterations=max_iterations, mode=mode, agent=agent, tags=tags,
            priority=priority, budget=budget_from(limits), task_budget=budget_from(limits, "task_"), tasks=tasks,
        ),
    )  # fmt: skip
    say_standing(context, loop, as_json=as_json)
    return 0


_START_EXAMPLES = """\b
Examples:
  loopwright loop start LOOP
  loopwright loop start LOOP --detach
  loopwright loop start LOOP --mode auto      the rules choose what is next, from now on
  loopwright loop start LOOP --json | jq -r 'select(.type == "events").text[]'

\b
Keys in a terminal: q quit, p pause, r resume, s stop, arrows or j and k scroll the log, ? help.
Ctrl-C interrupts the action; it stays under way, and `loop resume` goes on with it.
"""


@click.command(epilog=_START_EXAMPLES)
@click.argument("loop")
@click.option("--detach", is_flag=True, help="In the background; it outlives this terminal.")
@click.option("--mode", type=click.Choice(["auto", "interactive"]), help="Who chooses what is next, from now on.")
@click.option("--failure-file", type=click.Path(path_type=Path), hidden=True)
@in_workspace
def start_command(
    loop: str, detach: bool, mode: Mode | None, failure_file: Path | None, project_root: Path, as_json: bool
) -> int:
    """Drive a loop here until it is done, fails or is held; another terminal can pause or stop it.

    Exit 0: done, or paused by a person. 11: held (budget, quota, blocker, decision; the hold's code says why). 12:
    failed, stopped, or out of iterations. 14: nothing proves the work, `loop accept` takes it. 130, 143: interrupted.
    At a rate limit whose end is known it waits for that.
    """
    context = context_of(project_root)
    loop_id = resolve(context, loop)
    if mode is not None:
        set_mode(context, loop_id, mode)
    try:
        return in_background(context, loop_id, as_json) if detach else drive_here(context, loop_id, as_json)
    except LoopwrightError as problem:
        if failure_file is not None:
            write_failure(failure_file, problem)
        raise


def in_background(context: Context, loop_id: str, as_json: bool) -> int:
    """Drive it in a process that outlives this terminal."""
    found = start_detached(context, loop_id)
    if as_json:
        say_json_line({"type": "detached", "loop_id": loop_id, "pid": found.pid, "log": shown(found.log)})
        return 0
    say(f"{loop_id} is driven by process {found.pid} in the background")
    say(f"  log     {shlex.quote(shown(found.log))}")
    if works_by_hand(context, show_loop(context, loop_id).agent):
        say(f"  turn    loopwright loop turn {loop_id} --wait")
    for verb in ("watch", "pause", "resume", "stop"):
        say(f"  {verb:<7} loopwright loop {verb} {loop_id}")
    return 0


def drive_here(context: Context, loop_id: str, as_json: bool) -> int:
    """Drive it in this process: a live screen in a terminal, else a line for each thing that happens."""
    with stopping_on_signals() as cancellation:
        # Who will only hear that another process drives it needs no screen for that.
        if is_screen() and not as_json and not has_worker(context, loop_id):
            after = _on_screen(context, loop_id, cancellation)
        else:
            since = show_loop(context, loop_id).revision
            with telling(context, loop_id, LoopReporter(as_json=as_json), since=since):
                after = drive(context, loop_id, cancellation)
        reason = cancellation.reason
    if as_json:
        say_json_line({"type": "loop", **document_of(after)})
    else:
        say_standing(context, after)
        if reason is not None and isinstance(after.phase, Running):
            what = f"{after.under_way.action} is interrupted and stays under way" if after.under_way else "interrupted"
            say(f"{what}; `loopwright loop resume {loop_id}` goes on with it", fg="yellow")
    return exit_code(after, reason)


def _on_screen(context: Context, loop_id: str, cancellation: Cancellation) -> Loop:
    with LiveView(context, loop_id, cancellation, drives=True) as view, BackgroundStep(view.step):
        return drive(context, loop_id, cancellation, ask=view.ask)
