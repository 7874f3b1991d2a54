"""`loopwright loop pause, resume, stop, retry, complete, mode, choose, answer`: a person steers a loop."""

from __future__ import annotations

from typing import Any

import click

from loopwright.cli.loop.options import in_loop, loop_budget_options
from loopwright.cli.loop.output import echo_loop, echo_status, exit_code
from loopwright.cli.loop.start import drive_here, in_background
from loopwright.cli.options import command_with_examples, echo
from loopwright.loop.model import Action, Mode
from loopwright.stages.context import Context
from loopwright.verbs.loop.control import (
    accept,
    answer,
    choose,
    complete,
    is_held,
    pause,
    resume,
    retry,
    set_mode,
    stop,
)
from loopwright.verbs.loop.look import has_worker

_at_revision = click.option("--revision", type=int, help="Refuse if the loop is no longer at this revision.")


@command_with_examples("""
  loopwright loop pause LOOP
  loopwright loop pause LOOP --revision 12      only if the loop is still at revision 12
""")
@click.argument("loop")
@_at_revision
@in_loop
def pause_command(context: Context, loop_id: str, revision: int | None, as_json: bool) -> None:
    """Pause a loop: freeze its processes within a second, and stop the clock of its budget."""
    echo_loop(pause(context, loop_id, revision=revision), as_json=as_json, brief=True)


@command_with_examples("""
  loopwright loop resume LOOP
  loopwright loop resume LOOP --detach
  loopwright loop resume LOOP --usd 20        with a new cost limit of 20 USD
  loopwright loop resume LOOP --task-retries 5
""")
@click.argument("loop")
@_at_revision
@click.option("--no-start", is_flag=True, help="Lift the hold only; `loop start` continues the loop later.")
@click.option("--detach", is_flag=True, help="If no process drives the loop, start one in the background.")
@click.option("--max-iterations", type=click.IntRange(1), help="New limit of iterations, counted from the first.")
@loop_budget_options
@in_loop
def resume_command(
    context: Context,
    loop_id: str,
    no_start: bool,
    detach: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Lift the hold of a loop. If no process drives the loop, drive it here.

    Lifts a pause, a blocker and a rate limit, and a budget hold once the limit is raised. If nothing proves the work
    yet, the agent continues with it.

    Exit codes: 0 done, paused by a person, or driven by another process; 1 this hold cannot be lifted by `resume`;
    11 still held, or held again; 12 failed; 14 nothing proves the work.
    """
    after = resume(context, loop_id, **options)
    if is_held(after) or no_start or has_worker(context, loop_id):
        echo_loop(after, as_json=as_json, brief=True)
        return exit_code(after, None)
    return in_background(context, loop_id, as_json) if detach else drive_here(context, loop_id, as_json)


@command_with_examples("""
  loopwright loop stop LOOP
  loopwright loop stop LOOP --revision 12      only if the loop is still at revision 12
""")
@click.argument("loop")
@_at_revision
@in_loop
def stop_command(context: Context, loop_id: str, revision: int | None, as_json: bool) -> None:
    """End a loop for good and stop all its processes. `loop retry` makes another attempt."""
    echo_loop(stop(context, loop_id, revision=revision), as_json=as_json, brief=True)


@command_with_examples("""
  loopwright loop retry LOOP
  loopwright loop retry LOOP --max-iterations 30     if the iterations were used up
""")
@click.argument("loop")
@click.option("--max-iterations", type=click.IntRange(1), help="New limit of iterations, counted from the first.")
@_at_revision
@in_loop
def retry_command(
    context: Context, loop_id: str, max_iterations: int | None, revision: int | None, as_json: bool
) -> None:
    """Make another attempt at a loop that failed or is done. The loop keeps its history."""
    retried = retry(context, loop_id, max_iterations=max_iterations, revision=revision)
    echo_loop(retried, as_json=as_json, brief=True)


@command_with_examples("""
  loopwright loop complete LOOP --reason "released by hand as 2.1.4"
""")
@click.argument("loop")
@click.option("--reason", required=True, help="Why the loop is done although its tests did not pass; is recorded.")
@_at_revision
@in_loop
def complete_command(context: Context, loop_id: str, reason: str, revision: int | None, as_json: bool) -> None:
    """Close a loop as done, even if its tests do not pass. The reason is recorded. For people only."""
    echo_loop(complete(context, loop_id, reason=reason, revision=revision), as_json=as_json, brief=True)


@command_with_examples("""
  loopwright loop mode LOOP interactive     a person chooses each action
  loopwright loop mode LOOP auto            the rules choose each action; a loop that waits for a choice continues
""")
@click.argument("loop")
@click.argument("mode", type=click.Choice(["auto", "interactive"]))
@_at_revision
@in_loop
def mode_command(context: Context, loop_id: str, mode: Mode, revision: int | None, as_json: bool) -> None:
    """Set who chooses the next actions of a loop: the rules, or a person. The current action continues."""
    after = set_mode(context, loop_id, mode, revision=revision)
    echo_status(context, after, as_json=as_json)


@command_with_examples("""
  loopwright loop choose LOOP validate
  loopwright loop choose LOOP develop --detach
  loopwright loop choose LOOP debug --no-start     record the choice; `loop start` carries it out later
""")
@click.argument("loop")
@click.argument("action", type=click.Choice([action.value for action in Action]))
@_at_revision
@click.option("--no-start", is_flag=True, help="Record the choice only; `loop start` carries it out later.")
@click.option("--detach", is_flag=True, help="If no process drives the loop, start one in the background.")
@in_loop
def choose_command(
    context: Context, loop_id: str, action: str, revision: int | None, no_start: bool, detach: bool, as_json: bool
) -> int:
    """Choose the next action of a loop in interactive mode. If no process drives the loop, drive it here."""
    after = choose(context, loop_id, Action(action), revision=revision)
    if no_start or has_worker(context, loop_id):
        echo_loop(after, as_json=as_json, brief=True)
        return 0
    return in_background(context, loop_id, as_json) if detach else drive_here(context, loop_id, as_json)


@command_with_examples("""
  loopwright loop show LOOP                      shows the open questions and their ids
  loopwright loop answer LOOP D-1 "use SQLite"   then continue with `loopwright loop resume LOOP`
""")
@click.argument("loop")
@click.argument("decision")
@click.argument("text")
@_at_revision
@in_loop
def answer_command(
    context: Context, loop_id: str, decision: str, text: str, revision: int | None, as_json: bool
) -> None:
    """Answer a question of an agent. The agent gets the answer in its next turn. For people only."""
    after = answer(context, loop_id, decision, text, revision=revision)
    echo_loop(after, as_json=as_json, brief=True)
    if not as_json and not is_held(after) and not has_worker(context, loop_id):
        echo(f"  → loopwright loop resume {loop_id}")


@command_with_examples("""
  loopwright loop accept LOOP --reason "the test was wrong, the new one is right"
  loopwright loop accept LOOP --without-protected     leaves out changes to protected files
""")
@click.argument("loop")
@click.option("--reason", default="", help="Why you accept the work; is recorded. Default: the list of doubts.")
@click.option(
    "--without-protected", is_flag=True, help="Leave out protected changes. The tests must pass without them."
)
@_at_revision
@in_loop
def accept_command(
    context: Context, loop_id: str, reason: str, without_protected: bool, revision: int | None, as_json: bool
) -> None:
    """Accept work that nothing proves, and complete the loop. Your name is recorded. For people only."""
    accepted = accept(context, loop_id, reason=reason, without_protected=without_protected, revision=revision)
    echo_status(context, accepted, as_json=as_json)
