"""`loopwright specs show`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.options import context_of, in_workspace, put, say, say_json
from loopwright.verbs.workflow.specs import show_domain

_EPILOG = """\b
Examples:
  loopwright specs show greeting
  loopwright specs show shop/cart --json
"""


@click.command(epilog=_EPILOG)
@click.argument("domain")
@in_workspace
def command(domain: str, project_root: Path, as_json: bool) -> int:
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
