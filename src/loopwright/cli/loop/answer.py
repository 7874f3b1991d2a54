"""`loopwright loop answer`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.loop.output import say_loop
from loopwright.cli.options import context_of, in_workspace, say
from loopwright.verbs.loop.answer import answer
from loopwright.verbs.loop.control import is_held
from loopwright.verbs.loop.look import has_worker, resolve

_EPILOG = """\b
Examples:
  loopwright loop show LOOP                      what is asked, and which decision waits
  loopwright loop answer LOOP D-1 "use SQLite"   then `loopwright loop resume LOOP` goes on
"""


@click.command(epilog=_EPILOG)
@click.argument("loop")
@click.argument("decision")
@click.argument("text")
@click.option("--revision", type=int, help="Refuse when the loop is not at this revision any more.")
@in_workspace
def command(loop: str, decision: str, text: str, revision: int | None, project_root: Path, as_json: bool) -> int:
    """Answer what an agent asked; it is told in its next turn, and nobody asks that again. For people only."""
    context = context_of(project_root)
    loop_id = resolve(context, loop)
    after = answer(context, loop_id, decision, text, revision=revision)
    say_loop(after, as_json=as_json, brief=True)
    if not as_json and not is_held(after) and not has_worker(context, loop_id):
        say(f"  → loopwright loop resume {loop_id}")
    return 0
