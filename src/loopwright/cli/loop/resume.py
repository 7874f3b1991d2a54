"""`loopwright loop resume`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.loop.output import budget_options, say_loop
from loopwright.cli.options import context_of, in_workspace
from loopwright.loop.model import Budget
from loopwright.verbs.loop.control import is_held, resume
from loopwright.verbs.loop.look import resolve

_HELD = 11
_EPILOG = """\b
Examples:
  loopwright loop resume LOOP
  loopwright loop resume LOOP --usd 20        the budget is 20 USD from now on
"""


@click.command(epilog=_EPILOG)
@click.argument("loop")
@click.option("--revision", type=int, help="Refuse when the loop is not at this revision any more.")
@budget_options
@in_workspace
def command(
    loop: str,
    revision: int | None,
    usd: float | None,
    tokens: int | None,
    wall: float | None,
    turns: int | None,
    project_root: Path,
    as_json: bool,
) -> int:
    """Lift the hold of a loop. Exit 11 when others hold it still."""
    context = context_of(project_root)
    wished = Budget(usd=usd, tokens=tokens, wall_s=wall, turns=turns)
    budget = wished if wished != Budget() else None
    after = resume(context, resolve(context, loop), budget=budget, revision=revision)
    say_loop(after, as_json=as_json, brief=True)
    return _HELD if is_held(after) else 0
