"""`loopwright loop show, check, watch, logs`: a person looks at a loop."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click
import msgspec

from loopwright.cli.loop.options import in_loop
from loopwright.cli.loop.output import echo_status, exit_code, signal_code
from loopwright.cli.loop.reporting import LoopReporter, is_screen, sentences
from loopwright.cli.loop.screen.live import LiveView
from loopwright.cli.options import command_with_examples, echo, echo_json, echo_json_line, in_context, put
from loopwright.cli.run import stopping_on_signals
from loopwright.kernel.process import Cancellation
from loopwright.loop.log import Line
from loopwright.loop.model import Loop
from loopwright.loop.projection import document_of
from loopwright.loop.sentences import sentence
from loopwright.stages.context import Context
from loopwright.verbs.loop.agent_logs import Printed
from loopwright.verbs.loop.check import check_loops
from loopwright.verbs.loop.diff import diff_of
from loopwright.verbs.loop.follow import LoopFollower, agent_output, follow, history
from loopwright.verbs.loop.look import resolve, show_loop


@command_with_examples("""
  loopwright loop show LOOP
  loopwright loop show LOOP --json | jq .skill_state.validate
""")
@click.argument("loop")
@in_context
def show_command(context: Context, loop: str, as_json: bool) -> None:
    """Show a loop: worker, tasks, holds, tests, hypotheses, cost, and the next command."""
    echo_status(context, show_loop(context, loop), as_json=as_json)


_COLORS = {"+": "green", "-": "red", "@": "cyan"}


@command_with_examples("""
  loopwright loop diff LOOP
  loopwright loop diff faster-imports                        the work of this build
  loopwright loop diff faster-imports tests/test_imports.py  one test, with its old and its new version
""")
@click.argument("loop", metavar="LOOP|SLUG")
@click.argument("paths", nargs=-1, metavar="[FILE|FOLDER]...")
@in_context
def diff_command(context: Context, loop: str, paths: tuple[str, ...], as_json: bool) -> None:
    """Show what the work of a loop changed: its old and its new lines, as a patch. A build is a loop, too."""
    patch = diff_of(context, loop, paths)
    text = patch.decode("utf-8", "replace")
    if as_json:
        echo_json({"patch": text})
    elif sys.stdout.isatty():
        for line in text.splitlines():
            put(line, fg=_COLORS.get(line[:1]))
    else:
        click.echo(patch, nl=False)


@command_with_examples("""
  loopwright loop check              all loops
  loopwright loop check LOOP --fix   rebuild what can be rebuilt; keep a copy of each damaged file
""")
@click.argument("loop", required=False)
@click.option("--fix", is_flag=True, help="Rebuild the files that can be rebuilt.")
@in_context
def check_command(context: Context, loop: str | None, fix: bool, as_json: bool) -> int:
    """Check that the files of loops are consistent; exit 1 if a problem remains."""
    checked = check_loops(context, resolve(context, loop) if loop else None, fix=fix)
    has_problems = any(check.problems for check in checked)
    if as_json:
        echo_json({"ok": not has_problems, "loops": [msgspec.to_builtins(check) for check in checked]})
        return int(has_problems)
    for check in checked:
        echo(f"{check.loop_id}: {'inconsistent' if check.problems else 'no problems'}", bold=True)
        for text, color in (*((t, "red") for t in check.problems), *((t, "green") for t in check.repairs)):
            echo(f"  {text}", fg=color)
        for note in check.notes:
            echo(f"  note: {note}")
    return int(has_problems)


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
def watch_command(context: Context, loop_id: str, no_follow: bool, as_json: bool) -> int:
    """Follow a loop from any terminal until it ends: tasks, actions, log, tests, holds, cost.

    Exit codes: 0 completed, or you quit with q; 12 failed; 130 and 143 interrupted. With --no-follow also: 0 running,
    or paused by a person; 14 nothing proves the work; 11 held for another reason.
    """
    with stopping_on_signals() as cancellation:
        if no_follow:
            after = LoopFollower(context, loop_id).look().loop
        elif as_json or not is_screen():
            after = _follow_lines(context, loop_id, cancellation, as_json=as_json)
        else:
            after = _follow_on_screen(context, loop_id, cancellation)
        reason = cancellation.reason
    if as_json:
        echo_json_line({"type": "loop", **document_of(after)})
    elif no_follow or is_screen():
        echo_status(context, after)
    return exit_code(after, reason) if no_follow or after.is_over else signal_code(reason)


def _follow_lines(context: Context, loop_id: str, cancellation: Cancellation, *, as_json: bool) -> Loop:
    reporter = LoopReporter(as_json=as_json)
    for seen in follow(context, loop_id, cancellation, whole_logs=as_json):
        reporter(seen)
    return seen.loop


def _follow_on_screen(context: Context, loop_id: str, cancellation: Cancellation) -> Loop:
    seen = LoopFollower(context, loop_id).look()
    if seen.loop.is_over:
        return seen.loop
    with LiveView(context, loop_id, cancellation) as view:
        while not (view.seen.loop.is_over or view.has_left or cancellation.reason):
            view.step()
    return view.seen.loop


@command_with_examples("""
  loopwright loop logs LOOP
  loopwright loop logs LOOP --since 40 --follow     events after revision 40, then new events live
  loopwright loop logs LOOP --agent                 output of its agents
  loopwright loop logs LOOP --json | tail -1
""")
@click.argument("loop")
@click.option("--follow", "following", is_flag=True, help="Print new events until the loop ends; Ctrl-C quits.")
@click.option("--since", type=click.IntRange(0), default=0, metavar="REVISION", help="Only events after this revision.")
@click.option("--agent", "of_agents", is_flag=True, help="Show the output of agents and tests, not the events.")
@in_loop
def logs_command(context: Context, loop_id: str, following: bool, since: int, of_agents: bool, as_json: bool) -> int:
    """Show the events of a loop: time, actor, event. With --agent: the output of its agents and tests."""
    with stopping_on_signals() as cancellation:
        if of_agents:
            last_name = ""
            for printed in agent_output(context, loop_id, cancellation if following else None):
                last_name = _echo_printed(printed, last_name, as_json=as_json)
        elif following:
            for seen in follow(context, loop_id, cancellation, since=since):
                _echo_lines(seen.lines, as_json=as_json)
        else:
            _echo_lines(history(context, loop_id, since=since), as_json=as_json)
    return signal_code(cancellation.reason)


def _echo_lines(lines: Iterable[Line], *, as_json: bool) -> None:
    for line in lines:
        if as_json:
            echo_json_line({**msgspec.to_builtins(line), "text": [sentence(event) for event in line.events]})
            continue
        for text_line in sentences(line):
            echo(f"{line.revision:>5}  {line.at[:10]} {text_line}")
    sys.stdout.flush()


def _echo_printed(printed: Printed, last_name: str, *, as_json: bool) -> str:
    """Print the lines under the name of their log, unless it is the last name; return the name."""
    if printed.name != last_name and not as_json:
        echo(f"==> {printed.name} <==", bold=True)
    for text in printed.lines:
        if as_json:
            echo_json_line({"type": "log", "log": printed.name, "text": text})
        else:
            echo(text)
    sys.stdout.flush()
    return printed.name
