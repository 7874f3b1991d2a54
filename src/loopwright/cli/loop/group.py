"""`loopwright loop`: the table of subcommands."""

from __future__ import annotations

import click

from loopwright.cli.lazy import LazyCommands

COMMANDS = {
    "new": ("start:new_command", "Create a loop."),
    "task": ("task", "Manage its tasks: add, edit, done, remove, order, import, generate."),
    "start": ("start:start_command", "Run a loop until it is done, fails or is held."),
    "turn": ("turn", "Take an agent's turn by hand: show, hand in, give up."),
    "watch": ("look:watch_command", "Follow a loop live, from any terminal."),
    "choose": ("control:choose_command", "Choose the next action, in interactive mode."),
    "mode": ("control:mode_command", "Set who chooses the next action: the rules, or a person."),
    "check": ("look:check_command", "Find inconsistent loop files; --fix repairs them."),
    "list": ("listing", "List all loops, last changed first."),
    "show": ("look:show_command", "Show one loop: tasks, holds, tests, cost."),
    "diff": ("look:diff_command", "Show what the work of a loop or a build changed."),
    "pause": ("control:pause_command", "Pause a loop; its processes freeze within a second."),
    "resume": ("control:resume_command", "Lift the hold of a loop and continue."),
    "stop": ("control:stop_command", "End a loop for good and stop all its processes."),
    "retry": ("control:retry_command", "Make another attempt at a loop that failed or is done."),
    "answer": ("control:answer_command", "Answer a question of an agent."),
    "accept": ("control:accept_command", "Accept work that nothing proves, after you read its diff."),
    "complete": ("control:complete_command", "Close a loop as done, with a recorded reason."),
    "logs": ("look:logs_command", "Show the events of a loop, or the output of its agents."),
}
_EPILOG = """\b
Examples:
  loopwright loop new "faster imports" --description "import time below 100 ms, tests stay green"
  loopwright loop task add LOOP "python -X importtime -c 'import app'" --tool bash
  loopwright loop start LOOP --detach && loopwright loop watch LOOP
  loopwright loop list
  loopwright loop pause LOOP

LOOP is the id of a loop, or the last characters of the id.
"""


@click.group(cls=LazyCommands, table=COMMANDS, package="loopwright.cli.loop", epilog=_EPILOG)
def command() -> None:
    """Let agents work towards a goal in iterations that a person controls."""
