"""`loopwright autopilot`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.loop.budgets import budget_from, flight_budget_options
from loopwright.cli.options import context_of, in_workspace, say
from loopwright.cli.run import stopping_on_signals
from loopwright.cli.workflow.output import say_view
from loopwright.verbs.workflow.autopilot import FlightPlan, autopilot

_EPILOG = """\b
Examples:
  loopwright autopilot faster-imports --agent claude
  loopwright autopilot faster-imports --agent claude --reviewer codex
  loopwright autopilot faster-imports --agent claude --usd 5 --wall 3600

What it may cost is for all stages together, and for all times that it is typed for this change; without options it is
what budget.* says. Which consents it may give itself is autopilot.may_approve; without "complete" a person accepts the
result.
"""


@click.command(epilog=_EPILOG)
@click.argument("slug")
@click.option("--agent", help="Who works; default: by agents.roles, else agents.default.")
@click.option("--reviewer", default="", help="Who reviews where the risk floor asks for it; default: by agents.roles.")
@click.option("--max-iterations", type=click.IntRange(1), default=10, show_default=True, help="Passes of the build.")
@flight_budget_options
@in_workspace
def command(
    slug: str, agent: str | None, reviewer: str, max_iterations: int, project_root: Path, as_json: bool,
    **limits: float | int | None,
) -> int:  # fmt: skip
    """Go through all stages with the consents that the policy allows; stop, with a reason, where a person is needed."""
    context = context_of(project_root)
    flight = FlightPlan(agent=agent or "", reviewer=reviewer, max_iterations=max_iterations, budget=budget_from(limits))
    with stopping_on_signals() as cancellation:
        view = autopilot(context, slug, flight, (lambda _: None) if as_json else say, cancellation)
    say_view(view, as_json=as_json)
    return 0
