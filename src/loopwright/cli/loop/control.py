"""`loopwright loop pause, resume, stop, retry, complete, mode, choose, answer`: a person steers a loop."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.loop.budgets import budget_from, loop_budget_options
from loopwright.cli.loop.output import exit_code, say_loop, say_standing
from loopwright.cli.loop.start import drive_here, in_background
from loopwright.cli.options import context_of, in_workspace, say
from loopwright.loop.model import Action, Mode
from loopwright.verbs.loop.control import (
    accept,
    answer,
    choose,
    complete,
    give_iterations,
    is_held,
    pause,
    resume,
    retry,
    set_mode,
    stop,
)
from loopwright.verbs.loop.look import has_worker, resolve

_PAUSE_EXAMPLES = """\b
Examples:
  loopwright loop pause LOOP
  loopwright loop pause LOOP --revision 12      only if nobody changed it since
"""


@click.command(epilog=_PAUSE_EXAMPLES)
@click.argument("loop")
@click.option("--revision", type=int, help="Refuse when the loop is not at this revision any more.")
@in_workspace
def pause_command(loop: str, revision: int | None, project_root: Path, as_json: bool) -> int:
    """Hold a loop; what it runs is frozen within a second, and its budget's clock stands still."""
    context = context_of(project_root)
    say_loop(pause(context, resolve(context, loop), revision=revision), as_json=as_json, brief=True)
    return 0


_RESUME_EXAMPLES = """\b
Examples:
  loopwright loop resume LOOP
  loopwright loop resume LOOP --detach
  loopwright loop resume LOOP --usd 20        the budget is 20 USD from now on
  loopwright loop resume LOOP --task-retries 5
"""


@click.command(epilog=_RESUME_EXAMPLES)
@click.argument("loop")
@click.option("--revision", type=int, help="Refuse when the loop is not at this revision any more.")
@click.option("--no-start", is_flag=True, help="Lift the hold only; `loop start` drives it later.")
@click.option("--detach", is_flag=True, help="Where no process drives it any more, start one in the background.")
@click.option("--max-iterations", type=click.IntRange(1), help="It may take so many iterations in all, from now on.")
@loop_budget_options
@in_workspace
def resume_command(
    loop: str,
    revision: int | None,
    no_start: bool,
    detach: bool,
    max_iterations: int | None,
    project_root: Path,
    as_json: bool,
    **limits: float | None,
) -> int:
    """Lift the hold of a loop; where no process drives it any more, go on with it here.

    Lifts a pause, a blocker and a rate limit; a budget where there is room in it now. The agent goes on
    with work that nothing proves. Exit 1: nothing of what holds it can be lifted so. 11: still held, or held again. 12:
    failed. 14: nothing proves the work. 0: done, paused by a person, or driven by another.
    """
    context = context_of(project_root)
    loop_id = resolve(context, loop)
    if max_iterations is not None:
        give_iterations(context, loop_id, max_iterations)
    after = resume(
        context, loop_id, budget=budget_from(limits), task_budget=budget_from(limits, "task_"), revision=revision
    )
    if is_held(after) or no_start or has_worker(context, loop_id):
        say_loop(after, as_json=as_json, brief=True)
        return exit_code(after, None)
    return in_background(context, loop_id, as_json) if detach else drive_here(context, loop_id, as_json)


_STOP_EXAMPLES = """\b
Examples:
  loopwright loop stop LOOP
  loopwright loop stop LOOP --revision 12      only if nobody changed it since
"""


@click.command(epilog=_STOP_EXAMPLES)
@click.argument("loop")
@click.option("--revision", type=int, help="Refuse when the loop is not at this revision any more.")
@in_workspace
def stop_command(loop: str, revision: int | None, project_root: Path, as_json: bool) -> int:
    """End a loop for good, and every process of it. `retry` makes another attempt."""
    context = context_of(project_root)
    say_loop(stop(context, resolve(context, loop), revision=revision), as_json=as_json, brief=True)
    return 0


_RETRY_EXAMPLES = """\b
Examples:
  loopwright loop retry LOOP
  loopwright loop retry LOOP --max-iterations 30     where the iterations were used up
"""


@click.command(epilog=_RETRY_EXAMPLES)
@click.argument("loop")
@click.option("--max-iterations", type=click.IntRange(1), help="The limit from now on.")
@click.option("--revision", type=int, help="Refuse when the loop is not at this revision any more.")
@in_workspace
def retry_command(
    loop: str, max_iterations: int | None, revision: int | None, project_root: Path, as_json: bool
) -> int:
    """Another attempt at a loop that failed or is done; its history stays."""
    context = context_of(project_root)
    again = retry(context, resolve(context, loop), max_iterations=max_iterations, revision=revision)
    say_loop(again, as_json=as_json, brief=True)
    return 0


