"""`loopwright loop`: the subcommands by name."""

from __future__ import annotations

import click

from loopwright.cli.lazy import LazyCommands

COMMANDS = {
    "new": ("start:new_command", "Make a loop."),
    "task": ("task", "Its tasks: add, edit, done, remove, order, import, generate."),
    "start": ("start:start_command", "Drive it until it is done, fails or is held."),
    "turn": ("turn", "The turn that you take by hand: see it, hand it in, give it up."),
    "watch": ("watching", "Follow it live, from any terminal."),
    "choose": ("control:choose_command", "Say what it does next, in interactive mode."),
    "mode": ("control:mode_command", "Who chooses what is next: the rules, or a person."),
    "check": ("inspect:check_command", "Look for what does not fit together; --fix mends it."),
    "list": ("listing", "All loops, the newest change first."),
    "show": ("inspect:show_command", "One loop: tasks, holds, tests, cost."),
    "pause": ("control:pause_command", "Hold it; what it runs is frozen within a second."),
    "resume": ("control:resume_command", "Lift the hold."),
    "stop": ("control:stop_command", "End it for good, and every process of it."),
    "retry": ("control:retry_command", "Another attempt at one that failed or is done."),
    "answer": ("control:answer_command", "Decide what an agent asked; it is told in its next turn."),
    "accept": ("control:accept_command", "Accept work that nothing proves, after a look at its diff."),
    "complete": ("control:complete_command", "Close it as done, with a reason that stays on record."),
    "logs": ("logs", "What happened to it, event by event."),
}
_EPILOG = """\b
Examples:
  loopwright loop new "faster imports" --description "import time below 100 ms, tests stay green"
  loopwright loop task add LOOP "measure what is slow" --tool bash
  loopwright loop start LOOP --detach && loopwright loop watch LOOP
  loopwright loop list
  loopwright loop pause LOOP

LOOP is an id, or the end of one.
"""


@click.group(cls=LazyCommands, table=COMMANDS, package="loopwright.cli.loop", epilog=_EPILOG)
def command() -> None:
    """Work towards a goal in iterations, under a person's control."""
