"""`loopwright specs`: what archived changes promise, and whether it still holds."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from loopwright.cli.lazy import LazyCommands
from loopwright.cli.options import context_of, in_workspace, put, say, say_json
from loopwright.cli.run import stopping_on_signals
from loopwright.errors import WorkflowRefused
from loopwright.verbs.workflow.status import Verified, list_domains, show_domain, verify_specs

COMMANDS = {
    "list": ("specs:listing_command", "Every domain, and how much of it checks show."),
    "show": ("specs:show_command", "One domain: its requirements, and what shows each."),
    "verify": ("specs:verify_command", "Run the specs' checks on today's tree."),
}
_EXAMPLES = """\b
Examples:
  loopwright specs list
  loopwright specs show greeting
  loopwright specs verify
"""


@click.group(cls=LazyCommands, table=COMMANDS, package="loopwright.cli", epilog=_EXAMPLES)
def command() -> None:
    """The living specs: what archived changes promise, and whether it still holds."""


_LISTING_EXAMPLES = """\b
Examples:
  loopwright specs list
  loopwright specs list --json
"""


@click.command(epilog=_LISTING_EXAMPLES)
@in_workspace
def listing_command(project_root: Path, as_json: bool) -> int:
    """List the domains that have a living spec, with how many requirements are shown by what."""
    domains = list_domains(context_of(project_root))
    if as_json:
        say_json({"ok": True, "domains": [one.summary() for one in domains]})
        return 0
    if not domains:
        say("no living specs yet; `loopwright archive SLUG` makes them of a change that is done")
    for one in domains:
        say(f"{one.domain}: ", nl=False, bold=True)
        if one.problem:
            say(f"can't be read: {one.problem}", fg="red")
            continue
        count = {kind: sum(found.basis == kind for found in one.requirements) for kind in ("checks", "signed", "none")}
        parts = [f"{count['checks']} shown by checks"]
        parts += [f"{count['signed']} signed by a person"] if count["signed"] else []
        parts += [f"{count['none']} shown by nothing"] if count["none"] else []
        say(f"{len(one.requirements)} requirements, {', '.join(parts)}")
    return 0


_SHOW_EXAMPLES = """\b
Examples:
  loopwright specs show greeting
  loopwright specs show shop/cart --json
"""


@click.command(epilog=_SHOW_EXAMPLES)
@click.argument("domain")
@in_workspace
def show_command(domain: str, project_root: Path, as_json: bool) -> int:
    """Show a domain's living spec: each requirement, the change that brought it, and what shows it."""
    found = show_domain(context_of(project_root), domain)
    if as_json:
        say_json({"ok": True, **found.document()})
        return 0
    say(f"{found.domain}  ", nl=False, bold=True)
    put(found.path, dim=True)
    say(found.purpose)
    for one in found.requirements:
        put(f"\n{one.name}", bold=True)
        put(f"  {one.text}")
        for scenario in one.scenarios:
            put(f"  · {scenario}")
        say(f"  {one.basis_sentence()}" + (f" ({one.change_id})" if one.change_id else ""), dim=True)
    return 0


_VERIFY_EXAMPLES = """\b
Examples:
  loopwright specs verify                 every domain
  loopwright specs verify greeting
  loopwright specs verify --json

Exit 1 when a requirement does not hold any more, or its check could not be run.
"""
_MARKS = {"holds": ("✓", "green"), "broken": ("✗", "red"), "unavailable": ("✗", "red")}


@click.command(epilog=_VERIFY_EXAMPLES)
@click.argument("domain", required=False)
@in_workspace
def verify_command(domain: str | None, project_root: Path, as_json: bool) -> int:
    """Run the living specs' checks on today's tree, and name each requirement that does not hold any more."""
    with stopping_on_signals() as cancellation:
        found = verify_specs(context_of(project_root), domain, cancellation)
    wrong = [one for one in found if one.is_wrong]
    if as_json:
        say_json({"ok": not wrong, "requirements": [msgspec.to_builtins(one) for one in found]})
    else:
        for one in found:
            mark, color = _MARKS.get(one.status, ("·", "yellow"))
            say(f"{mark} {one.domain}: {one.requirement}  ", fg=color, nl=False)
            say(one.sentence(), dim=True)
        if not found:
            say("no living specs yet; `loopwright archive SLUG` makes them of a change that is done")
    if wrong:
        raise _refusal(found, wrong)
    return 0


def _refusal(found: list[Verified], wrong: list[Verified]) -> WorkflowRefused:
    broken = any(one.status == "broken" for one in wrong)
    return WorkflowRefused(
        "spec_requirement_broken" if broken else "spec_check_unavailable",
        f"{len(wrong)} of {len(found)} requirements do not hold any more, or can't be shown",
        next_command=wrong[0].way_on(),
        blockers=tuple(
            (f"spec_{one.status}_{one.domain}", f"{one.requirement}: {one.sentence()}", one.way_on()) for one in wrong
        ),
    )
