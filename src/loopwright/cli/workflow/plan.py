"""`loopwright plan`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.options import context_of, in_workspace, say
from loopwright.cli.run import stopping_on_signals
from loopwright.cli.workflow.output import say_workflow
from loopwright.verbs.workflow.names import slug_of
from loopwright.verbs.workflow.plan import PlanWish, plan, take_direct

_EPILOG = """\b
Examples:
  loopwright plan faster-imports
  loopwright plan faster-imports --agent claude --deliberate
  loopwright plan faster-imports --direct SPEC.md      a spec of your own, in place of clarifying

Without an agent it writes skeletons that you fill in; typed again, it makes what follows from them.
"""


@click.command(epilog=_EPILOG)
@click.argument("slug")
@click.option("--direct", type=click.Path(path_type=Path), metavar="SPEC.md", help="A spec that you stand for.")
@click.option("--interactive", is_flag=True, help="Stop after each round and ask whether to go on.")
@click.option("--deliberate", is_flag=True, help="Let an architect and a critic look at it, as in the profile full.")
@click.option("--max-iterations", type=click.IntRange(1), default=5, show_default=True, help="Rounds at most.")
@click.option("--agent", help="Who plans; default: agents.default, else you.")
@in_workspace
def command(
    slug: str, direct: Path | None, interactive: bool, deliberate: bool, max_iterations: int, agent: str | None,
    project_root: Path, as_json: bool,
) -> int:  # fmt: skip
    """Make slices, checks and a spec delta of a spec; each check is run on the base, where it must fail."""
    context = context_of(project_root)
    who = context.settings.values.agents.default if agent is None else agent
    if direct is not None:
        take_direct(context, slug, direct)
    rounds = 1 if interactive else max_iterations
    wish = PlanWish(agent=who or None, deliberate=deliberate, max_rounds=rounds)
    with stopping_on_signals() as cancellation:
        plan(context, slug, wish, (lambda _: None) if as_json else say, cancellation)
    say_workflow(context, slug_of(slug), as_json=as_json)
    return 0
