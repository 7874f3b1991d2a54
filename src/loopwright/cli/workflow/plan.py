"""`loopwright plan`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from loopwright.cli.options import command_with_examples, echo, in_context
from loopwright.cli.run import stopping_on_signals
from loopwright.cli.workflow.output import echo_view
from loopwright.errors import WrongUsage
from loopwright.kernel.files import shown
from loopwright.stages.context import Context
from loopwright.stages.names import slug_of
from loopwright.verbs.workflow.stages import PlanRequest, plan
from loopwright.workflow.model import PlanRound
from loopwright.workflow.package import PLAN_DOCUMENTS, SLICES


@command_with_examples("""
  loopwright plan faster-imports
  loopwright plan faster-imports --agent ""            you plan, even if the settings name an agent
  loopwright plan faster-imports --agent claude --deliberate
  loopwright plan faster-imports --agent claude --interactive      you say what each round should change
  loopwright plan faster-imports --direct SPEC.md      use your own spec and skip clarify

Without an agent, the command writes skeletons for you to fill in. Repeat it to derive the rest of the plan. Agents do
not overwrite a plan that you started, unless you name the agent with --agent.
""")
@click.argument("slug")
@click.option(
    "--direct", type=click.Path(path_type=Path), metavar="SPEC.md", help="Use your own spec instead of clarify."
)
@click.option(
    "--interactive", is_flag=True, help="Show the result of each round, and ask what the next round should change."
)
@click.option("--deliberate", is_flag=True, help="Let an architect and a critic read the plan, as in the profile full.")
@click.option("--max-iterations", type=click.IntRange(1), default=5, show_default=True, help="Limit of rounds.")
@click.option("--agent", help="Agent that plans; default: agents.roles, then agents.default, then you.")
@in_context
def command(
    context: Context,
    slug: str,
    direct: Path | None,
    interactive: bool,
    deliberate: bool,
    max_iterations: int,
    agent: str | None,
    as_json: bool,
) -> None:
    """Turn a spec into slices, checks and a spec delta. Each check runs on the base, where it must fail."""
    if interactive and as_json:
        raise WrongUsage(
            "--interactive asks questions in the terminal, which --json excludes",
            hint="use --interactive or --json, not both",
        )
    ask = _terminal_question(context, slug_of(slug)) if interactive else None
    request = PlanRequest(agent=agent, spec=direct, deliberate=deliberate, max_rounds=max_iterations, ask=ask)
    with stopping_on_signals() as cancellation:
        view = plan(context, slug, request, (lambda _: None) if as_json else echo, cancellation)
    echo_view(view, as_json=as_json)


def _terminal_question(context: Context, slug: str) -> Callable[[PlanRound], str | None]:
    """Shows the result of a round in the terminal, and asks what the next round should change."""
    paths = context.layout.workflow(slug)

    def ask(finished: PlanRound) -> str | None:
        verdicts = (("architect", finished.architect), ("critic", finished.critic))
        listed = "".join(f", {role}: {verdict}" for role, verdict in verdicts if verdict)
        echo(f"round {finished.number} finished{listed}", bold=True)
        for name in (PLAN_DOCUMENTS["plan"], SLICES):
            echo(f"  read {shown(paths.document(name))}")
        try:
            return click.prompt("What should another round change? (leave empty to keep this plan)\n> ", default="",
                                show_default=False, prompt_suffix="").strip() or None  # fmt: skip
        except click.Abort:  # the terminal was closed: the plan stays as it is
            echo("")
            return None

    return ask
