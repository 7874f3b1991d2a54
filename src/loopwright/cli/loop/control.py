"""`loopwright loop pause, resume, stop, retry, complete, mode, choose, answer`: a person steers a loop."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.loop.budgets import budget_from, loop_budget_options
from loopwright.cli.loop.output import exit_code, say_loop, say_standing
from loopwright.cli.loop.start import drive_here, in_background
from loopwright.cli.options import command_with_examples, context_of, in_workspace, say
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

_at_revision = click.option("--revision", type=int, help="Refuse if the loop is no longer at this revision.")


@command_with_examples("""
  loopwright loop pause LOOP
  loopwright loop pause LOOP --revision 12      only if the loop is still at revision 12
""")
@click.argument("loop")
@_at_revision
@in_workspace
def pause_command(loop: str, revision: int | None, project_root: Path, as_json: bool) -> None:
    """Pause a loop: freeze its processes within a second, and stop the clock of its budget."""
    context = context_of(project_root)
    say_loop(pause(context, resolve(context, loop), revision=revision), as_json=as_json, brief=True)


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
    """Lift the hold of a loop. If no process drives the loop, drive it here.

    Lifts a pause, a blocker and a rate limit, and a budget hold once the limit is raised. If nothing proves the work
    yet, the agent continues with it.

    Exit codes: 0 done, paused by a person, or driven by another process; 1 this hold cannot be lifted by `resume`;
    11 still held, or held again; 12 failed; 14 nothing proves the work.
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


@command_with_examples("""
  loopwright loop stop LOOP
  loopwright loop stop LOOP --revision 12      only if the loop is still at revision 12
""")
@click.argument("loop")
@_at_revision
@in_workspace
def stop_command(loop: str, revision: int | None, project_root: Path, as_json: bool) -> None:
    """End a loop for good and stop all its processes. `loop retry` makes another attempt."""
    context = context_of(project_root)
    say_loop(stop(context, resolve(context, loop), revision=revision), as_json=as_json, brief=True)


@command_with_examples("""
  loopwright loop retry LOOP
  loopwright loop retry LOOP --max-iterations 30     if the iterations were used up
""")
@click.argument("loop")
@click.option("--max-iterations", type=click.IntRange(1), help="New limit of iterations, counted from the first.")
@_at_revision
@in_workspace
def retry_command(
    loop: str, max_iterations: int | None, revision: int | None, project_root: Path, as_json: bool
) -> None:
    """Make another attempt at a loop that failed or is done. The loop keeps its history."""
    context = context_of(project_root)
    retried = retry(context, resolve(context, loop), max_iterations=max_iterations, revision=revision)
    say_loop(retried, as_json=as_json, brief=True)


@command_with_examples("""
  loopwright loop complete LOOP --reason "released by hand as 2.1.4"
""")
@click.argument("loop")
@click.option("--reason", required=True, help="Why the loop is done although its tests did not pass; is recorded.")
@_at_revision
@in_workspace
def complete_command(loop: str, reason: str, revision: int | None, project_root: Path, as_json: bool) -> None:
    """Close a loop as done, even if its tests do not pass. The reason is recorded. For people only."""
    context = context_of(project_root)
    say_loop(complete(context, resolve(context, loop), reason=reason, revision=revision), as_json=as_json, brief=True)


@command_with_examples("""
  loopwright loop mode LOOP interactive     a person chooses each action
  loopwright loop mode LOOP auto            the rules choose each action; a loop that waits for a choice continues
""")
@click.argument("loop")
@click.argument("mode", type=click.Choice(["auto", "interactive"]))
@_at_revision
@in_workspace
def mode_command(loop: str, mode: Mode, revision: int | None, project_root: Path, as_json: bool) -> None:
    """Set who chooses the next actions of a loop: the rules, or a person. The current action continues."""
    context = context_of(project_root)
    after = set_mode(context, resolve(context, loop), mode, revision=revision)
    say_standing(context, after, as_json=as_json)


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
@in_workspace
def choose_command(
    loop: str, action: str, revision: int | None, no_start: bool, detach: bool, project_root: Path, as_json: bool
) -> int:
    """Choose the next action of a loop in interactive mode. If no process drives the loop, drive it here."""
    context = context_of(project_root)
    loop_id = resolve(context, loop)
    after = choose(context, loop_id, Action(action), revision=revision)
    if no_start or has_worker(context, loop_id):
        say_loop(after, as_json=as_json, brief=True)
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
@in_workspace
def answer_command(
    loop: str, decision: str, text: str, revision: int | None, project_root: Path, as_json: bool
) -> None:
    """Answer a question of an agent. The agent gets the answer in its next turn. For people only."""
    context = context_of(project_root)
    loop_id = resolve(context, loop)
    after = answer(context, loop_id, decision, text, revision=revision)
    say_loop(after, as_json=as_json, brief=True)
    if not as_json and not is_held(after) and not has_worker(context, loop_id):
        say(f"  → loopwright loop resume {loop_id}")


@command_with_examples("""
  loopwright loop accept LOOP --reason "the test was wrong, the new one is right"
""")
@click.argument("loop")
@click.option("--reason", default="", help="Why you accept the work; is recorded. Default: the list of doubts.")
@_at_revision
@in_workspace
def accept_command(loop: str, reason: str, revision: int | None, project_root: Path, as_json: bool) -> None:
    """Accept work that nothing proves, and complete the loop. Your name is recorded. For people only."""
    context = context_of(project_root)
    accepted = accept(context, resolve(context, loop), reason=reason, revision=revision)
    say_standing(context, accepted, as_json=as_json)
