"""`loopwright clarify`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click

from loopwright.cli.options import context_of, in_workspace, say, say_json
from loopwright.cli.run import stopping_on_signals
from loopwright.cli.workflow.output import say_workflow
from loopwright.errors import WrongUsage
from loopwright.stages.clarifying import Clarified, begin, take_round
from loopwright.stages.context import Context
from loopwright.stages.names import slug_of
from loopwright.stages.stores import workflows_of
from loopwright.verbs.workflow.answer import answer

_EPILOG = """\b
Examples:
  loopwright clarify faster-imports --idea "import time below 100 ms"
  loopwright clarify faster-imports --interactive      asks in this terminal until nothing is open
  cat idea.txt | loopwright clarify faster-imports --idea -
"""


@click.command(epilog=_EPILOG)
@click.argument("slug")
@click.option("--idea", help="What is wanted; - reads it from standard input.")
@click.option("--profile", help="standard or deep: how much ambiguity may be left.")
@click.option("--interactive", is_flag=True, help="Ask here, one question after the other.")
@click.option("--agent", help="Who asks; default: by agents.roles, else agents.default, else the tool's own questions.")
@in_workspace
def command(
    slug: str, idea: str | None, profile: str | None, interactive: bool, agent: str | None, project_root: Path,
    as_json: bool,
) -> int:  # fmt: skip
    """Make an idea clear enough to plan: one question a round, answered by a person."""
    context = context_of(project_root)
    text = sys.stdin.read() if idea == "-" else idea or ""
    if not workflows_of(context).exists(slug_of(slug)) and not text.strip():
        raise WrongUsage("a new workflow needs an idea", hint=f'loopwright clarify {slug_of(slug)} --idea "…"')
    who = context.settings.values.agents.begun_by("clarifier") if agent is None else agent
    if who:
        context.require_agents()  # before anything is written
    workflow = begin(context, slug, text, profile)
    tell: Callable[[str], None] = (lambda _: None) if as_json else say
    with stopping_on_signals() as cancellation:
        found = take_round(context, workflow.slug, who or None, cancellation, tell=tell)
        while interactive and not as_json and found.item is not None:
            said = click.prompt(click.style(f"{found.item} {found.question}", bold=True), prompt_suffix="\n> ")
            answer(context, workflow.slug, found.item, said)
            found = take_round(context, workflow.slug, who or None, cancellation, tell=tell)
    _say(context, found, as_json=as_json)
    return 0


def _say(context: Context, found: Clarified, *, as_json: bool) -> None:
    slug = found.workflow.slug
    if as_json:
        say_json({"ok": True, "slug": slug, "item": found.item, "question": found.question})
        return
    if found.item is not None:
        say(f"{found.item}: {found.question}", bold=True)
    say_workflow(context, slug, as_json=False)
