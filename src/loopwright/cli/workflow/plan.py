"""`loopwright plan`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from loopwright.cli.options import context_of, in_workspace, say
from loopwright.cli.run import stopping_on_signals
from loopwright.cli.workflow.output import say_view
from loopwright.errors import WrongUsage
from loopwright.kernel.files import shown
from loopwright.stages.context import Context
from loopwright.stages.names import slug_of
from loopwright.verbs.workflow.stages import PlanRequest, plan
from loopwright.workflow.model import PlanRound
from loopwright.workflow.package import PLAN_DOCUMENTS, SLICES

_EPILOG = """\b
Examples:
  loopwright plan faster-imports
  loopwright plan faster-imports --agent ""            you plan, whatever agent the settings name
  loopwright plan faster-imports --agent claude --deliberate
  loopwright plan faster-imports --agent claude --interactive      you say what each round should change
  loopwright plan faster-imports --direct SPEC.md      a spec of your own, in place of clarifying

Without an agent it writes skeletons that you fill in; typed again, it makes what follows from them. What you wrote no
agent writes over, unless you name who.
"""


@click.command(epilog=_EPILOG)
@click.argument("slug")
@click.option("--direct", type=click.Path(path_type=Path), metavar="SPEC.md", help="A spec that you stand for.")
@click.option(
    "--interactive", is_flag=True, help="Show what each round came to, and ask what another one should change."
)
@click.option("--deliberate", is_flag=True, help="Let an architect and a critic look at it, as in the profile full.")
@click.option("--max-iterations", type=click.IntRange(1), default=5, show_default=True, help="Rounds at most.")
@click.option("--agent", help="Who plans; default: by agents.roles, else agents.default, else you.")
@in_workspace
def command(
    slug: str, direct: Path | None, interactive: bool, deliberate: bool, max_iterations: int, agent: str | None,
    project_root: Path, as_json: bool,
) -> int:  # fmt: skip
    """Make slices, checks and a spec delta of a spec; each check is run on the base, where it must fail."""
    context = context_of(project_root)
    if interactive and as_json:
        raise WrongUsage(
            "--interactive asks at the terminal, which --json rules out",
            hint="leave one of them out",
        )
    ask = _asking(context, slug_of(slug)) if interactive else None
    request = PlanRequest(agent=agent, spec=direct, deliberate=deliberate, max_rounds=max_iterations, ask=ask)
    with stopping_on_signals() as cancellation:
        view = plan(context, slug, request, (lambda _: None) if as_json else say, cancellation)
    say_view(view, as_json=as_json)
    return 0


def _asking(context: Context, slug: str) -> Callable[[PlanRound], str | None]:
    """At the terminal: what the round came to, and what the next one should do otherwise."""
    paths = context.layout.workflow(slug)

    def ask(taken: PlanRound) -> str | None:
        said = "".join(
            f", {who}: {word}" for who, word in (("architect", taken.architect), ("critic", taken.critic)) if word
        )
        say(f"round {taken.number} is over{said}", bold=True)
        for name in (PLAN_DOCUMENTS["plan"], SLICES):
            say(f"  read {shown(paths.document(name))}")
        try:
            return click.prompt("What should another round change? (nothing: go on with this plan)\n> ", default="",
                                show_default=False, prompt_suffix="").strip() or None  # fmt: skip
        except click.Abort:  # nobody is there any more: the plan stays as it is
            say("")
            return None

    return ask
