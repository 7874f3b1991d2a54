"""`loopwright specs`: the requirements of archived changes, and whether the project still meets them."""

from __future__ import annotations

from collections import Counter

import click
import msgspec

from loopwright.cli.lazy import LazyCommands
from loopwright.cli.options import command_with_examples, echo, echo_json, in_context, put
from loopwright.cli.run import stopping_on_signals
from loopwright.errors import WorkflowRefused
from loopwright.stages.context import Context
from loopwright.verbs.workflow.status import Verified, list_domains, show_domain, verify_specs

_NO_SPECS = "no living specs yet; add a finished change to them with `loopwright archive SLUG`"
COMMANDS = {
    "list": ("specs:listing_command", "List all domains, and how many of their requirements have checks."),
    "show": ("specs:show_command", "Show the requirements of one domain, and what proves each."),
    "verify": ("specs:verify_command", "Run the checks of the specs on the current tree."),
}
_EXAMPLES = """\b
Examples:
  loopwright specs list
  loopwright specs show greeting
  loopwright specs verify
"""


@click.group(cls=LazyCommands, table=COMMANDS, package="loopwright.cli", epilog=_EXAMPLES)
def command() -> None:
    """List, show and verify the living specs: the requirements of all archived changes."""


@command_with_examples("""
  loopwright specs list
  loopwright specs list --json
""")
@in_context
def listing_command(context: Context, as_json: bool) -> None:
    """List the domains that have a living spec, and how many requirements each kind of proof covers."""
    domains = list_domains(context)
    if as_json:
        echo_json({"ok": True, "domains": [domain.summary() for domain in domains]})
        return
    if not domains:
        echo(_NO_SPECS)
    for domain in domains:
        echo(f"{domain.domain}: ", nl=False, bold=True)
        if domain.problem:
            echo(f"unreadable: {domain.problem}", fg="red")
            continue
        count = Counter(requirement.basis for requirement in domain.requirements)
        parts = [f"proven by checks: {count['checks']}"]
        parts += [f"signed by a person: {count['signed']}"] if count["signed"] else []
        parts += [f"not proven: {count['none']}"] if count["none"] else []
        echo(f"requirements: {len(domain.requirements)}; {', '.join(parts)}")


@command_with_examples("""
  loopwright specs show greeting
  loopwright specs show shop/cart --json
""")
@click.argument("domain")
@in_context
def show_command(context: Context, domain: str, as_json: bool) -> None:
    """Show the living spec of a domain: each requirement, the change that added it, and what proves it."""
    spec = show_domain(context, domain)
    if as_json:
        echo_json({"ok": True, **spec.document()})
        return
    echo(f"{spec.domain}  ", nl=False, bold=True)
    put(spec.path, dim=True)
    echo(spec.purpose)
    for requirement in spec.requirements:
        put(f"\n{requirement.name}", bold=True)
        put(f"  {requirement.text}")
        for scenario in requirement.scenarios:
            put(f"  · {scenario}")
        change = f" ({requirement.change_id})" if requirement.change_id else ""
        echo(f"  {requirement.basis_sentence()}{change}", dim=True)


_MARKS = {"holds": ("✓", "green"), "broken": ("✗", "red"), "unavailable": ("✗", "red")}


@command_with_examples("""
  loopwright specs verify                 every domain
  loopwright specs verify greeting
  loopwright specs verify --json

Exits with 1 if a requirement no longer holds, or if its check could not run.
""")
@click.argument("domain", required=False)
@in_context
def verify_command(context: Context, domain: str | None, as_json: bool) -> None:
    """Run the checks of the living specs on the current tree, and list each requirement that no longer holds."""
    with stopping_on_signals() as cancellation:
        verified = verify_specs(context, domain, cancellation)
    wrong = [requirement for requirement in verified if requirement.is_wrong]
    if as_json:
        echo_json({"ok": not wrong, "requirements": [msgspec.to_builtins(requirement) for requirement in verified]})
    else:
        for requirement in verified:
            mark, color = _MARKS.get(requirement.status, ("·", "yellow"))
            echo(f"{mark} {requirement.domain}: {requirement.requirement}  ", fg=color, nl=False)
            echo(requirement.sentence(), dim=True)
        if not verified:
            echo(_NO_SPECS)
    if wrong:
        broken = any(requirement.status == "broken" for requirement in wrong)
        raise WorkflowRefused(
            "spec_requirement_broken" if broken else "spec_check_unavailable",
            f"{len(wrong)} of {len(verified)} requirements no longer hold, or could not be checked",
            next_command=wrong[0].way_on(),
            blockers=tuple(_blocker(requirement) for requirement in wrong),
        )


def _blocker(verified: Verified) -> tuple[str, str, str]:
    message = f"{verified.requirement}: {verified.sentence()}"
    return f"spec_{verified.status}_{verified.domain}", message, verified.way_on()
