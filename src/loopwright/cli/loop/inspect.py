"""`loopwright loop show, check`: one loop, and whether its files are consistent."""

from __future__ import annotations

import click
import msgspec

from loopwright.cli.loop.output import echo_status
from loopwright.cli.options import command_with_examples, echo, echo_json, in_context
from loopwright.stages.context import Context
from loopwright.verbs.loop.check import check_loops
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
