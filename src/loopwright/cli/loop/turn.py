"""`loopwright loop turn`."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import click

from loopwright.cli.language import told, words
from loopwright.cli.options import context_of, in_workspace, put, say, say_json
from loopwright.cli.run import stopping_on_signals
from loopwright.errors import WrongUsage
from loopwright.kernel.cells import one_line
from loopwright.kernel.files import shown
from loopwright.verbs.loop.look import loop_named
from loopwright.verbs.loop.turn import ManualTurn, await_turn, give_up, hand_in, open_turn

_EPILOG = """\b
Examples:
  loopwright build greet --agent interactive --detach
  loopwright loop turn greet --wait              where to work, what is asked, until when
  loopwright loop turn greet --done              hand it in; then again --wait, until no turn is open
  loopwright loop turn greet --done --answer answer.json --report report.json
  loopwright loop turn greet --give-up "the API that it needs is not there"

LOOP is an id, or the end of one, or the name of the workflow that it builds.
"""


@click.command(epilog=_EPILOG)
@click.argument("loop", metavar="LOOP|SLUG")
@click.option("--wait", is_flag=True, help="Wait until one is open.")
@click.option("--done", is_flag=True, help="Hand it in: the tool looks at what changed and runs the checks.")
@click.option("--give-up", "why", metavar="WHY", help="It will not be done; what is in its folder is thrown away.")
@click.option(
    "--answer", type=click.File("rb"), metavar="FILE|-", help="With --done: what you say, or the JSON wanted."
)
@click.option("--report", type=click.File("rb"), metavar="FILE", help="With --done: what you think of your own work.")
@in_workspace
def command(
    loop: str, wait: bool, done: bool, why: str | None, answer: IO[bytes] | None,
    report: IO[bytes] | None, project_root: Path, as_json: bool,
) -> int:  # fmt: skip
    """Show the turn that you take by hand, as the agent `interactive`; hand it in, or give it up."""
    if done and why is not None:
        raise WrongUsage("a turn is handed in or given up, not both", hint="leave --done or --give-up out")
    if not done and (answer is not None or report is not None):
        raise WrongUsage("--answer and --report belong to --done", hint="add --done")
    context = context_of(project_root)
    loop_id = loop_named(context, loop)
    if done or why is not None:
        found: ManualTurn | None
        if why is not None:
            found = give_up(context, loop_id, why)
        else:
            said = answer.read() if answer is not None else b""
            found = hand_in(context, loop_id, said, report.read() if report is not None else None)
        _say_ended(found, "handed_in" if done else "given_up", as_json=as_json)
        return 0
    if wait:
        with stopping_on_signals() as cancellation:
            found = await_turn(context, loop_id, cancellation)
        if found is None:
            return 130
    else:
        found = open_turn(context, loop_id)
    _say_open(found, as_json=as_json)
    return 0


def _say_ended(found: ManualTurn, state: str, *, as_json: bool) -> None:
    name = found.loop.loop_id
    following = f"loopwright loop turn {name} --wait"
    if as_json:
        say_json({"loop_id": name, "state": state, "held": bool(found.holds), "next": following})
        return
    if found.holds:
        say(words("noted; the loop is held, and takes it up when that is lifted"))
    elif state == "handed_in":
        say(words("handed in; the tool looks at what changed and runs the checks"))
    else:
        say(words("given up; it counts as a failed try"))
    say(f"  → {following}", bold=True)


def _say_open(found: ManualTurn, *, as_json: bool) -> None:
    if as_json:
        say_json(found.document())
        return
    opened = found.opened
    say(f"{found.loop.loop_id}: ", nl=False, bold=True)
    put(one_line(words("a turn is open for you, as {role}", role=opened.role)))
    for hold in found.holds:
        say(f"  {told(hold)}", fg="yellow")
    rows = [
        *((words("task"), f"{task.id} {task.description}") for task in (found.task,) if task is not None),
        (words("work in") if opened.may_write else words("look into"), shown(opened.folder)),
        (words("what is asked"), shown(opened.prompt)),
        *((words("read first"), shown(path)) for path in (opened.context,) if path),
        *((words("JSON Schema of the answer"), shown(path)) for path in (opened.schema,) if path),
        *((words("check"), f"{check.id}: {check.command}") for check in found.checks.shown),
        *((words("check"), words("{number} hidden", number=number)) for number in (found.checks.hidden,) if number),
        (words("your self-report"), shown(opened.self_report)),
        (words("questions for a person"), shown(opened.decisions)),
        (words("open until"), found.until),
        *((words("decided"), f"{one.question} : {one.answer}") for one in found.loop.decisions if one.answer),
        *((words("kept of an earlier turn"), shown(path)) for path in found.kept),
    ]
    for title, text in rows:
        put(f"  {title}: {one_line(text)}")
    put("")
    for line in found.prompt.rstrip().splitlines():
        put(f"  │ {one_line(line)}")
    say(f"  → {found.done}", bold=True)
