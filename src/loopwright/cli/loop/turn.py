"""`loopwright loop turn`."""

from __future__ import annotations

from typing import IO

import click

from loopwright.cli.language import message, translate
from loopwright.cli.options import command_with_examples, echo, echo_json, in_context, put
from loopwright.cli.run import stopping_on_signals
from loopwright.errors import WrongUsage
from loopwright.exit_codes import exit_code_of
from loopwright.kernel.cells import one_line
from loopwright.kernel.files import shown
from loopwright.stages.context import Context
from loopwright.verbs.loop.look import loop_named
from loopwright.verbs.loop.turn import ManualTurn, await_turn, give_up, hand_in, open_turn


@command_with_examples("""
  loopwright build greet --agent interactive --detach
  loopwright loop turn greet --wait              shows the folder, the request and the deadline
  loopwright loop turn greet --done              hands the turn in; then --wait again for the next turn
  loopwright loop turn greet --done --answer answer.json --report report.json
  loopwright loop turn greet --give-up "the API that this needs does not exist"

LOOP is the id of a loop, or the last characters of the id. SLUG is the workflow that the loop builds.
""")
@click.argument("loop", metavar="LOOP|SLUG")
@click.option("--wait", is_flag=True, help="Wait until a turn is open.")
@click.option("--done", is_flag=True, help="Hand the turn in: Loopwright reads your changes and runs the checks.")
@click.option("--give-up", "why", metavar="WHY", help="Give the turn up; the changes in its folder are discarded.")
@click.option(
    "--answer", type=click.File("rb"), metavar="FILE|-", help="With --done: your answer, as text or requested JSON."
)
@click.option("--report", type=click.File("rb"), metavar="FILE", help="With --done: a self-report on your work.")
@in_context
def command(
    context: Context,
    loop: str,
    wait: bool,
    done: bool,
    why: str | None,
    answer: IO[bytes] | None,
    report: IO[bytes] | None,
    as_json: bool,
) -> int:
    """Take a turn by hand, as the agent `interactive`: show the turn, hand it in, or give it up."""
    if done and why is not None:
        raise WrongUsage("--done and --give-up exclude each other", hint="use --done or --give-up, not both")
    if not done and (answer is not None or report is not None):
        raise WrongUsage("--answer and --report need --done", hint="add --done")
    loop_id = loop_named(context, loop)
    if done or why is not None:
        turn: ManualTurn | None
        if why is not None:
            turn = give_up(context, loop_id, why)
        else:
            answer_text = answer.read() if answer is not None else b""
            turn = hand_in(context, loop_id, answer_text, report.read() if report is not None else None)
        _echo_ended_turn(turn, "handed_in" if done else "given_up", as_json=as_json)
        return 0
    if wait:
        with stopping_on_signals() as cancellation:
            turn = await_turn(context, loop_id, cancellation)
        if turn is None:
            return exit_code_of("INTERRUPTED", cancellation.reason)
    else:
        turn = open_turn(context, loop_id)
    _echo_open_turn(turn, as_json=as_json)
    return 0


def _echo_ended_turn(turn: ManualTurn, state: str, *, as_json: bool) -> None:
    loop_id = turn.loop.loop_id
    next_command = f"loopwright loop turn {loop_id} --wait"
    if as_json:
        echo_json({"loop_id": loop_id, "state": state, "held": bool(turn.holds), "next": next_command})
        return
    if turn.holds:
        echo(message("recorded; the loop is held and continues when the hold is lifted"))
    elif state == "handed_in":
        echo(message("handed in; Loopwright reads your changes and runs the checks"))
    else:
        echo(message("given up; the turn counts as failed"))
    echo(f"  → {next_command}", bold=True)


def _echo_open_turn(turn: ManualTurn, *, as_json: bool) -> None:
    if as_json:
        echo_json(turn.document())
        return
    opened = turn.opened
    echo(f"{turn.loop.loop_id}: ", nl=False, bold=True)
    put(one_line(message("a turn is open for you, as {role}", role=opened.role)))
    for hold in turn.holds:
        echo(f"  {translate(hold)}", fg="yellow")
    rows = [
        *((message("task"), f"{task.id} {task.description}") for task in (turn.task,) if task is not None),
        (message("work in") if opened.may_write else message("read only"), shown(opened.folder)),
        (message("request"), shown(opened.prompt)),
        *((message("read first"), shown(path)) for path in (opened.context,) if path),
        *((message("JSON Schema of the answer"), shown(path)) for path in (opened.schema,) if path),
        *((message("check"), f"{check.id}: {check.command}") for check in turn.checks.shown),
        *((message("check"), message("{number} hidden", number=number)) for number in (turn.checks.hidden,) if number),
        (message("your self-report"), shown(opened.self_report)),
        (message("questions for a person"), shown(opened.decisions)),
        (message("open until"), turn.until),
        *((message("decided"), f"{asked.question} : {asked.answer}") for asked in turn.loop.decisions if asked.answer),
        *((message("kept from an earlier turn"), shown(path)) for path in turn.kept),
    ]
    for title, text in rows:
        put(f"  {title}: {one_line(text)}")
    put("")
    for line in turn.prompt.rstrip().splitlines():
        put(f"  │ {one_line(line)}")
    echo(f"  → {turn.done}", bold=True)
