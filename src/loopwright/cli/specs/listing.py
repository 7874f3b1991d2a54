"""`loopwright specs list`."""

from __future__ import annotations

from pathlib import Path

import click

from loopwright.cli.options import context_of, in_workspace, say, say_json
from loopwright.verbs.workflow.specs import list_domains

_EPILOG = """\b
Examples:
  loopwright specs list
  loopwright specs list --json
"""


@click.command(epilog=_EPILOG)
@in_workspace
def command(project_root: Path, as_json: bool) -> int:
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
