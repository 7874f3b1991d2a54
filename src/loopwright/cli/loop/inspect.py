"""`loopwright loop show, check`: one loop, and what does not fit together in it."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from loopwright.cli.loop.output import say_standing
from loopwright.cli.options import context_of, in_workspace, say, say_json
from loopwright.verbs.loop.check import check_loops
from loopwright.verbs.loop.look import resolve, show_loop

_SHOW_EXAMPLES = """\b
Examples:
  loopwright loop show LOOP
  loopwright loop show LOOP --json | jq .skill_state.validate
"""


@click.command(epilog=_SHOW_EXAMPLES)
@click.argument("loop")
@in_workspace
def show_command(loop: str, project_root: Path, as_json: bool) -> int:
    """Show a loop: its worker, tasks, holds, tests, hypotheses and cost, and what to type next."""
    context = context_of(project_root)
    say_standing(context, show_loop(context, loop), as_json=as_json)
    return 0


_CHECK_EXAMPLES = """\b
Examples:
  loopwright loop check              all loops
  loopwright loop check LOOP --fix   rebuild what can be rebuilt; what is damaged stays beside it
"""


@click.command(epilog=_CHECK_EXAMPLES)
@click.argument("loop", required=False)
@click.option("--fix", is_flag=True, help="Rebuild what can be rebuilt.")
@in_workspace
def check_command(loop: str | None, fix: bool, project_root: Path, as_json: bool) -> int:
    """Look for what does not fit together in loops' files; exit 1 when something does not."""
    context = context_of(project_root)
    found = check_loops(context, resolve(context, loop) if loop else None, fix=fix)
    wrong = any(one.problems for one in found)
    if as_json:
        say_json({"ok": not wrong, "loops": [msgspec.to_builtins(one) for one in found]})
        return int(wrong)
    for one in found:
        say(f"{one.loop_id}: {'does not fit together' if one.problems else 'sound'}", bold=True)
        for text, color in (*((t, "red") for t in one.problems), *((t, "green") for t in one.mended)):
            say(f"  {text}", fg=color)
        for note in one.notes:
            say(f"  note: {note}")
    return int(wrong)
