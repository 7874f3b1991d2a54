"""`loopwright clarify, answer, plan, review, archive`: commands for the stages of a workflow."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from loopwright.cli.options import command_with_examples, echo, echo_json, in_context
from loopwright.cli.run import stopping_on_signals
from loopwright.cli.workflow.output import echo_view
from loopwright.errors import WorkflowRefused, WrongUsage
from loopwright.kernel.files import shown
from loopwright.stages.context import Context
from loopwright.stages.names import slug_of
from loopwright.verbs.workflow.stages import (
    NOT_ACCEPTED,
    ArchiveReport,
    ArchiveRequest,
    ClarifyReport,
    ClarifyRequest,
    PlanRequest,
    ReviewRequest,
    answer,
    archive,
    clarify,
    plan,
    review,
)
from loopwright.workflow.model import PlanRound
from loopwright.workflow.package import PLAN_DOCUMENTS, SLICES


@command_with_examples("""
  loopwright clarify faster-imports --idea "import time below 100 ms"
  loopwright clarify faster-imports --interactive      asks in this terminal until no question is open
  cat idea.txt | loopwright clarify faster-imports --idea -
""")
@click.argument("slug")
@click.option("--idea", help="What you want; - reads it from standard input.")
@click.option("--profile", help="standard or deep: how much ambiguity the spec may contain.")
@click.option("--interactive", is_flag=True, help="Ask in this terminal, one question at a time.")
@click.option("--agent", help="Agent that asks; default: agents.roles, then agents.default, then built-in questions.")
@in_context
def clarify_command(
    context: Context,
    slug: str,
    idea: str | None,
    profile: str | None,
    interactive: bool,
    agent: str | None,
    as_json: bool,
) -> None:
    """Turn an idea into a spec that is clear enough to plan. Each round asks you one question."""
    text = sys.stdin.read() if idea == "-" else idea or ""
    tell: Callable[[str], None] = (lambda _: None) if as_json else echo
    with stopping_on_signals() as cancellation:
        report = clarify(context, slug, ClarifyRequest(idea=text, profile=profile, agent=agent), tell, cancellation)
        while interactive and not as_json and report.item is not None:
            text = click.prompt(click.style(f"{report.item} {report.question}", bold=True), prompt_suffix="\n> ")
            try:
                answer(context, report.view.workflow.slug, report.item, text)
            except WorkflowRefused as refusal:
                if refusal.error != NOT_ACCEPTED:
                    raise
                echo(refusal.message, fg="red")
                continue
            report = clarify(context, slug, ClarifyRequest(agent=agent), tell, cancellation)
    _echo(report, as_json=as_json)


def _echo(report: ClarifyReport, *, as_json: bool) -> None:
    if as_json:
        slug = report.view.workflow.slug
        echo_json({"ok": True, "slug": slug, "item": report.item, "question": report.question})
        return
    if report.item is not None:
        echo(f"{report.item}: {report.question}", bold=True)
    echo_view(report.view, as_json=False)


@command_with_examples("""
  loopwright answer faster-imports A-1 "below 100 ms on the CI machine"
  loopwright answer faster-imports D-1 "yes, drop Python 3.10"
""")
@click.argument("slug")
@click.argument("item", metavar="A-1|D-1")
@click.argument("text")
@in_context
def answer_command(context: Context, slug: str, item: str, text: str, as_json: bool) -> None:
    """Answer an open question of the spec, or a question of an agent. For people only."""
    echo_view(answer(context, slug, item, text), as_json=as_json)


@command_with_examples("""
  loopwright review faster-imports                       the risk decides whether a reviewer is needed
  loopwright review faster-imports --reviewer codex      review by an agent that did not build the change
  loopwright review faster-imports --verdict request-changes --target plan --rationale "VS-2 misses Windows"
""")
@click.argument("slug", metavar="SLUG|execution-record.md")
@click.option("--reviewer", default="", help="Agent that reviews, never the agent that built; default: agents.roles.")
@click.option("--verdict", type=click.Choice(["approve", "request-changes"]), help="Your own verdict.")
@click.option("--target", type=click.Choice(["build", "plan", "clarify"]), help="Stage to go back to.")
@click.option("--rationale", default="", help="Reason; is recorded.")
@in_context
def review_command(context: Context, slug: str, as_json: bool, **options: Any) -> None:
    """Review the built change: evidence, scope and protected files, then reviewers if the risk requires them."""
    with stopping_on_signals() as cancellation:
        view = review(context, slug, ReviewRequest(**options), (lambda _: None) if as_json else echo, cancellation)
    echo_view(view, as_json=as_json)


@command_with_examples("""
  loopwright archive faster-imports
  loopwright archive faster-imports --before chg-imports      both change a requirement: this change goes first
  loopwright archive faster-imports --fitted "kept the limit that chg-limits added"

Afterwards, check at any time with `loopwright specs verify` that the specs still hold.
""")
@click.argument("slug")
@click.option("--before", multiple=True, metavar="CHANGE", help="Archive before this active change; can be repeated.")
@click.option("--fitted", metavar="WHY", help="Confirm that the delta fits the current specs, and why; is recorded.")
@in_context
def archive_command(context: Context, slug: str, as_json: bool, **options: Any) -> None:
    """Merge a finished change into the living specs, all of it or nothing. For people only."""
    report = archive(context, slug, ArchiveRequest(**options))
    if as_json:
        echo_json(_document(report))
        return
    echo(f"{report.workflow.slug}: ", nl=False, bold=True)
    echo("already archived; nothing changed" if report.already else "archived", fg="green")
    for path in report.files:
        echo(f"  {path}")
    echo(f"  folder of the change: {report.folder}")
    echo("  → loopwright specs verify", fg="green")


def _document(report: ArchiveReport) -> dict[str, object]:
    return {
        "ok": True,
        "slug": report.workflow.slug,
        "change_id": report.workflow.change_id,
        "already_archived": report.already,
        "files": list(report.files),
        "folder": report.folder,
        "recommended_next_action": "loopwright specs verify",
    }


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
def plan_command(
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
