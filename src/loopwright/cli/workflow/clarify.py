"""`loopwright clarify`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click

from loopwright.cli.options import context_of, in_workspace, say, say_json
from loopwright.cli.run import stopping_on_signals
from loopwright.cli.workflow.output import say_view
from loopwright.verbs.workflow.clarify import ClarifyReport, ClarifyRequest, answer, clarify

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
    tell: Callable[[str], None] = (lambda _: None) if as_json else say
    with stopping_on_signals() as cancellation:
        report = clarify(context, slug, ClarifyRequest(idea=text, profile=profile, agent=agent), tell, cancellation)
        while interactive and not as_json and report.item is not None:
            said = click.prompt(click.style(f"{report.item} {report.question}", bold=True), prompt_suffix="\n> ")
            answer(context, report.view.workflow.slug, report.item, said)
            report = clarify(context, slug, ClarifyRequest(agent=agent), tell, cancellation)
    _say(report, as_json=as_json)
    return 0


def _say(report: ClarifyReport, *, as_json: bool) -> None:
    if as_json:
        slug = report.view.workflow.slug
        say_json({"ok": True, "slug": slug, "item": report.item, "question": report.question})
        return
    if report.item is not None:
        say(f"{report.item}: {report.question}", bold=True)
    say_view(report.view, as_json=False)