_COMPLETE_EXAMPLES = """\b
Examples:
  loopwright loop complete LOOP --reason "released by hand as 2.1.4"
"""


@click.command(epilog=_COMPLETE_EXAMPLES)
@click.argument("loop")
@click.option("--reason", required=True, help="Why it is done without a passed validation; stays on record.")
@click.option("--revision", type=int, help="Refuse when the loop is not at this revision any more.")
@in_workspace
def complete_command(loop: str, reason: str, revision: int | None, project_root: Path, as_json: bool) -> int:
    """Close a loop as done, whatever its tests say, with a reason that stays on record. For people only."""
    context = context_of(project_root)
    say_loop(complete(context, resolve(context, loop), reason=reason, revision=revision), as_json=as_json, brief=True)
    return 0


_MODE_EXAMPLES = """\b
Examples:
  loopwright loop mode LOOP interactive     a person chooses before each action
  loopwright loop mode LOOP auto            the rules choose; what waits for a choice may go on
"""


@click.command(epilog=_MODE_EXAMPLES)
@click.argument("loop")
@click.argument("mode", type=click.Choice(["auto", "interactive"]))
@click.option("--revision", type=int, help="Refuse when the loop is not at this revision any more.")
@in_workspace
def mode_command(loop: str, mode: Mode, revision: int | None, project_root: Path, as_json: bool) -> int:
    """Say who chooses what a loop does next, from now on; an action that is under way is not touched."""
    context = context_of(project_root)
    after = set_mode(context, resolve(context, loop), mode, revision=revision)
    say_standing(context, after, as_json=as_json)
    return 0


_CHOOSE_EXAMPLES = """\b
Examples:
  loopwright loop choose LOOP validate
  loopwright loop choose LOOP develop --detach
  loopwright loop choose LOOP debug --no-start     say it only; `loop start` does it later
"""


@click.command(epilog=_CHOOSE_EXAMPLES)
@click.argument("loop")
@click.argument("action", type=click.Choice([action.value for action in Action]))
@click.option("--revision", type=int, help="Refuse when the loop is not at this revision any more.")
@click.option("--no-start", is_flag=True, help="Say it only; `loop start` drives it later.")
@click.option("--detach", is_flag=True, help="Where no process drives it, start one in the background.")
@in_workspace
def choose_command(
    loop: str, action: str, revision: int | None, no_start: bool, detach: bool, project_root: Path, as_json: bool
) -> int:
    """Say what a loop in interactive mode does next; where no process drives it, do it here."""
    context = context_of(project_root)
    loop_id = resolve(context, loop)
    after = choose(context, loop_id, Action(action), revision=revision)
    if no_start or has_worker(context, loop_id):
        say_loop(after, as_json=as_json, brief=True)
        return 0
    return in_background(context, loop_id, as_json) if detach else drive_here(context, loop_id, as_json)


_ANSWER_EXAMPLES = """\b
Examples:
  loopwright loop show LOOP                      what is asked, and which decision waits
  loopwright loop answer LOOP D-1 "use SQLite"   then `loopwright loop resume LOOP` goes on
"""


@click.command(epilog=_ANSWER_EXAMPLES)
@click.argument("loop")
@click.argument("decision")
@click.argument("text")
@click.option("--revision", type=int, help="Refuse when the loop is not at this revision any more.")
@in_workspace
def answer_command(loop: str, decision: str, text: str, revision: int | None, project_root: Path, as_json: bool) -> int:
    """Answer what an agent asked; it is told in its next turn, and nobody asks that again. For people only."""
    context = context_of(project_root)
    loop_id = resolve(context, loop)
    after = answer(context, loop_id, decision, text, revision=revision)
    say_loop(after, as_json=as_json, brief=True)
    if not as_json and not is_held(after) and not has_worker(context, loop_id):
        say(f"  → loopwright loop resume {loop_id}")
    return 0


_ACCEPT_EXAMPLES = """\b
Examples:
  loopwright loop accept LOOP --reason "the test was wrong, the new one is right"
"""


@click.command(epilog=_ACCEPT_EXAMPLES)
@click.argument("loop")
@click.option("--reason", default="", help="Why; stays on record. Without it: the doubts that you accept.")
@click.option("--revision", type=int, help="Refuse when the loop is not at this revision any more.")
@in_workspace
def accept_command(loop: str, reason: str, revision: int | None, project_root: Path, as_json: bool) -> int:
    """Accept work that nothing proves: the loop is completed, and who accepted it stays on record. For people only."""
    context = context_of(project_root)
    accepted = accept(context, resolve(context, loop), reason=reason, revision=revision)
    say_standing(context, accepted, as_json=as_json)
    return 0
